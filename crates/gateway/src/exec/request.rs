//! The request of a call, read leniently: models forget `args`, wrap it, use other names for the fields, or put them among
//! the arguments.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use http::HeaderMap;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::results::read_select;
use crate::state::Session;
use crate::tool_error::ToolError;
use toolcrib_catalog::Tool;
use toolcrib_catalog::arguments::{FieldError, WRAPPERS, make_object};
use toolcrib_definition::finding::{SlipPolicy, from_json, normalized};
use toolcrib_definition::{Effect, clean_line};
use toolcrib_front::credentials::SecretToken;
use toolcrib_front::mcp::RequestOrigin;

/// The request of a call.
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
    /// JSON Pointers to the fields of the result that the caller wants; empty for all of it.
    pub select: Vec<String>,
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
    /// Its op.
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
    /// Reads only.
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
    pub fn read(function: &'static str, limit: EffectLimit, given: Value) -> Result<Self, ToolError> {
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
    ) -> Result<Self, ToolError> {
        let op = op_of(Some(name.into()))?;
        let key = key_of(idempotency_key.map(Value::from))?;
        Ok(Self { function, op, tool, args, idempotency_key: key, ..Self::default() })
    }

    /// The fields of the call: of the input, of JSON text, or of an object around them.
    fn fields(&mut self, given: Value) -> Result<Map<String, Value>, ToolError> {
        let given = match given {
            Value::String(text) => match from_json(&text) {
                Ok(Value::Object(fields)) => {
                    self.warnings.push("the input was JSON text, and was decoded".into());
                    Value::Object(fields)
                }
                Err(error) if error.is_data() => {
                    let failure = ToolError::invalid(
                        format!("the input is JSON text in which {error}"),
                        "send it once",
                    );
                    return Err(failure.field("", &error.to_string()));
                }
                _ => Value::String(text),
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

fn op_of(given: Option<Value>) -> Result<String, ToolError> {
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
pub(super) fn key_of(given: Option<Value>) -> Result<Option<String>, ToolError> {
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
pub(super) fn receipt_of(given: Option<Value>) -> Result<Option<String>, ToolError> {
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

/// A field of the call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CallField {
    DryRun,
    Key,
    Receipt,
}

/// Most arguments that are read as fields of the call.
const MAX_TAKEN: usize = 20;
/// Levels of a schema that are searched for a name: schemas are untrusted, and may nest without an end.
const MAX_DEPTH: usize = 32;

/// Moves the fields of the call out of its arguments, and makes these an object.
pub(super) fn separate_fields(request: &mut CallRequest, tool: &Tool) -> Result<(), ToolError> {
    let schema = tool.parameters.schema();
    let mut beside = Value::Object(std::mem::take(&mut request.extra_fields));
    let taken = take_from_arguments(request, schema, &mut beside);
    if let Value::Object(rest) = beside {
        request.extra_fields = rest;
    }
    let is_all = request.extra_fields.is_empty();
    if let Err(invalid) = make_object(tool, &mut request.args, is_all, &mut request.warnings) {
        let mut given = request.args.clone();
        take_from_arguments(request, schema, &mut given)?;
        return Err(invalid.into());
    }
    taken?;
    take_from_own_arguments(request, schema)
}

/// Moves the fields of the call out of its arguments.
pub(super) fn take_from_own_arguments(request: &mut CallRequest, schema: &Value) -> Result<(), ToolError> {
    let mut given = std::mem::take(&mut request.args);
    let taken = take_from_arguments(request, schema, &mut given);
    request.args = given;
    taken
}

/// Moves the fields of the call out of `arguments`, unless the schema has properties of these names.
fn take_from_arguments(
    call: &mut CallRequest,
    schema: &Value,
    arguments: &mut Value,
) -> Result<(), ToolError> {
    let Some(fields) = arguments.as_object_mut() else {
        if let Value::String(text) = arguments
            && normalized(text).contains("dryruntrue")
        {
            call.dry_run = Some(true);
        }
        return Ok(());
    };
    for (own, name, value) in taken(schema, fields) {
        let known = clean_line(&name);
        call.warnings.push(format!("`{known}` stood among the arguments, read as the field of the call"));
        match own {
            CallField::DryRun => call.dry_run = Some(is_yes(&value) || call.dry_run == Some(true)),
            CallField::Key => call.idempotency_key = call.idempotency_key.take().or(key_of(Some(value))?),
            CallField::Receipt => call.receipt = call.receipt.take().or(receipt_of(Some(value))?),
        }
    }
    if fields.len() == 1
        && let Some((name, inside)) = fields.iter_mut().next()
        && WRAPPERS.contains(&name.as_str())
        && inside.is_object()
        && !has_property(schema, name, 0)
    {
        return take_from_arguments(call, schema, inside);
    }
    Ok(())
}

/// Reads `dry_run` at any place and in any spelling, for a call whose tool is not known.
pub(super) fn take_dry_run(call: &mut CallRequest) {
    let mut arguments = call.args.clone();
    let asks = |fields: &Map<String, Value>| {
        fields.iter().any(|(name, value)| call_field(name, value) == Some(CallField::DryRun) && is_yes(value))
    };
    let warned = call.warnings.len();
    // An unreadable field does no harm here: nothing is run.
    let _ = take_from_arguments(call, &Value::Null, &mut arguments);
    call.warnings.truncate(warned);
    if asks(&call.extra_fields) {
        call.dry_run = Some(true);
    }
}

/// Arguments without the fields of the call.
pub(super) fn without(schema: &Value, mut arguments: Value) -> Value {
    if let Some(fields) = arguments.as_object_mut() {
        taken(schema, fields);
    }
    arguments
}

fn taken(schema: &Value, fields: &mut Map<String, Value>) -> Vec<(CallField, String, Value)> {
    let plain = schema.get("properties").and_then(Value::as_object);
    let found: Vec<(CallField, String)> = fields
        .iter()
        .filter(|(name, _)| plain.is_none_or(|known| !known.contains_key(*name)))
        .filter_map(|(name, value)| Some((call_field(name, value)?, name.clone())))
        .filter(|(_, name)| !has_property(schema, name, 0))
        .take(MAX_TAKEN)
        .collect();
    found
        .into_iter()
        .filter_map(|(own, name)| fields.shift_remove(&name).map(|value| (own, name, value)))
        .collect()
}

/// The field of the call that a name means. A misspelling counts only for a dry run, which does no harm.
fn call_field(name: &str, value: &Value) -> Option<CallField> {
    if name.len() > 40 {
        return None;
    }
    let squashed = normalized(name);
    match squashed.as_str() {
        "dryrun" => Some(CallField::DryRun),
        "idempotencykey" => Some(CallField::Key),
        "receipt" => Some(CallField::Receipt),
        slip if is_yes(value) && SlipPolicy::ARGUMENT.is_slip(slip, "dryrun") => Some(CallField::DryRun),
        _ => None,
    }
}

fn is_yes(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => false,
        Value::String(word) => !matches!(word.trim().to_lowercase().as_str(), "" | "false" | "no" | "0"),
        Value::Number(number) => number.as_f64() != Some(0.0),
        _ => true,
    }
}

/// Whether a schema has a property of this name; case and separators do not matter.
pub fn has_property(schema: &Value, name: &str, depth: usize) -> bool {
    if depth > MAX_DEPTH {
        return false;
    }
    match schema {
        Value::Object(keywords) => keywords.iter().any(|(keyword, rule)| {
            let names = rule.as_object().filter(|_| keyword == "properties");
            names.is_some_and(|names| names.keys().any(|known| normalized(known) == normalized(name)))
                || has_property(rule, name, depth + 1)
        }),
        Value::Array(items) => items.iter().any(|item| has_property(item, name, depth + 1)),
        _ => false,
    }
}

// The caller of a call.

/// A caller, after authentication. Only who it is can be stored, and not its request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Caller {
    /// The name in traces; empty where no tokens are configured.
    pub name: Arc<str>,
    /// The roles of the token, sorted; `None` where no tokens are configured, which means all roles.
    pub roles: Option<Vec<String>>,
    /// The profiles of the token, the first one for requests that choose none; `None` for every profile.
    pub profiles: Option<Arc<[String]>>,
    /// The strongest effect of its calls; the configuration may allow less.
    pub allow: Effect,
    /// The name of the session.
    #[serde(skip)]
    pub session: Option<Arc<str>>,
    /// Whether the call itself names the session, and not its transport.
    #[serde(skip)]
    pub names_session: bool,
    /// Whether it is the client that has started this process for its person.
    #[serde(skip)]
    pub is_own_client: bool,
    /// Whether its client has asked its person about this call, by the annotations of what it lists.
    #[serde(skip)]
    pub asks_its_person: bool,
    /// Headers of the request that are sent to backends.
    #[serde(skip)]
    pub headers: HeaderMap,
    /// The bearer token of the request, where some server is called with it; never one
    /// of our own tokens.
    #[serde(skip)]
    pub token: Option<SecretToken>,
    /// The request of an MCP client, for live servers.
    #[serde(skip)]
    pub origin: Option<Arc<RequestOrigin>>,
    /// Whether this request was refused for a right that its token lacks; `None` where no token could have more.
    #[serde(skip)]
    pub lacked_right: Option<LackedRight>,
}

/// A note for the transport of a request: it was refused as a whole, for a right that another token of the caller could have.
#[derive(Clone, Debug, Default)]
pub struct LackedRight(Arc<AtomicBool>);

impl LackedRight {
    /// Notes whether a right is lacking.
    pub fn set(&self, is_lacking: bool) {
        self.0.store(is_lacking, Ordering::Relaxed);
    }

    /// Whether a right is lacking.
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

impl PartialEq for LackedRight {
    /// It is about a request, and says nothing of the caller.
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for LackedRight {}

impl Default for Caller {
    fn default() -> Self {
        Self {
            name: Arc::from(""),
            roles: None,
            profiles: None,
            allow: Effect::Destructive,
            session: None,
            names_session: false,
            is_own_client: false,
            asks_its_person: false,
            headers: HeaderMap::new(),
            token: None,
            origin: None,
            lacked_right: None,
        }
    }
}

/// The role that has the rights of all roles.
pub const EVERY_ROLE: &str = "*";

impl Caller {
    /// Whether the configuration hides no tool from this caller. Only such a caller gets the findings of the catalog, since
    /// findings name tools. The catalog's content does not matter: it must not show whether hidden tools exist.
    pub fn sees_everything(&self) -> bool {
        self.profiles.is_none()
            && self.roles.as_ref().is_none_or(|roles| roles.iter().any(|role| role == EVERY_ROLE))
    }

    /// Whether the token is for this profile; `None` is the whole catalog.
    pub fn may_use(&self, profile: Option<&str>) -> bool {
        let own = self.profiles.as_ref();
        own.is_none_or(|own| profile.is_some_and(|profile| own.iter().any(|own| own == profile)))
    }

    /// Notes whether a right is lacking, where another token could have it.
    pub fn note_lacked_right(&self, is_lacking: bool) {
        if let Some(note) = &self.lacked_right {
            note.set(is_lacking);
        }
    }

    /// The session; it belongs to this caller alone.
    pub fn session(&self) -> Option<Session> {
        let id = Arc::clone(self.session.as_ref()?);
        Some(Session { caller: Arc::clone(&self.name), id })
    }
}
