//! Every provider's format: the smallest payload out, checked calls in, results out.
//!
//! 1. [`function`] decides which functions a mode binds, and to which extent. It gives each a name that the provider
//!    takes, and [`view`] a schema that the provider takes.
//! 2. A [`mod@format`] is the whole of one provider: rules, payload, calls, results. One file has those of one family.
//! 3. [`call`] reads the arguments of calls, validates them, and explains errors.

mod anthropic;
pub mod call;
mod chat_completions;
mod format;
mod function;
mod gemini;
mod mcp;
mod openai_responses;
pub mod report;
mod results;
mod view;

use serde_json::Value;

pub use format::{BoundFunction, Extent, FoundTool, RequestHeader, ToolResult};
use format::{BoundFunctions, Cache, Format, Native};
pub use function::READ_TOOL_DOC;
pub use results::{AnsweredCalls, AnswersError, result_messages};
pub use toolcrib_catalog::config::Provider;

use toolcrib_catalog::config::{self, Mode, SearchBy};
use toolcrib_catalog::{Catalog, Profile, functions};
use toolcrib_definition::finding::Finding;

/// What the format of a provider takes.
pub trait ProviderFormat: Copy {
    /// Whether the provider can keep tools out of the context by itself.
    fn defers(self) -> bool;

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

    fn call_id(self, id: &str) -> String {
        if self == Provider::Mistral { chat_completions::short_id(id) } else { id.into() }
    }

    fn needs_call_id(self) -> bool {
        !matches!(
            self,
            Provider::OpenAi | Provider::Gemini | Provider::Ollama | Provider::Mistral | Provider::Mcp
        )
    }
}

fn format_of(provider: Provider) -> &'static Format {
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

/// Request for a payload.
#[derive(Clone, Copy, Debug)]
pub struct PayloadRequest<'a> {
    /// The catalog.
    pub catalog: &'a Catalog,
    /// The tools with their description modes.
    pub profile: &'a Profile<'a>,
    /// The provider.
    pub provider: Provider,
    /// The way the tools reach the model.
    pub mode: Mode,
    /// Settings of payloads.
    pub options: config::Payload,
}

impl PayloadRequest<'_> {
    /// Whether the provider takes as many tools as a mode binds.
    pub fn takes(&self, mode: Mode) -> bool {
        let limit = format_of(self.provider).max_entries;
        limit.is_none_or(|limit| is_within(limit, self.provider, mode, self.profile))
    }
}

/// A payload for a provider.
#[derive(Debug)]
pub struct Payload<'a> {
    /// The mode of the payload: another one than requested where the provider lacks that.
    pub mode: Mode,
    /// The fragment of the request body.
    pub body: Value,
    /// The functions in it, in order.
    pub functions: Vec<BoundFunction<'a>>,
    /// Parts of tools that this provider cannot take.
    pub findings: Vec<Finding>,
    /// Headers that the provider needs for what was bound.
    pub headers: Vec<RequestHeader>,
    /// Notes for a person, each on one line.
    pub notes: Vec<String>,
}

/// Makes a payload. The same input gives the same bytes; a tool that cannot be bound is left out with a finding.
pub fn payload<'a>(request: PayloadRequest<'a>) -> Result<Payload<'a>, PayloadError> {
    let payload = payload_of_any_size(request)?;
    payload.check_count(&request)?;
    Ok(payload)
}

/// Makes a payload even if the provider takes fewer tools: for counting, never for sending.
pub fn payload_of_any_size<'a>(request: PayloadRequest<'a>) -> Result<Payload<'a>, PayloadError> {
    let format = format_of(request.provider);
    let mode = request.provider.mode(request.mode);
    let chosen = function::select_tools(&request, mode);
    let mut findings = Vec::new();
    let functions = function::view(&chosen, &request, &mut findings)?;
    let cache = match format.cache {
        Cache::Never => false,
        Cache::OnByDefault => request.options.cache.unwrap_or(true),
        Cache::OffByDefault => request.options.cache.unwrap_or(false),
    };
    let defers = functions.iter().any(|function| function.deferred);
    let notes = notes(&request, mode, defers);
    let bound = BoundFunctions {
        functions: &functions,
        search: defers.then_some(request.options.search),
        cache,
        max_entries: format.max_entries,
    };
    // The provider's own search takes a name too.
    if let Some(own) = bound.search.and_then(|by| (format.own_search)(by))
        && let Some(function) = functions.iter().find(|function| function.name == own)
    {
        let provider = request.provider;
        let first = function.tool.name.clone();
        return Err(PayloadError::Clash {
            provider,
            name: own.into(),
            first,
            second: "its own search for tools".into(),
        });
    }
    let body = (format.body)(&bound);
    let headers = (format.header)(&bound).into_iter().collect();
    request.catalog.configure(&mut findings);
    Ok(Payload { mode, body, functions, findings, headers, notes })
}

/// Notes for a person: the mode is another one, a step is left to the caller, or a setting has no effect.
fn notes(request: &PayloadRequest<'_>, mode: Mode, defers: bool) -> Vec<String> {
    let provider = request.provider.as_str();
    let format = format_of(request.provider);
    let is_other = mode != request.mode;
    let lacks_regex =
        request.options.search == SearchBy::Regex && (format.own_search)(SearchBy::Regex).is_none();
    let notes = [
        is_other
            .then(|| format!("{provider} cannot defer tools by itself; this is the mode {}", mode.as_str())),
        if defers { format.deferral_note.map(str::to_string) } else { None },
        (defers && lacks_regex)
            .then(|| format!("{provider} has no search by regular expressions; this is its own")),
    ];
    notes.into_iter().flatten().collect()
}

impl Payload<'_> {
    /// Refuses more tools than the provider takes.
    pub fn check_count(&self, request: &PayloadRequest<'_>) -> Result<(), PayloadError> {
        let format = format_of(request.provider);
        let entries = self.body.pointer(format.entries).and_then(Value::as_array);
        let count = entries.map_or(0, Vec::len);
        match format.max_entries {
            Some(limit) if count > limit => {
                let fits = fits(request, limit);
                Err(PayloadError::TooMany { provider: request.provider, mode: self.mode, limit, count, fits })
            }
            _ => Ok(()),
        }
    }

    /// One function as it stands in the body; for counting.
    pub fn entry(&self, provider: Provider, function: &BoundFunction<'_>) -> Value {
        (format_of(provider).function)(function)
    }
}

// Errors of payloads, found before anything is sent.

/// Reason why there is no payload. A single tool that cannot be bound is a finding instead.
#[derive(Debug, thiserror::Error)]
pub enum PayloadError {
    /// More tools than the provider takes.
    #[error("{} takes {limit} tools, and {} binds {count}: {} too many", provider.as_str(), mode.as_str(), count - limit)]
    TooMany {
        /// The provider.
        provider: Provider,
        /// The mode.
        mode: Mode,
        /// Most tools that it takes.
        limit: usize,
        /// Number of tools.
        count: usize,
        /// Alternatives within the limit, as options of the command line.
        fits: Vec<String>,
    },
    /// A tool and a function of toolcrib, or the provider's own search, have one name in this format.
    #[error("`{first}` and `{second}` are both named `{name}` for {}", provider.as_str())]
    Clash {
        /// The provider.
        provider: Provider,
        /// The name.
        name: String,
        /// One tool.
        first: String,
        /// The other.
        second: String,
    },
}

impl PayloadError {
    /// The next step.
    pub fn hint(&self) -> String {
        match self {
            PayloadError::TooMany { fits, limit, .. } => {
                format!("these fit: {}; or make a profile with fewer tools, {limit} at most", fits.join("; "))
            }
            PayloadError::Clash { first, second, .. }
                if functions().named(first).is_some() && first == second =>
            {
                format!(
                    "`{first}` is a function of toolcrib; leave yours out of the profile, or take another mode"
                )
            }
            PayloadError::Clash { .. } => {
                "leave one of them out of the profile, or rename it at its source".into()
            }
        }
    }
}

/// Modes of this profile, then other profiles, that stay within the limit.
fn fits(request: &PayloadRequest<'_>, limit: usize) -> Vec<String> {
    let modes = |profile: &Profile<'_>| -> Vec<&'static str> {
        let within = |mode: &Mode| is_within(limit, request.provider, *mode, profile);
        Mode::ALL.iter().copied().filter(within).map(Mode::as_str).collect()
    };
    let refused = request.mode.as_str();
    let others: Vec<&str> = modes(request.profile).into_iter().filter(|mode| *mode != refused).collect();
    let mut fits = vec![format!("--mode {}", others.join(" or "))];
    for name in request.catalog.config.profiles.keys() {
        let Ok(profile) = request.catalog.profile(Some(name)) else { continue };
        let modes = modes(&profile);
        if modes.contains(&request.mode.as_str()) && request.profile.name != Some(name) {
            fits.push(format!("--profile {name}"));
        }
    }
    fits
}

/// Whether the entries of a mode stay within a limit.
fn is_within(limit: usize, provider: Provider, mode: Mode, profile: &Profile<'_>) -> bool {
    let full = profile.full().count();
    match mode {
        Mode::Full => profile.tools.len() <= limit,
        Mode::Hybrid => profile.tools.len() < limit,
        Mode::Native => match format_of(provider).native {
            Native::No => false,
            Native::Single => profile.tools.len() < limit,
            Native::Grouped => full + 1 < limit,
        },
        Mode::Gateway => full == 0 || full + 4 <= limit,
        Mode::Files => true,
    }
}
