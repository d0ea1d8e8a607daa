//! The one table of finding codes. `docs/findings.md` has a section for each; a test holds both together.

use serde::Serialize;

/// Severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, strum::IntoStaticStr)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum Severity {
    /// Some input is missing from the result, or a tool cannot be called. `check` exits 1.
    Error,
    /// The result is usable but not as good as it should be.
    Warning,
    /// Something was repaired, derived or extracted; worth knowing.
    Info,
}

impl Severity {
    /// The word used in reports and configuration.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

macro_rules! codes {
    ($($variant:ident $name:literal $severity:ident $lost:literal $about:literal $(help $help:literal)?;)*) => {
        /// The kind of a finding: a stable kebab-case code.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
        pub enum Code {
            $(#[doc = $about] #[serde(rename = $name)] $variant,)*
        }

        impl Code {
            /// Every code, in the order of the stages that report it.
            pub const ALL: &'static [Code] = &[$(Code::$variant,)*];

            /// The stable code.
            pub fn as_str(self) -> &'static str {
                match self { $(Code::$variant => $name,)* }
            }

            /// The severity unless configured otherwise.
            pub fn severity(self) -> Severity {
                match self { $(Code::$variant => Severity::$severity,)* }
            }

            /// Whether it means that some input is missing from the catalog.
            pub fn loses_input(self) -> bool {
                match self { $(Code::$variant => $lost,)* }
            }

            /// Meaning of the code, in one line.
            pub fn about(self) -> &'static str {
                match self { $(Code::$variant => $about,)* }
            }

            /// The next step for the author, where it is the same for every finding of this kind.
            pub(super) fn help(self) -> Option<&'static str> {
                match self { $($(Code::$variant => Some($help),)?)* _ => None }
            }
        }
    };
}

codes! {
    // configuration
    ConfigInvalid "config-invalid" Error true "the configuration has a field that is unknown or of the wrong kind";
    SelectorInvalid "selector-invalid" Error true "a selector or pattern cannot be read";
    OverlayUnused "overlay-unused" Warning false "an overlay matches no tool";
    TrustHintUnused "trust-hint-unused" Warning false "`[exec.trust_hints]` names a server that no source has";
    ProfileUnused "profile-selector-unused" Warning false "a selector of a profile or server matches no tool";
    CategoryUnused "category-unused" Warning false "a `[[category]]` names a category that no tool is in, or one that is described above";
    // sources
    FileUnreadable "file-unreadable" Error true "a source cannot be opened, or is not text";
    FileTooLarge "file-too-large" Error true "a source is larger than the limit"
        help "split it into several files";
    SourceUnreachable "source-unreachable" Error true "a live server or an address cannot be reached, or gives no tools that can be read";
    ServerDisabled "server-disabled" Info false "a server of a client's configuration is disabled there";
    ClientSetting "client-setting" Info false "a setting of a client's server is not used, or works otherwise here";
    SourceStale "source-stale" Warning false "a live server is away, and the tools that it listed last are used";
    FileInvalid "file-invalid" Error true "a source is not valid JSON, YAML or TOML, or is nested too deeply";
    FormatUnknown "format-unknown" Error true "no tool definitions were recognised in a source";
    ListIncomplete "list-incomplete" Error true "a list of tools is empty, or has only some of its pages";
    DefinitionInvalid "definition-invalid" Error true "a definition or an argument of one cannot be used at all, since it has no name or no form that can be read";
    DefinitionLeftOut "definition-left-out" Warning false "a live server lists a definition that no client could use, and it was left out";
    DefinitionRepaired "definition-repaired" Info false "a definition has mistakes that clients refuse, and was repaired";
    ProviderTool "provider-tool" Info false "a tool that its provider runs itself has no definition to document";
    FieldUnknown "field-unknown" Error false "a definition has a field that its format does not know";
    TrustNarrowed "trust-narrowed" Warning false "a file below a `[[source]]` with `trust = \"run\"` is read without trust"
        help "give the file one [[source]] of its own, with its own path";
    BackendUntrusted "backend-untrusted" Error false "a definition names a program, and the operator has not allowed it";
    EffectDoubted "effect-doubted" Warning false "a definition claims that a tool only reads, and its name or request contradicts it";
    StepsInvalid "steps-invalid" Error false "the steps of a tool are wrong; it is documented but cannot be called";
    StepsEffect "steps-effect" Warning false "a tool of several steps declares a weaker effect than one of its steps has";
    OwnOutput "own-output" Error true "a source is a payload, or a folder, that toolcrib wrote, and has no definitions";
    RegistryRead "registry-read" Info false "a source is a registry.json that toolcrib wrote";
    CatalogNested "catalog-nested" Info false "folders with a toolcrib.toml of their own were left alone";
    FieldInvalid "field-invalid" Error false "a field of a definition has the wrong kind of value and was left out";
    FieldRepaired "field-repaired" Error false "a field of a definition has the wrong kind of value, and was read as the one thing that it can mean";
    OperationRenamed "operation-named" Info false "an OpenAPI operation had no usable operationId and was named from its method and path";
    OperationSkipped "operation-skipped" Info false "an OpenAPI operation is OPTIONS or TRACE, which describe an endpoint rather than use it";
    ArgumentRenamed "argument-renamed" Info false "an argument was renamed, because its name is taken or is not portable";
    // catalog: names
    NameCleaned "name-cleaned" Warning false "a name held control, bidi or zero-width characters, which were removed"
        help "write the name in visible characters";
    NameQualified "name-qualified" Info false "tools of several servers share a name and were qualified by server";
    NameDuplicate "name-duplicate" Error false "two tools of one source share a name; the later one was numbered";
    NameCollision "name-collision" Error false "two tools for different callers share a name, op or alias";
    NameUnsafe "name-unsafe" Info false "a name cannot name a file or a provider's function and was mapped to a safe one";
    AliasAmbiguous "alias-ambiguous" Warning false "an alias is taken by another tool"
        help "choose another alias";
    OpDuplicate "op-duplicate" Error false "two tools share an op; the later one was numbered"
        help "give one of them another `op`";
    OpInvalid "op-invalid" Error false "an op is not a dotted name of lower-case words; it was derived instead"
        help "write lower-case words joined by dots, such as `onto.task.list`";
    // catalog: schemas
    SchemaMissing "schema-missing" Error false "a tool has no parameters; it is documented but cannot be called"
        help "give `parameters`, or set `allow_no_schema = true` and a `no_schema_mode` in an overlay";
    SchemaRepaired "schema-repaired" Info false "a schema had mistakes with a clear meaning, and was repaired";
    SchemaDoubtful "schema-doubtful" Warning false "a schema says what nobody can have meant: an unknown type, a default outside its type or enum, a minimum above its maximum, a required name that is no property";
    SchemaReferenceBroken "schema-ref-broken" Warning false "a $ref points nowhere; that place accepts anything";
    SchemaReferenceRemote "schema-ref-remote" Error false "a $ref leads out of the catalog's folder, or to an address, and is never followed";
    ReferenceUnreadable "schema-ref-unreadable" Error true "a $ref leads to a file that cannot be read";
    SchemaInvalid "schema-invalid" Error false "a schema cannot be compiled; its tool is documented but cannot be called"
        help "correct the schema; until then the tool is documented but cannot be called";
    // catalog: text
    EffectGuessed "effect-guessed" Info false "the effect of a tool was guessed from its name"
        help "write `effect`, in the definition or in an [[overlay]]";
    DescriptionMissing "description-missing" Warning false "a tool has no description"
        help "say what it does and when to use it; models choose by it";
    DescriptionTautological "description-tautological" Warning false "a description only repeats the name"
        help "say more than the name: when to use it, its input and its result";
    CategoryDerived "category-derived" Info false "a category was derived from names and requests"
        help "`toolcrib check --suggest` prints overlays to keep or change it";
    ShortDerived "short-derived" Info false "a short description was derived from the long one"
        help "write `short_description` if that is not when one would use it";
    ShortEqual "short-equal" Warning false "two tools have the same short description"
        help "say in each `short_description` when to use it rather than the other";
    ShortTooLong "short-too-long" Warning false "a short description is over the cap and was shortened"
        help "say when to use the tool, in one line";
    ParameterUndocumented "parameter-undocumented" Warning false "arguments have no description"
        help "describe each in a few words";
    PolicyExtracted "policy-extracted" Info false "a policy was extracted from the long description"
        help "check it, and write it as `policy` to make it yours";
    TextHidden "text-hidden" Warning false "text holds control, bidi or zero-width characters, which were removed"
        help "they are left out of docs and payloads; remove them from the source";
    TextInstructs "text-instructs" Warning false "text addresses the model with instructions beyond the tool's own use"
        help "descriptions say what a tool does; keep orders, secrets and other tools out of them, or trust the source less";
    SecretInText "secret-in-text" Warning false "text of a definition holds a key, a token or another credential"
        help "remove it, and replace the credential at its issuer: whoever reads the tool can use it";
    ExampleInvalid "example-invalid" Warning false "an example does not fit the schema of its tool";
    CallUnderivable "call-underivable" Info false "no valid example call could be made from the schema"
        help "add one to `examples`";
    NearTwin "near-twin" Warning false "two tools are described in nearly the same words"
        help "say in each when to use it rather than the other";
    ReplacementUnknown "replacement-unknown" Warning false "replaced_by names no tool";
    // labelled queries
    LabelInvalid "label-invalid" Error false "a file of labelled queries, or a line of one, cannot be read";
    LabelUnknown "label-unknown" Error false "a labelled query names a tool that the catalog does not have";
    // payloads
    PayloadToolLeftOut "payload-tool-left-out" Warning false "a tool cannot be bound for a provider and was left out of the payload";
    PayloadStrictOff "payload-strict-off" Warning false "a strict tool is outside the subset in which its provider is strict";
    PayloadSchemaLoosened "payload-schema-loosened" Info false "a provider cannot express all of a schema; calls are still checked against all of it";
}

impl Code {
    /// The code with this name.
    pub fn parse(name: &str) -> Option<Code> {
        Code::ALL.iter().copied().find(|code| code.as_str() == name)
    }
}

impl std::fmt::Display for Code {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(self.as_str())
    }
}
