//! Backends of tools. Base URLs, secrets and limits belong to the configuration, not here.

mod steps;

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
pub use steps::{REFERENCE_KEYS, Reference, ReferenceError, Step, StepsBackend};

/// Backend that runs a tool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum Backend {
    /// One HTTP request.
    Http(HttpBackend),
    /// A tool of another MCP server.
    Mcp {
        /// The server, as the configuration names it.
        server: String,
        /// The tool's name there.
        tool: String,
    },
    /// A local program, never through a shell.
    Command(CommandBackend),
    /// The same content for every call.
    Static {
        /// The content that is returned.
        content: Value,
    },
    /// A function of toolcrib itself.
    Builtin {
        /// Its name.
        function: String,
    },
    /// Calls of other ops, one after another.
    Steps(StepsBackend),
}

/// A local program. Its stdout is the result.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(extend("required" = ["argv"]))]
pub struct CommandBackend {
    /// The program and its arguments; `{name}` stands for an argument of the call, within one argument of the program.
    pub argv: Vec<String>,
    /// The content of its stdin.
    #[serde(skip_serializing_if = "Stdin::is_json")]
    pub stdin: Stdin,
    /// Variables that it gets, beside a few such as `PATH` and `HOME`; `${NAME}` stands for a variable of toolcrib's
    /// own environment.
    #[serde(skip_serializing_if = "IndexMap::is_empty")]
    pub env: IndexMap<String, String>,
    /// Longest time that it may run, in seconds. When absent, the limits of calls apply.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub timeout_seconds: Option<u64>,
    /// Most bytes that it may write; it is ended when it writes more. 1 MiB when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub max_bytes: Option<usize>,
}

/// Content of a program's stdin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Stdin {
    /// All arguments of the call, as one JSON object.
    #[default]
    Json,
    /// Nothing.
    None,
}

impl Stdin {
    fn is_json(&self) -> bool {
        *self == Stdin::Json
    }
}

/// One HTTP request, built from the arguments of a call.
///
/// Arguments named in `path` are filled in there. Arguments listed in `arguments` go to the location given there; all
/// others go into the query for GET, HEAD and DELETE, and into a JSON body otherwise.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(extend("required" = ["method", "path"]))]
pub struct HttpBackend {
    /// The method, in capitals.
    pub method: String,
    /// The path, an RFC 6570 template such as `/tasks/{task_id}`.
    pub path: String,
    /// The configured server of the path; the only one when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// Locations of arguments that neither the path nor the method decides, and their names there.
    #[serde(skip_serializing_if = "IndexMap::is_empty")]
    pub arguments: IndexMap<String, ArgumentPlace>,
    /// Media type of the body when it is not `application/json`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content_type: Option<String>,
    /// Whether a call without an argument of the body has no body; otherwise, the body is empty.
    #[serde(skip_serializing_if = "is_false")]
    pub optional_body: bool,
}

fn is_false(flag: &bool) -> bool {
    !flag
}

/// The variables of a path template, in order.
pub fn path_variables(path: &str) -> Vec<&str> {
    let names = path.split('{').skip(1).filter_map(|piece| Some(piece.split_once('}')?.0));
    names.filter(|name| !name.is_empty()).collect()
}

/// Location of one argument in a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ArgumentPlace {
    /// The part of the request.
    #[serde(rename = "in")]
    pub location: Location,
    /// The name there when it differs from the argument's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Form of lists and objects in a query or form. When absent, lists are repeated and objects are JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub style: Option<Style>,
    /// Whether each item of a list or object is written by itself; the default of OpenAPI for the style when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub explode: Option<bool>,
    /// Whether reserved characters such as `/` and `:` stay as they are. Those that would end a value are still encoded.
    #[serde(default, skip_serializing_if = "is_false")]
    pub allow_reserved: bool,
    /// Media type of its part of a multipart body; several, with commas, are those that a file may have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content_type: Option<String>,
}

/// Headers that no argument may set: the connection or the operator sets them.
pub const RESERVED_HEADERS: [&str; 13] = [
    "connection", "content-length", "content-type", "expect", "host", "keep-alive", "proxy-authorization",
    "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade", "cookie",
];

/// Form of lists and objects, in OpenAPI's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Style {
    /// `a=1&a=2`, or `a=1,2` without `explode`.
    Form,
    /// `a=1%202`.
    SpaceDelimited,
    /// `a=1|2`.
    PipeDelimited,
    /// `a=1%092`.
    TabDelimited,
    /// `a[b]=1`.
    DeepObject,
    /// As JSON text.
    Json,
    /// `a=1; a=2` in cookies, not encoded.
    Cookie,
}

/// A part of an HTTP request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Location {
    /// A variable of the path template.
    Path,
    /// The query string.
    Query,
    /// The whole query string.
    QueryString,
    /// A header.
    Header,
    /// A cookie.
    Cookie,
    /// A property of the JSON or form body.
    Body,
    /// The whole body.
    #[serde(rename = "whole-body")]
    WholeBody,
}
