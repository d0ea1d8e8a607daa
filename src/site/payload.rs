//! A tool in the form that each provider gets, with its tokens.

use serde::Serialize;

use super::json::json_text;
use crate::catalog::{Profile, ProfileTool, Tool};
use crate::config::Surface;
use crate::provider::{self, PayloadRequest, Provider};
use crate::report::grouped;
use crate::tokens::Counter;
use crate::tool::{DescriptionMode, clean_line};

/// The payload for one provider.
#[derive(Debug, Serialize)]
pub(super) struct ProviderPayload {
    title: &'static str,
    /// The provider's name on the command line.
    word: &'static str,
    tokens: String,
    json: String,
    /// Parts of the tool that this provider cannot take.
    notes: Vec<String>,
    /// Reason why there is no payload.
    problem: Option<String>,
}

/// The entry of the tool in each provider's list of tools, bound in full.
pub(super) fn payloads(site: &super::Site<'_>, tool: &Tool) -> Vec<ProviderPayload> {
    let whole = ProfileTool { tool, mode: DescriptionMode::Full };
    let profile = Profile { name: None, description: None, tools: vec![whole], picked: false };
    let mut counter = Counter::default();
    Provider::ALL.iter().map(|&provider| bound(site, &profile, provider, &mut counter)).collect()
}

fn bound(
    site: &super::Site<'_>,
    profile: &Profile<'_>,
    provider: Provider,
    counter: &mut Counter,
) -> ProviderPayload {
    let request = PayloadRequest {
        catalog: site.catalog,
        profile,
        provider,
        surface: Surface::Full,
        options: site.catalog.config.payload,
        load: &[],
    };
    let mut bound = ProviderPayload {
        title: title(provider),
        word: provider.as_str(),
        tokens: String::new(),
        json: String::new(),
        notes: Vec::new(),
        problem: None,
    };
    match provider::payload(request) {
        Err(error) => bound.problem = Some(clean_line(&error.to_string())),
        Ok(payload) => {
            bound.notes = payload.findings.iter().map(|finding| clean_line(&finding.message)).collect();
            match payload.functions.first() {
                Some(function) => {
                    let entry = payload.entry(provider, function);
                    bound.tokens = grouped(counter.count(&entry.to_string()).o200k);
                    bound.json = json_text(&entry);
                }
                None => bound.problem = bound.notes.pop().or_else(|| Some("It cannot be bound.".into())),
            }
        }
    }
    bound
}

/// The usual name of a provider's API.
pub(super) fn title(provider: Provider) -> &'static str {
    match provider {
        Provider::OpenAi => "OpenAI chat completions",
        Provider::OpenAiResponses => "OpenAI responses",
        Provider::Anthropic => "Anthropic messages",
        Provider::Gemini => "Gemini generateContent",
        Provider::GeminiInteractions => "Gemini interactions",
        Provider::Bedrock => "Amazon Bedrock converse",
        Provider::Ollama => "Ollama",
        Provider::Mistral => "Mistral",
        Provider::Cohere => "Cohere",
        Provider::Mcp => "MCP tools/list",
        Provider::LangChain => "LangChain bind_tools",
    }
}
