//! Compiled schemas. Patterns that need backtracking, and patterns as a whole, have limits: schemas are untrusted input.

use std::sync::{Arc, LazyLock, Mutex, OnceLock};

use indexmap::IndexMap;
use jsonschema::error::ValidationErrorKind;
use jsonschema::{PatternOptions, ValidationError, Validator};
use serde_json::Value;

use super::patterns::{COSTLY, MAX_PATTERN_TEXT, MAX_PATTERNS, pattern_bytes, pattern_work, patterns};
use super::validation_cost::ValidationCost;
use toolcrib_definition::guard::locked;
use toolcrib_definition::schema::walk::draft;

/// Bytes of text in arguments, and the backtracking steps that a pattern may take on them. A step may read the whole text, so
/// long texts get few steps. Patterns that need no backtracking take linear time, and have no limit.
pub(super) const BACKTRACKING: [(usize, usize); 4] =
    [(1 << 10, 16 << 10), (16 << 10, 1 << 10), (256 << 10, 64), (usize::MAX, 16)];

/// A compiled schema.
#[derive(Debug)]
pub(super) struct Compiled {
    pub(super) validator: Validator,
    /// The validators of longer texts, if a pattern needs backtracking.
    pub(super) of_longer: Option<[OnceLock<Option<Validator>>; BACKTRACKING.len() - 1]>,
}

/// Whether a schema compiles.
pub(crate) fn is_compilable(schema: &Value) -> bool {
    let cost = ValidationCost::of(schema);
    within_limits(schema, cost).is_ok() && Compiled::of(schema).is_ok()
}

/// The reason why a schema cannot be compiled.
#[derive(Debug, thiserror::Error)]
pub(super) enum CompileError {
    #[error("its unions refer to each other so often that one value would take over 10,000 checks")]
    Costly,
    #[error("a pattern is not a regular expression, or takes too much memory{0}")]
    Pattern(String),
    #[error("it has over {MAX_PATTERNS} patterns, or over {MAX_PATTERN_TEXT} bytes of them")]
    Patterns,
    #[error("compiling its patterns takes too long, with those of the tools before it")]
    PatternWork,
    #[error("arguments are always an object, and its root is of another type")]
    NotOfObjects,
    #[error("{0}")]
    Invalid(String),
}

fn within_limits(schema: &Value, cost: ValidationCost) -> Result<(), CompileError> {
    let patterns = patterns(schema);
    let bytes: usize = patterns.iter().map(|pattern| pattern.len()).sum();
    if patterns.len() > MAX_PATTERNS || bytes > MAX_PATTERN_TEXT {
        return Err(CompileError::Patterns);
    }
    cost.is_affordable().then_some(()).ok_or(CompileError::Costly)
}

pub(super) fn compile(schema: &Value, cost: ValidationCost) -> Result<Arc<Compiled>, CompileError> {
    within_limits(schema, cost)?;
    if !takes_objects(schema) {
        return Err(CompileError::NotOfObjects);
    }
    Compiled::shared(schema).map_err(|error| {
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
    let linear = PatternOptions::regex().size_limit(pattern_bytes(patterns(schema).len()));
    let options = jsonschema::options().with_draft(draft(schema)).offline();
    let options = options.should_validate_formats(true).with_pattern_options(linear);
    is_checkable && options.build(schema).is_ok_and(|validator| validator.is_valid(result))
}

/// Whether a result contradicts its schema; false where that cannot be checked.
pub fn contradicts(schema: &Value, result: &Value) -> bool {
    let cost = ValidationCost::of(schema);
    let is_checkable = within_limits(schema, cost).is_ok() && cost.affords(schema, result);
    is_checkable && Compiled::shared(schema).is_ok_and(|compiled| !compiled.validator.is_valid(result))
}

/// Work of all compiled schemas that are kept.
const MAX_KEPT: usize = 128 << 20;

/// Compiled schemas by the hashes of their texts, with their work.
type Kept = IndexMap<blake3::Hash, (usize, Arc<Compiled>)>;

/// The costly ones of the process.
static KEPT: LazyLock<Mutex<Kept>> = LazyLock::new(Mutex::default);

impl Compiled {
    /// The same; a costly schema is compiled once a process.
    pub(super) fn shared(schema: &Value) -> Result<Arc<Self>, ValidationError<'static>> {
        let work = pattern_work(schema);
        if work < COSTLY {
            return Self::of(schema).map(Arc::new);
        }
        let hash = blake3::hash(schema.to_string().as_bytes());
        if let Some((_, known)) = locked(&KEPT).get(&hash) {
            return Ok(Arc::clone(known));
        }
        let compiled = Arc::new(Self::of(schema)?);
        let mut kept = locked(&KEPT);
        kept.insert(hash, (work, Arc::clone(&compiled)));
        while kept.values().map(|(work, _)| work).sum::<usize>() > MAX_KEPT {
            kept.shift_remove_index(0);
        }
        Ok(compiled)
    }

    pub(super) fn of(schema: &Value) -> Result<Self, ValidationError<'static>> {
        let linear = PatternOptions::regex().size_limit(pattern_bytes(patterns(schema).len()));
        match build(schema, linear) {
            Ok(validator) => Ok(Self { validator, of_longer: None }),
            Err(_) => {
                let (_, steps) = BACKTRACKING[0];
                Ok(Self { validator: backtracking(schema, steps)?, of_longer: Some(Default::default()) })
            }
        }
    }
}

/// Compiles a schema. Formats, encodings and media types of texts are hints: only the server knows what it takes.
fn build<E>(schema: &Value, patterns: PatternOptions<E>) -> Result<Validator, ValidationError<'static>> {
    jsonschema::options()
        .with_draft(draft(schema))
        .offline()
        .should_validate_formats(false)
        .without_content_encoding_support("base64")
        .without_content_media_type_support("application/json")
        .with_pattern_options(patterns)
        .build(schema)
}

pub(super) fn backtracking(schema: &Value, steps: usize) -> Result<Validator, ValidationError<'static>> {
    let patterns = PatternOptions::fancy_regex()
        .backtrack_limit(steps)
        .size_limit(pattern_bytes(patterns(schema).len()));
    build(schema, patterns)
}

fn takes_objects(schema: &Value) -> bool {
    match schema.get("type") {
        None => !matches!(schema, Value::Bool(false)),
        Some(Value::String(word)) => word == "object",
        Some(Value::Array(words)) => words.iter().any(|word| word == "object"),
        Some(_) => false,
    }
}
