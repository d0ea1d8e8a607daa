//! The doc of one tool: its sections as safe markdown, and the doc version, which is their hash. For readers who want
//! a part of it, a doc by sections.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::arguments::{doc_arguments, result_fields, type_words};
use super::markdown::{code, fence, inline, name, prose};
use super::templates::{TemplateError, Templates};
use toolcrib_catalog::{Catalog, Resolved, Tool};
use toolcrib_definition::{Example, Policy, Schema, beginning, words};

/// The doc of one tool as values for a template. Every value is markdown, safe to place on lines of its own.
#[derive(Debug, Serialize)]
pub struct Doc {
    /// The name of the tool.
    pub heading: String,
    pub(super) category: String,
    pub(super) op: String,
    pub(super) effect: String,
    #[serde(skip)]
    pub(super) short: String,
    pub(super) deprecated: bool,
    pub(super) replaced_by: Option<String>,
    pub(super) not_callable: Option<String>,
    pub(super) approval: bool,
    pub(super) long: String,
    pub(super) arguments: String,
    pub(super) folded: bool,
    /// The path of the whole schema, for pages without a function that has it.
    pub(super) schema: String,
    /// Whether calls need the receipt.
    pub(super) needs_receipt: bool,
    pub(super) returns: Option<String>,
    pub(super) raises: Option<String>,
    pub(super) call: Option<String>,
    pub(super) examples: Option<String>,
    pub(super) notes: Option<String>,
    #[serde(skip)]
    pub(super) policy: Option<String>,
    /// Whether the policy was taken from the description.
    #[serde(skip)]
    pub(super) policy_in_text: bool,
    /// Equal as long as the doc is equal.
    pub doc_version: String,
    /// Only a reader of the current doc knows it.
    pub receipt: String,
}

/// The things next to a page that its reader can use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Around {
    /// `tool_exec`, which calls tools by their ops.
    pub ops: bool,
    /// `read_tool_doc`, which has the whole schema.
    pub functions: bool,
    /// `registry.json` in the same folder.
    pub registry: bool,
}

impl Around {
    /// A reader that has all of toolcrib's functions.
    pub const FUNCTIONS: Self = Self { ops: true, functions: true, registry: false };
    /// A reader of a folder of pages.
    pub const FOLDER: Self = Self { ops: false, functions: false, registry: true };
}

/// Most characters of a text example: a doc is read within a budget.
pub const MAX_EXAMPLE: usize = 4000;

impl Doc {
    /// Makes the doc of a tool.
    pub fn of(tool: &Tool, catalog: &Catalog) -> Self {
        let arguments = doc_arguments(tool.input.parameters.schema());
        let categories: Vec<String> =
            tool.labels.categories.iter().map(|path| inline(&path.as_str().replace('/', " / "))).collect();
        let no_schema = tool.input.schema.is_none();
        let notes = tool.texts.notes.iter().filter(|note| !tool.texts.long.contains(*note));
        let mut doc = Self {
            heading: name(&tool.names.canonical),
            category: categories.join(", "),
            op: code(&tool.names.op),
            effect: tool.rules.effect.as_str().to_string(),
            short: inline(&tool.texts.short),
            deprecated: tool.labels.deprecated == Some(true),
            replaced_by: tool.labels.replaced_by.as_deref().map(|name| reference(name, catalog, file_of)),
            not_callable: tool.not_callable().map(inline),
            approval: tool.wants_approval(),
            long: prose(&tool.texts.long),
            folded: arguments.folded,
            schema: path_of_schema(tool),
            arguments: if no_schema { "Not given by the source.".into() } else { arguments.markdown },
            needs_receipt: catalog.config.exec.require_doc.covers(tool.rules.effect),
            returns: returns(tool),
            raises: list(tool.texts.raises.iter().map(|text| inline(text))),
            call: tool.input.call.as_ref().map(|arguments| ready_made(tool, arguments)),
            examples: examples(tool),
            notes: list(notes.map(|note| inline(note))),
            policy: tool.texts.policy.as_ref().and_then(policy),
            policy_in_text: tool.texts.written.policy.is_none(),
            doc_version: String::new(),
            receipt: String::new(),
        };
        let hash = doc.hash().to_hex();
        doc.doc_version = hash[..10].to_string();
        doc.receipt = hash[58..].to_string();
        doc
    }

    /// Makes the doc of a tool in a skill. `link` gives the file of another tool of the skill. Version and
    /// receipt are those of the doc everywhere else.
    pub(super) fn of_skill(
        tool: &Tool,
        catalog: &Catalog,
        link: impl FnOnce(&Tool) -> Option<String>,
    ) -> Self {
        let doc = Self::of(tool, catalog);
        let replaced_by = tool.labels.replaced_by.as_deref();
        let replaced_by = replaced_by.map(|name| reference(name, catalog, link));
        Self { replaced_by, ..doc }
    }

    /// The doc as markdown, for a reader with these things around it.
    pub fn render(
        &self,
        templates: &Templates,
        registry_version: &str,
        around: Around,
    ) -> Result<String, TemplateError> {
        #[derive(Serialize)]
        struct Page<'a> {
            #[serde(flatten)]
            doc: &'a Doc,
            #[serde(flatten)]
            around: Around,
            policy: Option<&'a str>,
            registry_version: &'a str,
        }
        let policy = if self.policy_in_text { None } else { self.policy.as_deref() };
        templates.render("docs/tool.md", &Page { doc: self, around, policy, registry_version })
    }

    /// The hash of all text that a reader can see.
    fn hash(&self) -> blake3::Hash {
        let mut seen = Vec::with_capacity(512 + self.long.len() + self.arguments.len());
        seen.extend([self.deprecated, self.approval, self.folded].map(u8::from));
        let texts = [&self.heading, &self.category, &self.op, &self.long, &self.arguments];
        let optional = [
            &self.replaced_by, &self.not_callable, &self.returns, &self.raises, &self.call, &self.examples,
            &self.notes, &self.policy,
        ];
        seen.extend(self.effect.as_bytes());
        for text in texts.into_iter().map(Some).chain(optional.map(Option::as_ref)) {
            seen.push(0);
            seen.extend(text.map_or("", String::as_str).as_bytes());
        }
        blake3::hash(&seen)
    }
}

/// The path of the whole schema beside the page of a tool; `None` if the page leaves nothing out.
pub fn schema_path(tool: &Tool) -> Option<String> {
    doc_arguments(tool.input.parameters.schema()).folded.then(|| path_of_schema(tool))
}

fn path_of_schema(tool: &Tool) -> String {
    format!("schemas/{}.json", tool.names.safe)
}

/// The whole schema of a tool.
pub fn schema_file(tool: &Tool) -> String {
    let schema = tool.input.schema.as_ref().map_or(tool.input.parameters.schema(), Schema::value);
    serde_json::to_string_pretty(schema).unwrap_or_default() + "\n"
}

/// Another tool, linked when it is in the catalog and has a file.
fn reference(replacement: &str, catalog: &Catalog, file: impl FnOnce(&Tool) -> Option<String>) -> String {
    match catalog.resolve(replacement) {
        Resolved::Tool(tool) => match file(tool) {
            Some(file) => format!("[{}]({file})", name(&tool.names.canonical)),
            None => code(&tool.names.canonical),
        },
        _ => code(replacement),
    }
}

/// The file of a doc in the folder of docs.
fn file_of(tool: &Tool) -> Option<String> {
    Some(format!("{}.md", tool.names.safe))
}

/// The ready-made call, and whether its reader has to replace values.
fn ready_made(tool: &Tool, arguments: &Map<String, Value>) -> String {
    let call = call(tool, arguments);
    if tool.input.fill_in.is_empty() { call } else { format!("{call}\nValues are examples.") }
}

/// A complete call on one line, in the form that providers report it: the name bound and the arguments.
fn call(tool: &Tool, arguments: &Map<String, Value>) -> String {
    #[derive(Serialize)]
    struct ReadyMadeCall<'a> {
        name: &'a str,
        arguments: &'a Map<String, Value>,
    }
    let call = ReadyMadeCall { name: &tool.names.safe, arguments };
    fence("json", &serde_json::to_string(&call).unwrap_or_default())
}

/// Whether a line reads as more than a part of a sentence: a list, a fence, a heading, a quotation, indented code.
fn begins_block(line: &str) -> bool {
    line.starts_with(['-', '*', '+', '#', '>', '|', '~', '<', '!', '=', ' ', '\t'])
        || line.starts_with("```")
        || line
            .split_once(['.', ')'])
            .is_some_and(|(number, _)| !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()))
}

/// A line after its label, or blocks on lines of their own, so that a fence or a list in them stays one; then the fields.
fn returns(tool: &Tool) -> Option<String> {
    let schema = tool.output.as_ref().map(|schema| schema.value());
    let fields = schema.map(result_fields).unwrap_or_default();
    let text = tool.texts.returns.as_deref().filter(|text| !says_nothing(text, tool)).unwrap_or_default();
    let kind = schema.map(type_words);
    let kind = kind.filter(|words| !matches!(words.as_str(), "any" | "object"));
    let is_line = !text.contains("\n\n") && !text.lines().any(begins_block);
    let text = if is_line { format!(" {}", inline(text)) } else { format!("\n\n{}\n", prose(text)) };
    let text = match (text.trim().is_empty(), kind) {
        (true, words) => words.map(|words| format!(" {words}")).unwrap_or_default(),
        (false, Some(words)) => format!(" ({words}){text}"),
        (false, None) => text,
    };
    let between = if fields.starts_with("- ") {
        "\n"
    } else if text.ends_with(|c: char| c.is_alphanumeric() || c == ')') {
        ". "
    } else {
        " "
    };
    let returns = if fields.is_empty() { text } else { format!("{text}{between}{fields}") };
    (!returns.is_empty()).then_some(returns)
}

/// Whether a text only says that a call had a result: `200 response for get_user`.
fn says_nothing(text: &str, tool: &Tool) -> bool {
    const WORDS: [&str; 16] = [
        "a", "an", "call", "completed", "created", "default", "for", "ok", "operation", "request",
        "response", "result", "success", "successful", "successfully", "the",
    ];
    let own = words(&tool.names.canonical);
    let is_empty = |word: &String| {
        WORDS.contains(&word.as_str()) || own.contains(word) || word.bytes().all(|b| b.is_ascii_digit())
    };
    words(text).iter().all(is_empty)
}

fn examples(tool: &Tool) -> Option<String> {
    // The first example is the ready-made call already.
    let mut parts: Vec<String> = tool
        .texts
        .examples
        .iter()
        .enumerate()
        .filter_map(|(index, example)| example_text(tool, index, example))
        .collect();
    let shown = |text: &String| fence("", beginning(without_fence(text), MAX_EXAMPLE));
    parts.extend(tool.texts.example_texts.iter().map(shown));
    (!parts.is_empty()).then(|| parts.join("\n\n"))
}

/// The content of an example that its author fenced.
fn without_fence(text: &str) -> &str {
    let inner = text.trim().strip_prefix("```").and_then(|text| text.strip_suffix("```"));
    let inner = inner.and_then(|inner| inner.split_once('\n')).map(|(_, inner)| inner.trim_end());
    inner.filter(|inner| !inner.contains("```")).unwrap_or(text)
}

fn example_text(tool: &Tool, index: usize, example: &Example) -> Option<String> {
    let title = example.title.as_deref().map(inline).filter(|title| !title.is_empty());
    let result = example
        .result
        .as_ref()
        .map(|result| fence("json", &serde_json::to_string_pretty(result).unwrap_or_default()));
    if index == 0 {
        let title = title.map(|title| format!("{}: the call above", title.trim_end_matches('.')));
        let call = title.unwrap_or_else(|| "The call above".into());
        return result.map(|result| format!("{call} gives\n{result}"));
    }
    let gives = result.map(|result| format!("gives\n{result}"));
    Some(
        [title.map(|title| format!("{title}:")), Some(call(tool, &example.arguments)), gives]
            .into_iter()
            .flatten()
            .collect::<Vec<_>>()
            .join("\n"),
    )
}

fn policy(policy: &Policy) -> Option<String> {
    let rules = |label: &str, rules: &[String]| {
        rules.iter().map(|rule| format!("{label}: {}", inline(rule))).collect::<Vec<_>>()
    };
    let all =
        [rules("Do", &policy.dos), rules("Don't", &policy.donts), rules("Edge case", &policy.edge_cases)]
            .concat();
    list(all.into_iter())
}

fn list(items: impl Iterator<Item = String>) -> Option<String> {
    let lines: Vec<String> = items.filter(|item| !item.is_empty()).map(|item| format!("- {item}")).collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// A section of a doc, in the order of the doc.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, strum::IntoStaticStr)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum Section {
    /// The purpose of the tool.
    Summary,
    /// Arguments, and a complete call.
    Arguments,
    /// Further examples.
    Examples,
    /// When to use it and when not to, and notes.
    Policy,
    /// The JSON Schemas.
    Schema,
}

impl Section {
    /// As it is written.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

impl Doc {
    /// A section as markdown; empty where the tool has none.
    pub fn section(&self, section: Section, tool: &Tool) -> Option<String> {
        match section {
            Section::Summary => Some(self.summary()),
            Section::Arguments => {
                let call = self.call.as_ref().map(|call| format!("\n\n**Call:**\n{call}"));
                let whole = "\n\nShortened; section `schema` of `read_tool_doc` has the whole schema.";
                let whole = if self.folded { whole } else { "" };
                let call = call.unwrap_or_default();
                Some(format!("**Arguments:**\n{}{whole}{call}", self.arguments))
            }
            Section::Examples => self.examples.as_ref().map(|text| format!("**Examples:**\n\n{text}")),
            Section::Policy => {
                joined([labelled("Notes", self.notes.as_ref()), labelled("Policy", self.policy.as_ref())])
            }
            Section::Schema => Some(schemas(tool)),
        }
    }

    fn summary(&self) -> String {
        let head = format!(
            "# {}\n\n**Category:** {} · **Op:** {} · **Effect:** {}",
            self.heading, self.category, self.op, self.effect
        );
        let replaced = self.replaced_by.as_ref().map(|name| format!(" Use {name} instead."));
        let deprecated = self.deprecated.then(|| format!("**Deprecated.**{}", replaced.unwrap_or_default()));
        let not_callable = self.not_callable.as_ref().map(|reason| format!("**Not callable:** {reason}"));
        let approval = self.approval.then(|| "**Approval:** a person approves each call.".to_string());
        let parts = [Some(head), deprecated, not_callable, approval, Some(self.short.clone())];
        parts.into_iter().flatten().collect::<Vec<_>>().join("\n\n")
    }

    /// The last line where calls need it: the receipt, as proof that the doc was read.
    pub fn receipt_line(&self) -> Option<String> {
        self.needs_receipt.then(|| format!("Receipt {}", self.receipt))
    }
}

fn labelled(label: &str, text: Option<&String>) -> Option<String> {
    text.map(|text| format!("**{label}:**\n{text}"))
}

fn joined<const N: usize>(parts: [Option<String>; N]) -> Option<String> {
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join("\n\n"))
}

fn schemas(tool: &Tool) -> String {
    let written = |schema: &Schema| fence("json", &schema.value().to_string());
    let parameters = match &tool.input.schema {
        Some(schema) => written(schema),
        None => "Not given by the source.".into(),
    };
    let result = tool.output.as_ref().map(|schema| format!("\n\n**Result schema:**\n{}", written(schema)));
    format!("**Schema:**\n{parameters}{}", result.unwrap_or_default())
}
