//! Settings of payloads: the mode, the schema of a deferred tool, caching, and the repair of calls.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strum::{IntoStaticStr, VariantArray};

/// Recipient of a payload: an API, or a framework in front of one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[derive(IntoStaticStr, VariantArray)]
#[strum(serialize_all = "kebab-case")]
pub enum Provider {
    /// OpenAI Chat Completions, and compatible APIs.
    #[default]
    #[serde(rename = "openai")]
    #[strum(serialize = "openai")]
    OpenAi,
    /// OpenAI Responses.
    #[serde(rename = "openai-responses")]
    #[strum(serialize = "openai-responses")]
    OpenAiResponses,
    /// Anthropic Messages.
    Anthropic,
    /// Gemini `generateContent`.
    Gemini,
    /// Gemini Interactions.
    GeminiInteractions,
    /// Amazon Bedrock Converse.
    Bedrock,
    /// Ollama `/api/chat`.
    Ollama,
    /// Mistral chat completions.
    Mistral,
    /// Cohere Chat, version 2.
    Cohere,
    /// An MCP `tools/list` result.
    Mcp,
    /// The list of LangChain's `bind_tools`.
    #[serde(rename = "langchain")]
    #[strum(serialize = "langchain")]
    LangChain,
}

impl Provider {
    /// All providers.
    pub const ALL: &[Provider] = Self::VARIANTS;

    /// The word used on the command line.
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// The provider of this name.
    pub fn parse(name: &str) -> Option<Provider> {
        Provider::ALL.iter().copied().find(|provider| provider.as_str() == name)
    }
}

/// The way a profile's tools reach the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[derive(IntoStaticStr, VariantArray)]
#[strum(serialize_all = "lowercase")]
pub enum Mode {
    /// Every tool in full.
    Full,
    /// Full tools in full; deferred tools in short, and `read_tool_doc`.
    Hybrid,
    /// Deferral by the provider itself.
    Native,
    /// Full tools in full, and `tool_search`, `tool_help`, `tool_exec` and `tool_batch` for the others.
    Gateway,
    /// No tool is bound; the docs are in the workspace.
    Files,
}

impl Mode {
    /// All modes, from most to least bound.
    pub const ALL: &[Mode] = Self::VARIANTS;

    /// The word used on the command line and in files.
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// The mode that a setting names; `None` for `auto`.
    pub fn named(choice: impl Into<&'static str>) -> Option<Mode> {
        let name = choice.into();
        Mode::ALL.iter().copied().find(|mode| mode.as_str() == name)
    }
}

/// The mode of payloads by its name, or `auto`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[derive(IntoStaticStr, VariantArray)]
#[strum(serialize_all = "lowercase")]
pub enum ModeChoice {
    /// The mode in which a whole task is estimated to cost least.
    #[default]
    Auto,
    /// Every tool in full.
    Full,
    /// Full tools in full; deferred tools in short, and `read_tool_doc`.
    Hybrid,
    /// Deferral by the provider itself.
    Native,
    /// Full tools in full, and `tool_search`, `tool_help`, `tool_exec` and `tool_batch` for the others.
    Gateway,
    /// No tool is bound; the docs are in the workspace.
    Files,
}

/// The schema of a deferred tool, beside its short description.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[derive(IntoStaticStr, VariantArray)]
#[strum(serialize_all = "lowercase")]
pub enum Deferred {
    /// The smallest schema that the provider takes: about a sixth of a full binding.
    #[default]
    Stub,
    /// The tool's schema without descriptions, titles and examples: about half of a full binding, for models that do
    /// not read docs.
    Compact,
}

/// The one who answers a search for tools in the mode `native`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[derive(IntoStaticStr, VariantArray)]
#[strum(serialize_all = "lowercase")]
pub enum SearchBy {
    /// The provider, by words.
    #[default]
    Provider,
    /// The provider, by regular expressions, where it has such a search: `anthropic`. Elsewhere as `provider`.
    Regex,
    /// The caller, who passes the search on to `tool_search`.
    Client,
}

/// Settings of payloads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(deny_unknown_fields)]
pub struct Payload {
    /// The provider of every command and request that names no other; `mcp` for a client's configuration.
    pub provider: Provider,
    /// The mode when the command line names none.
    pub mode: ModeChoice,
    /// Tokens that the host's own context has in every request: system prompt, messages, other tools. `auto` weighs
    /// more requests against more tokens in each by it.
    pub host_tokens: usize,
    /// The schema of a deferred tool in the mode `hybrid`.
    pub deferred: Deferred,
    /// The one who answers a search for tools in the mode `native`.
    pub search: SearchBy,
    /// Whether tools are marked for the prompt cache. The default is yes for `anthropic`, and no for `bedrock`, where
    /// some models refuse the mark.
    #[serde(skip)]
    pub cache: Option<bool>,
    /// Whether the functions of the discovery protocol are bound too.
    #[serde(skip)]
    pub discovery: bool,
    /// The most tokens (o200k) of the section of the system prompt: lists of groups are cut to it.
    #[schemars(range(min = 1))]
    pub prompt_tokens: usize,
}

impl Default for Payload {
    fn default() -> Self {
        Self {
            provider: Provider::default(),
            mode: ModeChoice::Auto,
            host_tokens: 10_000,
            deferred: Deferred::default(),
            search: SearchBy::default(),
            cache: None,
            discovery: false,
            prompt_tokens: 500,
        }
    }
}

/// A model that may repair a call that `parse` reads, once.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(deny_unknown_fields, extend("required" = ["url", "model"]))]
pub struct Repair {
    /// The base of an OpenAI-compatible API, such as `http://localhost:8000/v1`.
    pub url: String,
    /// The model to ask.
    pub model: String,
    /// The environment variable that holds the API key, if one is needed.
    pub api_key_env: Option<String>,
    /// Longest wait for its answer, in seconds.
    pub timeout_seconds: u64,
}

impl Default for Repair {
    fn default() -> Self {
        Self { url: String::new(), model: String::new(), api_key_env: None, timeout_seconds: 20 }
    }
}
