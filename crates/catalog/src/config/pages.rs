//! Settings of what people and models read: short descriptions, categories, and the pages of the docs.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The cap on short descriptions; the tighter limit counts.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(deny_unknown_fields)]
pub struct ShortDescription {
    /// In characters.
    pub max_chars: usize,
    /// In tokens (o200k).
    pub max_tokens: usize,
}

impl Default for ShortDescription {
    fn default() -> Self {
        Self { max_chars: 120, max_tokens: 30 }
    }
}

/// Summary and tags of a category.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(deny_unknown_fields, extend("required" = ["path"]))]
pub struct Category {
    /// Its path, such as `Storage/Buckets`.
    pub path: String,
    /// The purpose of its tools, in one line. Derived when absent.
    pub summary: Option<String>,
    /// Labels to filter by. The most frequent tags of its tools when absent.
    pub tags: Vec<String>,
}

/// Settings of the documentation.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(deny_unknown_fields)]
pub struct Render {
    /// A folder of templates that replace the built-in ones one by one, relative to the configuration.
    pub templates: Option<PathBuf>,
    /// Most tools that the index lists one by one; above that it lists category pages.
    pub index_tools: usize,
    /// The size that no index page exceeds, in tokens.
    pub page_tokens: usize,
}

impl Default for Render {
    fn default() -> Self {
        Self { templates: None, index_tools: 150, page_tokens: 1400 }
    }
}
