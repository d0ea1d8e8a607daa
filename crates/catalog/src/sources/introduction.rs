//! What a live server says of itself, in the fields of MCP's `initialize` result.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// What a live server says of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Introduction {
    /// Who it is.
    pub server_info: ServerInfo,
    /// Its extensions of the protocol, each with its settings.
    #[serde(default)]
    pub extensions: Map<String, Value>,
    /// Its words for models.
    pub instructions: Option<String>,
}

/// Who a server is: MCP's `Implementation`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ServerInfo {
    /// The name that it gives itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub website_url: Option<String>,
    /// Its pictures, as it wrote them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub icons: Vec<Value>,
}
