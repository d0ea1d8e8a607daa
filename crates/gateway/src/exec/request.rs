//! The request of a call, read leniently: models forget `args`, wrap it, or use other names for the fields.

use serde_json::{Map, Value};

use super::select::read_select;
use crate::tool_error::{Result, ToolError};
use toolcrib_catalog::arguments::{FieldError, WRAPPERS, value_in_text};
use toolcrib_definition::clean_line;
use toolcrib_definition::finding::normalized;

#[derive(Clone, Debug, Default)]
pub struct CallRequest {
    /// The function that was called, for the trace.
    pub function: &'static str,
    /// The name by which the tool was called.
    pub op: String,
    /// The index of the tool in the caller's catalog, if the transport has found it already.
    pub tool: Option<usize>,
    /// The value of `args`; null where it is absent.
    pub args: Value,
    /// Unknown fields next to `args`, which may be arguments.
    pub extra_fields: Map<String, Value>,
    /// The key under which a write runs once.
    pub idempotency_key: Option<String>,
    /// Whether the call is a dry run; `None`: the tool decides.
    pub dry_run: Option<bool>,
    /// The receipt of the tool's doc.
    pub receipt: Option<String>,
    /// The calls that the function runs.
    pub limit: EffectLimit,
    /// The part of the result that the caller wants, as JMESPath; all of it when absent.
    pub select: Option<String>,
    /// Warnings about input that was corrected.
    pub warnings: Vec<String>,
    /// Whether the client gets the unchanged answer of an MCP server: it calls the tool by name.
    pub as_is: bool,
    /// The call that this one is a step of.
    pub step: Option<Box<StepOf>>,
}

/// The call that another call is a step of.
#[derive(Clone, Debug)]
pub struct StepOf {
    pub op: String,
    /// Its fingerprint, which holds for the keys of its steps.
    pub identity: String,
    /// Its secret arguments.
    pub hidden: Vec<Value>,
}

/// The calls that a function runs, by the effect of their tools.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EffectLimit {
    /// All calls.
    #[default]
    None,
    ReadsOnly,
    /// Writes; a read gets a warning.
    WritesOnly,
}

/// Bytes of the longest op. A longer text is no name, and no message repeats it.
const LONGEST_OP: usize = 1000;

/// Bytes of the longest idempotency key.
pub(super) const LONGEST_KEY: usize = 200;

/// Names of the fields.
const FIELDS: [&str; 7] = ["op", "args", "idempotency_key", "dry_run", "receipt", "select", "session"];

/// Other names that models use for `op`.
const OPS: [&str; 6] = ["operation", "tool", "tool_name", "tool_id", "name", "command"];

impl CallRequest {
    /// Reads the input of `function`.
    pub fn read(function: &'static str, limit: EffectLimit, given: Value) -> Result<Self> {
        let mut request = Self { function, limit, ..Self::default() };
        let mut fields = request.fields(given)?;
        request.rename(&mut fields);
        request.op = op_of(fields.shift_remove("op"))?;
        request.args = fields.shift_remove("args").unwrap_or_default();
        request.idempotency_key = key_of(fields.shift_remove("idempotency_key"))?;
        request.dry_run = match fields.shift_remove("dry_run") {
            None | Some(Value::Null) => None,
            Some(Value::Bool(yes)) => Some(yes),
            Some(Value::String(word)) if word == "true" || word == "false" => {
                request.warnings.push(format!("`dry_run` was text, read as {word}"));
                Some(word == "true")
            }
            Some(_) => return Err(of_another_type("dry_run", "true or false", "boolean")),
        };
        request.receipt = receipt_of(fields.shift_remove("receipt"))?;
        request.select = read_select(fields.shift_remove("select"))?;
        fields.shift_remove("session");
        request.extra_fields = fields;
        Ok(request)
    }

    /// The call of a tool by its own name. `tool` is its index in the catalog, if the transport has found it.
    pub fn by_name(
        function: &'static str,
        (name, tool): (&str, Option<usize>),
        args: Value,
        idempotency_key: Option<&str>,
    ) -> Result<Self> {
        let op = op_of(Some(name.into()))?;
        let key = key_of(idempotency_key.map(Value::from))?;
        Ok(Self { function, op, tool, args, idempotency_key: key, ..Self::default() })
    }

    /// The fields of the call: of the input, of JSON text, or of an object around them.
    fn fields(&mut self, given: Value) -> Result<Map<String, Value>> {
        let given = match given {
            Value::String(text) => match value_in_text(&text) {
                Ok(Value::Object(fields)) => {
                    self.warnings.push("the input was JSON text, and was decoded".into());
                    Value::Object(fields)
                }
                Ok(other) => other,
                Err(problem) => {
                    let message = format!("the input is text, and its contents {problem}");
                    let failure = ToolError::invalid(message, "send an object with `op` and `args`");
                    return Err(failure.field("", "this is text, and no object"));
                }
            },
            other => other,
        };
        let Value::Object(mut fields) = given else {
            if given.is_null() {
                return Ok(Map::new());
            }
            return Err(of_another_type("", "an object with `op` and `args`", "object"));
        };
        let is_wrapper = |name: &str| WRAPPERS.contains(&name) || name == self.function;
        if fields.len() == 1
            && let Some((name, inside)) = fields.iter_mut().next()
            && is_wrapper(name)
            && inside.get("op").is_some()
            && let Value::Object(inside) = inside.take()
        {
            self.warnings.push("the input was one level too deep, and was read there".into());
            return Ok(inside);
        }
        Ok(fields)
    }

    /// Renames misspelled fields, if no other field has the right name.
    fn rename(&mut self, fields: &mut Map<String, Value>) {
        if fields.keys().all(|name| FIELDS.contains(&name.as_str())) {
            return;
        }
        for own in FIELDS {
            let is_like =
                |name: &&String| !FIELDS.contains(&name.as_str()) && normalized(name) == normalized(own);
            self.take_misnamed(fields, own, is_like);
        }
        self.take_misnamed(fields, "op", |name| OPS.contains(&name.as_str()));
        self.take_misnamed(fields, "args", |name| WRAPPERS.contains(&name.as_str()));
    }

    fn take_misnamed(
        &mut self,
        fields: &mut Map<String, Value>,
        own: &str,
        is_it: impl Fn(&&String) -> bool,
    ) {
        if fields.contains_key(own) {
            return;
        }
        let mut like = fields.keys().filter(is_it);
        if let (Some(name), None) = (like.next().cloned(), like.next())
            && let Some(value) = fields.shift_remove(&name)
        {
            self.warnings.push(format!("`{}` was read as `{own}`", clean_line(&name)));
            fields.insert(own.into(), value);
        }
    }
}

fn op_of(given: Option<Value>) -> Result<String> {
    match given {
        Some(Value::String(op)) if !op.trim().is_empty() => Ok(op.trim().chars().take(LONGEST_OP).collect()),
        Some(Value::String(_)) | None | Some(Value::Null) => {
            let next = "send `op` and `args`; find the op with tool_search or tool_help";
            Err(ToolError::invalid("`op` is missing: which tool is to be called?", next)
                .with_field(FieldError::new("/op", "missing required property \"op\"").expecting("string")))
        }
        Some(_) => Err(of_another_type("op", "a string such as `onto.task.list`", "string")),
    }
}

/// Reads an idempotency key.
pub(super) fn key_of(given: Option<Value>) -> Result<Option<String>> {
    match given {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(key)) if !key.is_empty() && key.chars().count() <= LONGEST_KEY => Ok(Some(key)),
        Some(_) => {
            let expected = "a string of 1 to 200 characters";
            Err(of_another_type("idempotency_key", expected, expected))
        }
    }
}

/// Reads a receipt.
pub(super) fn receipt_of(given: Option<Value>) -> Result<Option<String>> {
    match given {
        Some(Value::String(receipt)) => Ok(Some(receipt.trim().to_string())),
        None | Some(Value::Null) => Ok(None),
        Some(_) => Err(of_another_type("receipt", "a string, as the doc gives it", "string")),
    }
}

fn of_another_type(field: &str, expected: &str, kind: &str) -> ToolError {
    let pointer = if field.is_empty() { String::new() } else { format!("/{field}") };
    let what = if field.is_empty() { "the input".into() } else { format!("`{field}`") };
    ToolError::invalid(format!("{what} should be {expected}"), format!("send {expected}"))
        .with_field(FieldError::new(pointer, format!("expected {expected}")).expecting(kind))
}
