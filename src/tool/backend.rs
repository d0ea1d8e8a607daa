//! What runs a tool (API-2). Base URLs, secrets and limits belong to the configuration, not here.

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What runs a tool.
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
    Command {
        /// The program and its arguments; `{name}` stands for an argument of the call.
        argv: Vec<String>,
    },
    /// The same content for every call.
    Static {
        /// What is returned.
        content: Value,
    },
    /// A function of toolcrib itself.
    Builtin {
        /// Its name.
        function: String,
    },
}

/// One HTTP request, built from the arguments of a call.
///
/// Arguments named in `path` go there. Those listed in `arguments` go where that says; all others go
/// into the query for GET, HEAD and DELETE, and into a JSON body otherwise.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(extend("required" = ["method", "path"]))]
pub struct HttpBackend {
    /// The method, in capitals.
    pub method: String,
    /// The path, an RFC 6570 template such as `/tasks/{task_id}`.
    pub path: String,
    /// Which configured server the path belongs to; the only one when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// Where arguments go that neither the path nor the method decides, and what they are called there.
    #[serde(skip_serializing_if = "IndexMap::is_empty")]
    pub arguments: IndexMap<String, ArgumentPlace>,
    /// Media type of the body when it is not `application/json`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content_type: Option<String>,
}

/// Where one argument goes in a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ArgumentPlace {
    /// The part of the request.
    #[serde(rename = "in")]
    pub location: Location,
    /// The name there when it differs from the argument's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

/// A part of an HTTP request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Location {
    /// A variable of the path template.
    Path,
    /// The query string.
    Query,
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
