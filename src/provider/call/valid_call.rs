//! A valid call, and its conversion to types of an application. Only validation makes one.

use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::catalog::Tool;
use crate::tool::NoSchemaMode;

/// A call with arguments that are valid by the canonical schema, or of a tool that may be called without a schema.
#[derive(Clone, Debug)]
pub struct ValidCall<'a> {
    tool: &'a Tool,
    arguments: Map<String, Value>,
    /// The arguments as text where a float would lose digits.
    exact: Option<Box<RawValue>>,
    unchecked: Option<NoSchemaMode>,
}

/// The error of valid arguments that do not fit the application's type.
#[derive(Debug, thiserror::Error)]
pub enum ArgumentsError {
    /// The type has other fields, or fields of other types, than the schema.
    #[error("the arguments of `{tool}` do not fit the type that they are read as: {source}")]
    Type {
        /// Canonical name.
        tool: String,
        /// The error of deserialization.
        source: serde_json::Error,
    },
    /// The application does not handle this tool.
    #[error("there is nothing to make of a call of `{0}`")]
    OtherTool(String),
}

/// A type that an application builds from valid calls: a struct for one tool, or an enum for all.
///
/// ```no_run
/// use toolcrib::provider::call::{ArgumentsError, FromCall, Parser, ValidCall};
/// use toolcrib::provider::{Provider, ToolResult};
/// use toolcrib::{catalog, config};
///
/// #[derive(serde::Deserialize)]
/// struct ReadFile {
///     path: String,
/// }
///
/// enum Action {
///     Read(ReadFile),
///     Ping,
/// }
///
/// impl FromCall for Action {
///     fn from_call(call: &ValidCall<'_>) -> Result<Self, ArgumentsError> {
///         match call.name() {
///             "read_file" => call.arguments_as().map(Action::Read),
///             "ping" => Ok(Action::Ping),
///             other => Err(ArgumentsError::OtherTool(other.into())),
///         }
///     }
/// }
///
/// let checked = catalog::open(config::read("tools.json".as_ref()));
/// let parser = Parser::new(&checked.catalog, Provider::Anthropic);
/// let body = std::fs::read_to_string("response.json")?;
/// for entry in parser.parse(&body)? {
///     let answer = match &entry.outcome {
///         Ok(call) => match call.build()? {
///             Action::Read(file) => std::fs::read_to_string(file.path)?.lines().count().to_string(),
///             Action::Ping => "pong".into(),
///         },
///         Err(error) => format!("{}; read {}", error.message, error.help_path),
///     };
///     let result = ToolResult::to(&parser, &entry, Some(answer.into()));
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait FromCall: Sized {
    /// Builds the value from a call.
    fn from_call(call: &ValidCall<'_>) -> Result<Self, ArgumentsError>;
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

    /// The tool.
    pub fn tool(&self) -> &'a Tool {
        self.tool
    }

    /// The tool's canonical name.
    pub fn name(&self) -> &'a str {
        &self.tool.name
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

    /// The arguments as a type of the application.
    pub fn arguments_as<T: DeserializeOwned>(&self) -> Result<T, ArgumentsError> {
        let read = match &self.exact {
            Some(exact) => serde_json::from_str(exact.get()),
            None => T::deserialize(&self.arguments),
        };
        read.map_err(|source| ArgumentsError::Type { tool: self.tool.name.clone(), source })
    }

    /// The call as a value of the application.
    pub fn build<T: FromCall>(&self) -> Result<T, ArgumentsError> {
        T::from_call(self)
    }

    /// The no-schema mode of an unvalidated call; `None` for a validated one.
    pub fn no_schema_mode(&self) -> Option<NoSchemaMode> {
        self.unchecked
    }

    /// The arguments with all digits, if a float would lose some.
    pub(super) fn exact(&self) -> Option<&RawValue> {
        self.exact.as_deref()
    }
}
