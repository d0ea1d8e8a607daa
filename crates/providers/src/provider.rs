//! What the format of each provider takes. To add a provider, name its format here.

use super::format::{Format, Native};
use super::{anthropic, chat_completions, gemini, mcp, openai_responses};
use toolcrib_catalog::config::{Mode, Provider};

/// What the format of a provider takes.
pub trait ProviderFormat: Copy {
    /// Whether the provider can keep tools out of the context by itself.
    fn defers(self) -> bool;

    /// The usual name of the provider's API.
    fn title(self) -> &'static str;

    /// The id of a call as this provider takes it, in a result and where the call is replayed: Mistral refuses the
    /// ids of other providers.
    fn call_id(self, id: &str) -> String;

    /// Whether a result must name its call.
    fn needs_call_id(self) -> bool;

    /// The mode of a payload when this one is requested: another one where the provider lacks it.
    fn mode(self, wanted: Mode) -> Mode {
        match wanted {
            Mode::Native if !self.defers() => Mode::Hybrid,
            mode => mode,
        }
    }
}

impl ProviderFormat for Provider {
    fn defers(self) -> bool {
        format_of(self).native != Native::No
    }

    fn title(self) -> &'static str {
        format_of(self).title
    }

    fn call_id(self, id: &str) -> String {
        (format_of(self).call_id)(id)
    }

    fn needs_call_id(self) -> bool {
        format_of(self).needs_call_id
    }
}

/// The format of a provider.
pub(super) fn format_of(provider: Provider) -> &'static Format {
    match provider {
        Provider::OpenAi => &chat_completions::OPENAI,
        Provider::OpenAiResponses => &openai_responses::RESPONSES,
        Provider::Anthropic => &anthropic::ANTHROPIC,
        Provider::Gemini => &gemini::GEMINI,
        Provider::GeminiInteractions => &gemini::INTERACTIONS,
        Provider::Bedrock => &anthropic::BEDROCK,
        Provider::Ollama => &chat_completions::OLLAMA,
        Provider::Mistral => &chat_completions::MISTRAL,
        Provider::Cohere => &chat_completions::COHERE,
        Provider::Mcp => &mcp::MCP,
        Provider::LangChain => &chat_completions::LANGCHAIN,
    }
}
