//! The schema of a tool's arguments: repaired and compiled, or the reason why it cannot be.

use std::sync::{Arc, OnceLock};

use indexmap::IndexMap;
use jsonschema::{Draft, PatternOptions, Validator};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::repair::{Repairs, repair};
use super::validation_cost::ValidationCost;
use crate::finding::{Code, Finding, Place, Violation, violations};
use crate::tool::{Definition, NoSchemaMode, compact};

/// Backtracking steps of a pattern before a value is refused: more would let one pattern stall a call.
const BACKTRACK_LIMIT: usize = 100_000;

/// The arguments of a tool: a schema to read, and whether calls can be checked against it.
#[derive(Debug)]
pub struct Parameters {
    schema: Arc<Value>,
    callable: Callable,
    cost: OnceLock<ValidationCost>,
    /// Compiled at its first use. Most tools of a large catalog are only read, and compiled schemas are most of its
    /// memory.
    validator: OnceLock<Option<Box<Validator>>>,
}

/// Whether a tool can be called.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Callable {
    /// Calls are checked.
    Checked,
    /// Calls run unchecked, in the no-schema mode that the author chose.
    Unchecked(NoSchemaMode),
    /// Calls are refused, for this reason.
    No(String),
}

impl Parameters {
    /// A schema without content, and the reason why.
    pub(super) fn withheld(reason: &str) -> Self {
        let schema = Arc::new(json!({}));
        Self::of(schema, Callable::No(reason.into()))
    }

    /// A schema that is not compiled.
    fn of(schema: Arc<Value>, callable: Callable) -> Self {
        Self { schema, callable, cost: OnceLock::new(), validator: OnceLock::new() }
    }

    /// The canonical schema: the author's, with its mistakes repaired. `{}` when there is none.
    pub fn schema(&self) -> &Value {
        &self.schema
    }

    /// Whether the tool can be called.
    pub fn callable(&self) -> &Callable {
        &self.callable
    }

    /// The validator of calls; `None` when calls cannot be checked.
    pub fn validator(&self) -> Option<&Validator> {
        let compile = || validator(&self.schema).ok().map(Box::new);
        self.is_checked().then(|| self.validator.get_or_init(compile).as_deref())?
    }

    fn cost(&self) -> ValidationCost {
        *self.cost.get_or_init(|| ValidationCost::of(&self.schema))
    }

    /// Whether calls are checked.
    pub fn is_checked(&self) -> bool {
        matches!(self.callable, Callable::Checked)
    }

    /// Drops the validator that was compiled while the catalog was built.
    pub(super) fn drop_compiled(mut self) -> Self {
        self.validator = OnceLock::new();
        self
    }

    /// Whether these arguments fit. Arguments that would cost too much to check count as unfit.
    pub fn accepts(&self, arguments: &Value) -> bool {
        self.validator().is_some_and(|validator| {
            self.cost().affords(&self.schema, arguments) && validator.is_valid(arguments)
        })
    }

    /// The violations of these arguments; empty when calls cannot be checked.
    pub fn violations(&self, arguments: &Value) -> Vec<Violation> {
        match self.validator() {
            Some(_) if !self.cost().affords(&self.schema, arguments) => vec![Violation::new(
                "",
                "nested too deeply to be checked against unions that multiply at each level",
            )],
            Some(validator) if !validator.is_valid(arguments) => {
                violations(validator, &self.schema, arguments)
            }
            _ => Vec::new(),
        }
    }
}

/// Repairs and compiles the parameters of a definition. `described` are descriptions that a docstring has for them.
pub(super) fn check(
    tool: &Definition,
    described: &IndexMap<String, String>,
    place: &Place,
    report: &mut impl FnMut(Finding),
) -> Parameters {
    let Some(written) = &tool.parameters else { return without_schema(tool, place, report) };
    let mut schema = written.shared();
    let mut remote = None;
    if let Some((value, repairs)) = repair(written.value()) {
        report_repairs(&repairs, place, report);
        remote = repairs.remote.first().map(|(_, reference)| reference.clone());
        schema = Arc::new(value);
    }
    describe(&mut schema, described);
    if !Arc::ptr_eq(&schema, &written.shared()) {
        schema = Arc::new(compact(Arc::unwrap_or_clone(schema)));
    }
    let cost = ValidationCost::of(&schema);
    let refused = match remote {
        Some(reference) => Err(format!("its schema refers to {reference}, which was not read")),
        None => compile(&schema, cost).map_err(|problem| {
            let finding =
                Finding::new(Code::SchemaInvalid, format!("the schema cannot be compiled: {problem}"));
            report(
                finding
                    .at(place.clone())
                    .help("correct the schema; until then the tool is documented but cannot be called"),
            );
            format!("its schema cannot be compiled: {problem}")
        }),
    };
    match refused {
        Ok(validator) => Parameters {
            schema,
            callable: Callable::Checked,
            cost: cost.into(),
            validator: OnceLock::from(Some(Box::new(validator))),
        },
        Err(reason) => Parameters::of(schema, Callable::No(reason)),
    }
}

fn without_schema(tool: &Definition, place: &Place, report: &mut impl FnMut(Finding)) -> Parameters {
    let callable = match tool.no_schema_mode.filter(|_| tool.allow_no_schema) {
        Some(mode) => Callable::Unchecked(mode),
        None => {
            let message = "no parameters are given; the tool is documented but cannot be called";
            let help =
                "give `parameters`, or set `allow_no_schema = true` and a `no_schema_mode` in an overlay";
            report(Finding::new(Code::SchemaMissing, message).at(place.clone()).help(help));
            Callable::No("its source gives no schema".into())
        }
    };
    Parameters::of(Arc::new(json!({})), callable)
}

fn report_repairs(repairs: &Repairs, place: &Place, report: &mut impl FnMut(Finding)) {
    let at = |pointer: &str| Place::new(&place.file, format!("{}{pointer}", place.pointer));
    if let Some((pointer, _)) = repairs.words.first() {
        let mut listed: IndexMap<&str, usize> = IndexMap::new();
        for (_, what) in &repairs.words {
            *listed.entry(what).or_default() += 1;
        }
        let listed: Vec<String> = listed
            .iter()
            .map(
                |(what, count)| if *count > 1 { format!("{what} ({count} times)") } else { what.to_string() },
            )
            .collect();
        report(Finding::new(Code::SchemaRepaired, listed.join(", ")).at(at(pointer)));
    }
    for (pointer, reference) in &repairs.broken {
        let finding = Finding::new(
            Code::SchemaReferenceBroken,
            format!("`{reference}` points nowhere; anything is accepted there"),
        );
        report(finding.at(at(pointer)).help("define it under `$defs`, or correct the pointer"));
    }
    for (pointer, reference) in &repairs.remote {
        let finding = Finding::new(
            Code::SchemaReferenceRemote,
            format!("`{reference}` lies outside the schema and is never fetched"),
        );
        report(
            finding
                .at(at(pointer))
                .help("copy what it refers to into `$defs` and refer to it as `#/$defs/NAME`"),
        );
    }
}

/// Copies descriptions that only the docstring has into the schema, where readers look for them.
fn describe(schema: &mut Arc<Value>, described: &IndexMap<String, String>) {
    let lacks = |schema: &Value, name: &str| {
        let property =
            schema.get("properties").and_then(|properties| properties.get(name)).and_then(Value::as_object);
        property.is_some_and(|property| {
            property.get("description").is_none_or(|text| text.as_str().is_none_or(str::is_empty))
        })
    };
    for (name, text) in described {
        if !lacks(schema, name) {
            continue;
        }
        let properties = Arc::make_mut(schema).get_mut("properties").and_then(Value::as_object_mut);
        if let Some(Value::Object(property)) = properties.and_then(|properties| properties.get_mut(name)) {
            property.insert("description".into(), text.as_str().into());
        }
    }
}

/// Whether the schema says everything that the docstring says of the arguments, and the docstring says something.
pub(super) fn tells(schema: &Value, described: &IndexMap<String, String>) -> bool {
    let squeezed = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let says = |(name, text): (&String, &String)| {
        let property = schema.get("properties").and_then(|properties| properties.get(name));
        let described = property.and_then(|property| property.get("description")).and_then(Value::as_str);
        described.is_some_and(|described| squeezed(described).contains(&squeezed(text)))
    };
    !described.is_empty() && described.iter().all(says)
}

pub(super) fn compile(schema: &Value, cost: ValidationCost) -> Result<Validator, String> {
    if !cost.is_affordable() {
        return Err(
            "its unions refer to each other so often that one value would take over 10,000 checks".into()
        );
    }
    if !takes_objects(schema) {
        return Err("arguments are always an object, and its root is of another type".into());
    }
    validator(schema).map_err(|error| {
        let at = error.instance_path().to_string();
        let place = if at.is_empty() { String::new() } else { format!(" at {at}") };
        format!("{}{place}", error.masked())
    })
}

fn validator(schema: &Value) -> Result<Validator, jsonschema::ValidationError<'static>> {
    let options = || jsonschema::options().with_draft(draft(schema)).offline().should_validate_formats(true);
    options().with_pattern_options(PatternOptions::regex()).build(schema).or_else(|_| {
        options()
            .with_pattern_options(PatternOptions::fancy_regex().backtrack_limit(BACKTRACK_LIMIT))
            .build(schema)
    })
}

/// The draft that `$schema` names, else 2020-12, the default of MCP and of the providers.
fn draft(schema: &Value) -> Draft {
    let uri = schema.get("$schema").and_then(Value::as_str).unwrap_or_default();
    [
        ("draft-07", Draft::Draft7),
        ("draft-06", Draft::Draft6),
        ("draft-04", Draft::Draft4),
        ("2019-09", Draft::Draft201909),
    ]
    .into_iter()
    .find_map(|(word, draft)| uri.contains(word).then_some(draft))
    .unwrap_or(Draft::Draft202012)
}

fn takes_objects(schema: &Value) -> bool {
    match schema.get("type") {
        None => !matches!(schema, Value::Bool(false)),
        Some(Value::String(word)) => word == "object",
        Some(Value::Array(words)) => words.iter().any(|word| word == "object"),
        Some(_) => false,
    }
}

/// The properties of a schema's root.
pub(super) fn properties(schema: &Value) -> Option<&Map<String, Value>> {
    schema.get("properties").and_then(Value::as_object)
}
