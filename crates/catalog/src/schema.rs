//! The schema of a tool's arguments: repaired and compiled, or the reason why it cannot be.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use indexmap::IndexMap;
use jsonschema::error::ValidationErrorKind;
use jsonschema::{PatternOptions, Validator};
use regex_syntax::hir::{Class, Hir, HirKind};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::docstring::Described;
use super::repair::{Repairs, repair};
use super::validation_cost::ValidationCost;
use toolcrib_definition::finding::{Code, Finding, Place, Violation, pointer_join, violations};
use toolcrib_definition::markup::markdown;
use toolcrib_definition::schema::walk::draft;
use toolcrib_definition::{Backend, Definition, NoSchemaMode, compact, quoted};

/// Bytes of text in arguments, and the backtracking steps that a pattern may take on them. A step may read the whole text, so
/// long texts get few steps. Patterns that need no backtracking take linear time, and have no limit.
const BACKTRACKING: [(usize, usize); 4] =
    [(1 << 10, 16 << 10), (16 << 10, 1 << 10), (256 << 10, 64), (usize::MAX, 16)];
/// Bytes of memory of all compiled patterns of a schema, which is also a measure of the time that compiling them takes.
const MAX_PATTERN_BYTES: usize = 32 << 20;
/// Bytes that each pattern may take, however many there are.
const MIN_PATTERN_BYTES: usize = 32 << 10;
/// Most patterns of a schema, and most bytes of their texts.
const MAX_PATTERNS: usize = 1_000;
const MAX_PATTERN_TEXT: usize = 64 << 10;

thread_local! {
    static IS_STOPPED: RefCell<Option<Arc<AtomicBool>>> = const { RefCell::new(None) };
}

/// Runs work on arguments that ends soon after `stop` is set: no arguments are valid any more.
pub fn until_stopped<T>(stop: &Arc<AtomicBool>, work: impl FnOnce() -> T) -> T {
    struct Restored(Option<Arc<AtomicBool>>);
    impl Drop for Restored {
        fn drop(&mut self) {
            IS_STOPPED.set(self.0.take());
        }
    }
    let _restored = Restored(IS_STOPPED.replace(Some(Arc::clone(stop))));
    work()
}

fn is_stopped() -> bool {
    IS_STOPPED.with_borrow(|stop| stop.as_ref().is_some_and(|stop| stop.load(Ordering::Relaxed)))
}

/// The arguments of a tool: a schema to read, and whether calls can be checked against it.
#[derive(Debug)]
pub struct Parameters {
    schema: Arc<Value>,
    callable: Callable,
    cost: OnceLock<ValidationCost>,
    /// Compiled at its first use. Most tools of a large catalog are only read, and compiled schemas are most of its
    /// memory.
    compiled: OnceLock<Option<Box<Compiled>>>,
}

/// A compiled schema.
#[derive(Debug)]
struct Compiled {
    validator: Validator,
    /// The validators of longer texts, if a pattern needs backtracking.
    of_longer: Option<[OnceLock<Option<Validator>>; BACKTRACKING.len() - 1]>,
}

/// Whether a tool can be called.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
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

    /// The same schema, without calls, and the reason why.
    pub(super) fn refused(self, reason: &str) -> Self {
        Self::of(self.schema, Callable::No(reason.into()))
    }

    /// A schema that is not compiled.
    fn of(schema: Arc<Value>, callable: Callable) -> Self {
        Self { schema, callable, cost: OnceLock::new(), compiled: OnceLock::new() }
    }

    /// The canonical schema: the author's, with its mistakes repaired. `{}` without a schema.
    pub fn schema(&self) -> &Value {
        &self.schema
    }

    /// Whether the tool can be called.
    pub fn callable(&self) -> &Callable {
        &self.callable
    }

    /// The validator of calls; `None` when calls cannot be checked.
    pub fn validator(&self) -> Option<&Validator> {
        self.compiled().map(|compiled| &compiled.validator)
    }

    fn compiled(&self) -> Option<&Compiled> {
        let compile = || Compiled::of(&self.schema).ok().map(Box::new);
        self.is_checked().then(|| self.compiled.get_or_init(compile).as_deref())?
    }

    /// The validator of these arguments.
    fn validator_of(&self, arguments: &Value) -> Option<&Validator> {
        let Compiled { validator, of_longer } = self.compiled()?;
        let Some(of_longer) = of_longer else { return Some(validator) };
        let bytes = text_bytes(arguments);
        let longer = of_longer.iter().zip(&BACKTRACKING[1..]);
        match longer.zip(BACKTRACKING).rfind(|(_, (shorter, _))| bytes > *shorter) {
            None => Some(validator),
            Some(((longer, (_, steps)), _)) => {
                longer.get_or_init(|| backtracking(&self.schema, *steps).ok()).as_ref()
            }
        }
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
        self.compiled = OnceLock::new();
        self
    }

    /// Whether these arguments fit. Arguments that would cost too much to check count as unfit.
    pub fn accepts(&self, arguments: &Value) -> bool {
        self.validator_of(arguments).filter(|_| !is_stopped()).is_some_and(|validator| {
            self.cost().affords(&self.schema, arguments) && validator.is_valid(arguments)
        })
    }

    /// The violations of these arguments; empty when calls cannot be checked.
    pub fn violations(&self, arguments: &Value) -> Vec<Violation> {
        match self.validator_of(arguments) {
            Some(_) if is_stopped() => vec![Violation::new("", "the check of the arguments was stopped")],
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
    described: &IndexMap<String, Described>,
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
    if has_markup(&schema) {
        write_markdown(Arc::make_mut(&mut schema));
    }
    if !Arc::ptr_eq(&schema, &written.shared()) {
        schema = Arc::new(compact(Arc::unwrap_or_clone(schema)));
    }
    let cost = ValidationCost::of(&schema);
    let mut compiled = compile(&schema, cost);
    // A server checks its own patterns; those of a command line may be all that stands before a program.
    if matches!(compiled, Err(CompileError::Pattern(_))) && !matches!(tool.backend, Some(Backend::Command(_)))
    {
        let mut changed = Vec::new();
        let mut pointer = String::new();
        repair_patterns(Arc::make_mut(&mut schema), &mut pointer, &mut changed);
        for (pointer, message) in changed {
            report(Finding::new(Code::SchemaDoubtful, message).at(place.below(&pointer)));
        }
        compiled = compile(&schema, cost);
    }
    let refused = match remote {
        Some(reference) => Err(format!("its schema refers to {reference}, which was not read")),
        None => compiled.map_err(|problem| {
            let message = format!("the schema cannot be compiled: {problem}");
            report(Finding::new(Code::SchemaInvalid, message).at(place.clone()));
            format!("its schema cannot be compiled: {problem}")
        }),
    };
    match refused {
        Ok(compiled) => Parameters {
            schema,
            callable: Callable::Checked,
            cost: cost.into(),
            compiled: OnceLock::from(Some(Box::new(compiled))),
        },
        Err(reason) => Parameters::of(schema, Callable::No(reason)),
    }
}

/// Rewrites patterns that only JavaScript reads, and takes out those that cannot be checked here.
fn repair_patterns(schema: &mut Value, pointer: &mut String, changed: &mut Vec<(String, String)>) {
    let is_read = |pattern: &str| Compiled::of(&json!({ "pattern": pattern })).is_ok();
    if let Value::Object(keywords) = schema
        && let Some(Value::String(pattern)) = keywords.get_mut("pattern")
        && !is_read(pattern)
    {
        let at = format!("{pointer}/pattern");
        let portable = portable(pattern);
        if is_read(&portable) {
            *pattern = portable
        } else {
            let shown = quoted(pattern);
            changed.push((at, format!("the pattern `{shown}` cannot be checked here, and is left out")));
            keywords.shift_remove("pattern");
        }
    }
    let end = pointer.len();
    let mut inside = |key: &str, value: &mut Value| {
        *pointer = pointer_join(&pointer[..end], key);
        repair_patterns(value, pointer, changed);
        pointer.truncate(end);
    };
    match schema {
        Value::Object(keywords) => {
            let schemas = keywords.iter_mut().filter(|(key, _)| !VALUES.contains(&key.as_str()));
            schemas.for_each(|(key, value)| inside(key, value));
        }
        Value::Array(items) => {
            items.iter_mut().enumerate().for_each(|(index, value)| inside(&index.to_string(), value))
        }
        _ => {}
    }
}

/// A pattern with escapes for what JavaScript reads as it stands: `[` and the `-` after `\w` in a class, and `{` outside.
fn portable(pattern: &str) -> String {
    let mut written = String::with_capacity(pattern.len());
    let mut letters = pattern.chars();
    let mut is_class = false;
    let mut is_after_set = false;
    let is_set = |letter: char| "wWdDsS".contains(letter);
    while let Some(letter) = letters.next() {
        let was_set = std::mem::take(&mut is_after_set);
        let rest = letters.as_str();
        let is_escaped = match letter {
            '[' => is_class,
            '-' => {
                let is_before_set = rest.strip_prefix('\\').is_some_and(|rest| rest.starts_with(is_set));
                is_class && (was_set || is_before_set)
            }
            '{' if !is_class => {
                let bounds = rest.split_once('}').map(|(bounds, _)| bounds);
                !bounds.is_some_and(|bounds| {
                    bounds.starts_with(|c: char| c.is_ascii_digit())
                        && bounds.chars().all(|c| c.is_ascii_digit() || c == ',')
                })
            }
            _ => false,
        };
        match letter {
            '[' => is_class = true,
            ']' => is_class = false,
            _ => {}
        }
        if is_escaped {
            written.push('\\');
        }
        written.push(letter);
        if letter == '\\'
            && let Some(next) = letters.next()
        {
            is_after_set = is_class && is_set(next);
            written.push(next);
        }
    }
    written
}

/// Whether a schema compiles.
pub(super) fn is_compilable(schema: &Value) -> bool {
    let cost = ValidationCost::of(schema);
    within_limits(schema, cost).is_ok() && Compiled::of(schema).is_ok()
}

fn without_schema(tool: &Definition, place: &Place, report: &mut impl FnMut(Finding)) -> Parameters {
    let callable = match tool.no_schema_mode.filter(|_| tool.allow_no_schema) {
        Some(mode) => Callable::Unchecked(mode),
        None => {
            let message = "no parameters are given; the tool is documented but cannot be called";
            report(Finding::new(Code::SchemaMissing, message).at(place.clone()));
            Callable::No("its source gives no schema".into())
        }
    };
    Parameters::of(Arc::new(json!({})), callable)
}

fn report_repairs(repairs: &Repairs, place: &Place, report: &mut impl FnMut(Finding)) {
    if let Some((pointer, _)) = repairs.words.first() {
        let mut listed: IndexMap<&str, usize> = IndexMap::new();
        for (_, what) in &repairs.words {
            *listed.entry(what).or_default() += 1;
        }
        let counted = |(what, count): (&&str, &usize)| match count {
            1 => what.to_string(),
            _ => format!("{what} ({count} times)"),
        };
        let listed: Vec<String> = listed.iter().map(counted).collect();
        report(Finding::new(Code::SchemaRepaired, listed.join(", ")).at(place.below(pointer)));
    }
    for (pointer, message) in &repairs.lost {
        let code = if pointer == "/properties" { Code::DefinitionInvalid } else { Code::SchemaDoubtful };
        let help = "write what JSON Schema has in this place, such as {\"type\": \"string\"} for a schema";
        report(Finding::new(code, message).at(place.below(pointer)).help(help));
    }
    for (pointer, reference) in &repairs.broken {
        let message = format!("`{reference}` points nowhere; anything is accepted there");
        let finding = Finding::new(Code::SchemaReferenceBroken, message).at(place.below(pointer));
        report(finding.help("define it under `$defs`, or correct the pointer"));
    }
    for (pointer, reference) in &repairs.remote {
        let message = format!("`{reference}` lies outside the schema and is never fetched");
        let finding = Finding::new(Code::SchemaReferenceRemote, message).at(place.below(pointer));
        report(finding.help("copy what it refers to into `$defs` and refer to it as `#/$defs/NAME`"));
    }
}

/// Copies descriptions that only the docstring has into the schema, where readers look for them.
fn describe(schema: &mut Arc<Value>, described: &IndexMap<String, Described>) {
    let lacks = |property: &Map<String, Value>| {
        property.get("description").is_none_or(|text| text.as_str().is_none_or(str::is_empty))
    };
    for (name, described) in described {
        let property = properties(schema).and_then(|properties| properties.get(name)?.as_object());
        let text = property.filter(|property| lacks(property)).map(|property| described.beside(property));
        let Some(text) = text.filter(|text| !text.is_empty()) else { continue };
        if let Some(property) = Arc::make_mut(schema).pointer_mut(&pointer_join("/properties", name)) {
            property["description"] = text.into();
        }
    }
}

/// Keywords that hold values, not schemas.
const VALUES: [&str; 6] = ["enum", "const", "default", "examples", "example", "required"];

/// Whether a description or a title in a schema has markup that is not Markdown.
fn has_markup(schema: &Value) -> bool {
    match schema {
        Value::Object(fields) => fields.iter().any(|(keyword, value)| match value {
            Value::String(text) => is_text(keyword) && matches!(markdown(text), Cow::Owned(_)),
            value => !VALUES.contains(&keyword.as_str()) && has_markup(value),
        }),
        Value::Array(items) => items.iter().any(has_markup),
        _ => false,
    }
}

/// Writes the descriptions and titles of a schema as Markdown.
fn write_markdown(schema: &mut Value) {
    match schema {
        Value::Object(fields) => fields.iter_mut().for_each(|(keyword, value)| match value {
            Value::String(text) if is_text(keyword) => *text = markdown(text).into_owned(),
            value if !VALUES.contains(&keyword.as_str()) => write_markdown(value),
            _ => {}
        }),
        Value::Array(items) => items.iter_mut().for_each(write_markdown),
        _ => {}
    }
}

fn is_text(keyword: &str) -> bool {
    matches!(keyword, "description" | "title")
}

/// Whether the schema says everything that the docstring says of the arguments, and the docstring says something.
pub(super) fn tells(schema: &Value, described: &IndexMap<String, Described>) -> bool {
    let squeezed = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let says = |(name, described): (&String, &Described)| {
        let property = properties(schema).and_then(|properties| properties.get(name)?.as_object());
        property.is_some_and(|property| {
            let text = property.get("description").and_then(Value::as_str).unwrap_or_default();
            squeezed(text).contains(&squeezed(&described.beside(property)))
        })
    };
    !described.is_empty() && described.iter().all(says)
}

/// The reason why a schema cannot be compiled.
#[derive(Debug, thiserror::Error)]
enum CompileError {
    #[error("its unions refer to each other so often that one value would take over 10,000 checks")]
    Costly,
    #[error("a pattern is not a regular expression, or takes too much memory{0}")]
    Pattern(String),
    #[error("it has over {MAX_PATTERNS} patterns, or over {MAX_PATTERN_TEXT} bytes of them")]
    Patterns,
    #[error("arguments are always an object, and its root is of another type")]
    NotOfObjects,
    #[error("{0}")]
    Invalid(String),
}

fn within_limits(schema: &Value, cost: ValidationCost) -> Result<(), CompileError> {
    let patterns = patterns(schema);
    if patterns.len() > MAX_PATTERNS
        || patterns.iter().map(|pattern| pattern.len()).sum::<usize>() > MAX_PATTERN_TEXT
    {
        return Err(CompileError::Patterns);
    }
    if !cost.is_affordable() {
        return Err(CompileError::Costly);
    }
    Ok(())
}

fn compile(schema: &Value, cost: ValidationCost) -> Result<Compiled, CompileError> {
    within_limits(schema, cost)?;
    if !takes_objects(schema) {
        return Err(CompileError::NotOfObjects);
    }
    Compiled::of(schema).map_err(|error| {
        let at = error.instance_path().to_string();
        let place = if at.is_empty() { String::new() } else { format!(" at {at}") };
        match error.kind() {
            ValidationErrorKind::Format { format } if format == "regex" => CompileError::Pattern(place),
            _ => CompileError::Invalid(format!("{}{place}", error.masked())),
        }
    })
}

/// Returns true if clients that validate results, also formats in them, accept this one. A schema with patterns that need
/// backtracking accepts none.
pub fn result_fits(schema: &Value, result: &Value) -> bool {
    let cost = ValidationCost::of(schema);
    let is_checkable = within_limits(schema, cost).is_ok() && cost.affords(schema, result);
    let linear = PatternOptions::regex().size_limit(pattern_bytes(schema));
    let options = jsonschema::options().with_draft(draft(schema)).offline();
    let options = options.should_validate_formats(true).with_pattern_options(linear);
    is_checkable && options.build(schema).is_ok_and(|validator| validator.is_valid(result))
}

impl Compiled {
    fn of(schema: &Value) -> Result<Self, jsonschema::ValidationError<'static>> {
        let linear = PatternOptions::regex().size_limit(pattern_bytes(schema));
        match build(schema, linear) {
            Ok(validator) => Ok(Self { validator, of_longer: None }),
            Err(_) => {
                let (_, steps) = BACKTRACKING[0];
                Ok(Self { validator: backtracking(schema, steps)?, of_longer: Some(Default::default()) })
            }
        }
    }
}

/// An estimate of the memory of all compiled patterns of a schema, within their limits.
pub(super) fn pattern_work(schema: &Value) -> usize {
    let share = pattern_bytes(schema);
    let work =
        |pattern: &str| regex_syntax::parse(pattern).map_or(share, |parsed| size(&parsed).saturating_mul(8));
    patterns(schema).into_iter().map(|pattern| work(pattern).min(share)).sum()
}

/// Number of states of an expression whose repetitions are written out.
fn size(expression: &Hir) -> usize {
    match expression.kind() {
        HirKind::Empty | HirKind::Look(_) => 1,
        HirKind::Literal(literal) => literal.0.len(),
        HirKind::Class(Class::Unicode(class)) => class.ranges().len(),
        HirKind::Class(Class::Bytes(class)) => class.ranges().len(),
        HirKind::Capture(capture) => size(&capture.sub),
        HirKind::Repetition(repeated) => {
            let times = repeated.max.unwrap_or(repeated.min.saturating_add(1));
            size(&repeated.sub).saturating_mul(usize::try_from(times).unwrap_or(usize::MAX))
        }
        HirKind::Concat(parts) | HirKind::Alternation(parts) => {
            parts.iter().map(size).fold(0, usize::saturating_add)
        }
    }
}

/// Compiles a schema. Formats, encodings and media types of texts are hints: only the server knows what it takes.
fn build<E>(
    schema: &Value,
    patterns: PatternOptions<E>,
) -> Result<Validator, jsonschema::ValidationError<'static>> {
    jsonschema::options()
        .with_draft(draft(schema))
        .offline()
        .should_validate_formats(false)
        .without_content_encoding_support("base64")
        .without_content_media_type_support("application/json")
        .with_pattern_options(patterns)
        .build(schema)
}

fn backtracking(schema: &Value, steps: usize) -> Result<Validator, jsonschema::ValidationError<'static>> {
    let patterns = PatternOptions::fancy_regex().backtrack_limit(steps).size_limit(pattern_bytes(schema));
    build(schema, patterns)
}

/// The share of one pattern in the memory of all.
fn pattern_bytes(schema: &Value) -> usize {
    (MAX_PATTERN_BYTES / patterns(schema).len().max(1)).max(MIN_PATTERN_BYTES)
}

/// The patterns of a schema.
fn patterns(schema: &Value) -> HashSet<&str> {
    fn gather<'s>(schema: &'s Value, patterns: &mut HashSet<&'s str>) {
        match schema {
            Value::Object(keywords) => {
                patterns.extend(keywords.get("pattern").and_then(Value::as_str));
                let named = keywords.get("patternProperties").and_then(Value::as_object);
                patterns.extend(named.into_iter().flat_map(Map::keys).map(String::as_str));
                keywords.values().for_each(|inside| gather(inside, patterns));
            }
            Value::Array(items) => items.iter().for_each(|inside| gather(inside, patterns)),
            _ => {}
        }
    }
    let mut patterns = HashSet::new();
    gather(schema, &mut patterns);
    patterns
}

/// Bytes of the texts in a value; a short text counts as a few.
pub(super) fn text_bytes(value: &Value) -> usize {
    const LEAST: usize = 16;
    match value {
        Value::String(text) => text.len().max(LEAST),
        Value::Array(items) => items.iter().map(text_bytes).sum(),
        Value::Object(fields) => {
            fields.iter().map(|(name, field)| name.len().max(LEAST) + text_bytes(field)).sum()
        }
        _ => 0,
    }
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn patterns_of_javascript_are_read_and_others_are_left_out() {
        assert_eq!(portable(r"^[\w-\.]+@[\w-]{2,4}$"), r"^[\w\-\.]+@[\w\-]{2,4}$");
        assert_eq!(portable(r"[[a-z] {x} \{[^\d-x]"), r"[\[a-z] \{x} \{[^\d\-x]");
        let mut schema = json!({"properties": {
            "email": {"type": "string", "pattern": r"^[\w-\.]+$"},
            "end": {"type": "string", "pattern": r"^a\Z"},
            "pattern": {"type": "string"},
        }});
        let mut changed = Vec::new();
        repair_patterns(&mut schema, &mut String::new(), &mut changed);
        assert_eq!(schema["properties"]["email"]["pattern"], json!(r"^[\w\-\.]+$"));
        assert_eq!(schema["properties"]["end"], json!({"type": "string"}));
        assert_eq!(changed.len(), 1);
        assert_eq!(changed[0].0, "/properties/end/pattern");
    }
}
