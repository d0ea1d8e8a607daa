//! One call of a response: valid, or with an error, which a model reads to correct its call. Only validation makes a
//! valid call.

use std::borrow::Cow;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde::ser::{SerializeMap, Serializer};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use toolcrib_catalog::Tool;
use toolcrib_catalog::arguments::{FieldError, Repair};
use toolcrib_definition::NoSchemaMode;

/// One call of a response: valid, or with an error for the model.
#[derive(Clone, Debug)]
pub struct CallEntry<'a> {
    /// The canonical name, or what the model wrote if no tool has that name; `None` if it wrote no name.
    pub name: Option<Cow<'a, str>>,
    /// The id that the result refers to.
    pub call_id: Option<String>,
    /// The namespace that must be sent back with the call.
    pub namespace: Option<String>,
    /// The thought signature that must be sent back with the call.
    pub signature: Option<String>,
    /// Whether this is the provider's own search for tools.
    pub search: bool,
    /// The call, or its error.
    pub outcome: Result<ValidCall<'a>, CallError>,
    /// Repairs of the arguments. Field errors refer to the repaired arguments.
    pub repaired: Vec<Repair>,
    /// The tool, if the name means one.
    pub(super) tool: Option<&'a Tool>,
}

impl<'a> CallEntry<'a> {
    /// The called tool; `None` when no tool has this name.
    pub fn tool(&self) -> Option<&'a Tool> {
        self.tool
    }
}

impl Serialize for CallEntry<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("name", &self.name)?;
        map.serialize_entry("call_id", &self.call_id)?;
        match &self.outcome {
            Ok(call) => {
                match call.exact() {
                    Some(exact) => map.serialize_entry("args", exact)?,
                    None => map.serialize_entry("args", call.arguments())?,
                }
                if let Some(mode) = call.no_schema_mode() {
                    map.serialize_entry("validated", &false)?;
                    map.serialize_entry("no_schema_mode", &mode)?;
                }
            }
            Err(error) => map.serialize_entry("error", error)?,
        }
        if !self.repaired.is_empty() {
            map.serialize_entry("repaired", &self.repaired)?;
        }
        if let Some(namespace) = &self.namespace {
            map.serialize_entry("namespace", namespace)?;
        }
        if let Some(signature) = &self.signature {
            map.serialize_entry("thought_signature", signature)?;
        }
        if self.search {
            map.serialize_entry("search", &true)?;
        }
        map.end()
    }
}

/// A call with arguments that are valid by the canonical schema, or of a tool that may be called without a schema.
///
/// ```no_run
/// use toolcrib::providers::call::Parser;
/// use toolcrib::providers::{Provider, ToolResult};
/// use toolcrib::{catalog, config};
///
/// #[derive(serde::Deserialize)]
/// struct ReadFile {
///     path: String,
/// }
///
/// let checked = catalog::open(config::read("tools.json".as_ref()));
/// let parser = Parser::new(&checked.catalog, Provider::Anthropic);
/// let body = std::fs::read_to_string("response.json")?;
/// for entry in parser.parse(&body)? {
///     let answer = match &entry.outcome {
///         Ok(call) if call.name() == "read_file" => {
///             std::fs::read_to_string(call.arguments_as::<ReadFile>()?.path)?
///         }
///         Ok(_) => "pong".into(),
///         Err(error) => format!("{}; read {}", error.message, error.help_path),
///     };
///     let result = ToolResult::to(&parser, &entry, Some(answer.into()));
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct ValidCall<'a> {
    tool: &'a Tool,
    arguments: Map<String, Value>,
    /// The arguments as text where a float would lose digits.
    exact: Option<Box<RawValue>>,
    unchecked: Option<NoSchemaMode>,
}

impl<'a> ValidCall<'a> {
    /// A call, after validation; `exact` is the same arguments with all digits.
    pub(super) fn new(
        tool: &'a Tool,
        arguments: Map<String, Value>,
        exact: Option<String>,
        unchecked: Option<NoSchemaMode>,
    ) -> Self {
        Self { tool, arguments, exact: exact.and_then(|text| RawValue::from_string(text).ok()), unchecked }
    }

    pub fn tool(&self) -> &'a Tool {
        self.tool
    }

    /// The tool's canonical name.
    pub fn name(&self) -> &'a str {
        &self.tool.names.canonical
    }

    /// The arguments. A number that a float cannot hold is the nearest one; [`ValidCall::json`] has all its digits.
    pub fn arguments(&self) -> &Map<String, Value> {
        &self.arguments
    }

    /// The arguments as JSON text, every number as it was written.
    pub fn json(&self) -> String {
        match &self.exact {
            Some(exact) => exact.get().to_string(),
            None => serde_json::to_string(&self.arguments).unwrap_or_default(),
        }
    }

    /// The arguments as a type of the application; an error where it has other fields, or fields of other types, than the
    /// schema.
    pub fn arguments_as<T: DeserializeOwned>(&self) -> serde_json::Result<T> {
        match &self.exact {
            Some(exact) => serde_json::from_str(exact.get()),
            None => T::deserialize(&self.arguments),
        }
    }

    /// The no-schema mode of an unvalidated call; `None` for a validated one.
    pub fn no_schema_mode(&self) -> Option<NoSchemaMode> {
        self.unchecked
    }

    /// The arguments with all digits, if a float would lose some.
    fn exact(&self) -> Option<&RawValue> {
        self.exact.as_deref()
    }
}

/// The kind of a call's error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CallErrorCode {
    /// The arguments are no JSON, or the provider says that the call is malformed.
    Parse,
    /// The arguments do not fit the schema, or the tool cannot be called.
    Schema,
    /// No tool has this name.
    UnknownTool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CallError {
    /// Its kind.
    pub code: CallErrorCode,
    /// The message, on one line.
    pub message: String,
    /// Errors of single fields.
    pub field_errors: Vec<FieldError>,
    /// The path for `tool_help`.
    pub help_path: String,
    /// Near names of tools, best first.
    pub nearest: Vec<String>,
    /// The outcome of a repair by a model, if one was tried.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repair: Option<String>,
    /// The arguments as the model wrote them.
    #[serde(skip)]
    pub given: String,
    /// Whether a model that rewrites the arguments could lose nothing.
    #[serde(skip)]
    pub(super) may_be_rewritten: bool,
}

impl CallError {
    /// An error with this message; `help_path` is the path for `tool_help`.
    pub(super) fn new(code: CallErrorCode, message: impl Into<String>, help_path: &str) -> Self {
        Self {
            code,
            message: message.into(),
            field_errors: Vec::new(),
            help_path: help_path.into(),
            nearest: Vec::new(),
            repair: None,
            given: String::new(),
            may_be_rewritten: true,
        }
    }
}
