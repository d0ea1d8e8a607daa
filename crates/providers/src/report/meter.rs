//! Makes payloads, and counts the part of a body that is in the model's context, and its components.

use std::collections::{HashMap, HashSet};

use serde::Serialize;
use serde_json::Value;

use super::context::{entry_in_context, in_context};
use super::estimate::{TaskEstimate, searches_itself};
use crate::payload::error::PayloadError;
use crate::payload::request::PayloadRequest;
use crate::payload::{Payload, payload_of_any_size};
use toolcrib_catalog::config::{self, Deferred, Mode, Provider};
use toolcrib_catalog::{Catalog, Profile, ProfileTool};
use toolcrib_definition::DescriptionMode;
use toolcrib_definition::tokens::Counter;
use toolcrib_render::{PromptSection, TemplateError, Templates};

/// Options of the report.
#[derive(Clone, Copy, Debug)]
pub struct Options<'a> {
    /// The profile; `None` for the whole catalog and all of its profiles.
    pub profile: Option<&'a str>,
    /// The mode; `None` for all.
    pub mode: Option<Mode>,
    /// Settings of payloads.
    pub payload: config::Payload,
    /// Most tokens that a mode may bind.
    pub budget: Option<usize>,
}

impl Options<'_> {
    /// The options for all profiles and modes, without a budget.
    pub(super) fn of(payload: config::Payload) -> Self {
        Self { profile: None, mode: None, payload, budget: None }
    }
}

/// The catalog and options, and the counts so far.
pub struct Meter<'a> {
    pub(super) catalog: &'a Catalog,
    pub(super) templates: &'a Templates,
    pub(super) options: Options<'a>,
    pub(super) counter: Counter,
}

/// A payload, counted.
#[derive(Debug)]
pub struct Counted {
    /// The mode of the payload.
    pub mode: Mode,
    /// Tokens sent.
    pub(super) sent: usize,
    /// Tokens in the context.
    pub bound: usize,
    /// Components of the tokens in the context.
    pub(super) parts: TokenParts,
    /// Most tools that the provider takes, if the payload has more.
    pub(super) limit: Option<usize>,
}

/// The same tools with other modes.
pub(super) fn with_modes<'a>(
    profile: &Profile<'a>,
    mode: impl Fn(&ProfileTool<'a>) -> DescriptionMode,
) -> Profile<'a> {
    let tools = profile.tools.iter().map(|entry| ProfileTool { mode: mode(entry), ..*entry }).collect();
    Profile { tools, ..*profile }
}

pub(super) fn is_deferred(entry: &ProfileTool<'_>) -> bool {
    entry.mode == DescriptionMode::Deferred
}

impl<'a> Meter<'a> {
    /// A meter for a catalog.
    pub fn new(catalog: &'a Catalog, templates: &'a Templates, options: Options<'a>) -> Self {
        Self { catalog, templates, options, counter: Counter::default() }
    }

    /// Tokens of a request with this mode.
    pub fn count(&mut self, profile: &Profile<'_>, mode: Mode) -> Result<Counted, PayloadError> {
        let request = self.request(profile, mode);
        let payload = payload_of_any_size(request)?;
        let limit = match payload.check_count(&request) {
            Err(PayloadError::TooMany { limit, .. }) => Some(limit),
            _ => None,
        };
        let Payload { mode, body, functions, .. } = payload;
        if functions.is_empty() {
            return Ok(Counted { mode, sent: 0, bound: 0, parts: TokenParts::default(), limit });
        }
        let ours: HashSet<&str> = functions
            .iter()
            .filter(|function| function.ours)
            .map(|function| function.name.as_str())
            .collect();
        let sent = self.counter.count(&body.to_string());
        let body = in_context(body);
        let bound = self.counter.count(&body.to_string());
        let parts = TokenParts::of(&body, &ours, &mut self.counter);
        Ok(Counted { mode, sent, bound, parts, limit })
    }

    /// Tokens in the context of a request with this mode.
    pub fn bound(&mut self, profile: &Profile<'_>, mode: Mode) -> Result<usize, PayloadError> {
        let request = self.request(profile, mode);
        let payload = payload_of_any_size(request)?;
        if payload.functions.is_empty() {
            return Ok(0);
        }
        Ok(self.counter.count(&in_context(payload.body).to_string()))
    }

    /// Tokens of the section of the system prompt.
    pub fn prompt(&mut self, profile: &Profile<'_>, mode: Mode) -> Result<usize, TemplateError> {
        let section = PromptSection::of(mode, self.options.payload);
        Ok(self.counter.count(&section.render(self.catalog, profile, self.templates)?))
    }

    /// Tokens of a whole task with this mode, estimated, with these tokens of bound tools and prompt in each request.
    pub(super) fn task(&self, profile: &Profile<'_>, mode: Mode, request: usize) -> usize {
        let payload = &self.options.payload;
        let has_core = profile.full().next().is_some();
        let estimate = TaskEstimate::of(mode, searches_itself(payload.provider, payload), has_core);
        estimate.tokens(request, payload.host_tokens)
    }

    /// Tokens of each tool in full, by canonical name.
    pub fn whole(&mut self, profile: &Profile<'_>) -> HashMap<String, usize> {
        let profile = with_modes(profile, |_| DescriptionMode::Full);
        self.entries(&profile, Mode::Full, self.options.payload)
    }

    /// Tokens in the context of each tool when all are deferred in a mode, by canonical name.
    pub fn deferred(
        &mut self,
        profile: &Profile<'_>,
        mode: Mode,
        deferred: Deferred,
    ) -> HashMap<String, usize> {
        let profile = with_modes(profile, |_| DescriptionMode::Deferred);
        self.entries(&profile, mode, config::Payload { deferred, ..self.options.payload })
    }

    /// Tokens in the context of each tool. When names collide, no payload of all tools is possible: then each is bound
    /// by itself.
    fn entries(
        &mut self,
        profile: &Profile<'_>,
        mode: Mode,
        options: config::Payload,
    ) -> HashMap<String, usize> {
        let mut counts = HashMap::with_capacity(profile.tools.len());
        if !self.add_entries(profile, mode, options, &mut counts) {
            for one in &profile.tools {
                let alone = Profile { tools: vec![*one], ..*profile };
                self.add_entries(&alone, mode, options, &mut counts);
            }
        }
        counts
    }

    /// Whether a payload can be made, whose tools are then counted.
    fn add_entries(
        &mut self,
        profile: &Profile<'_>,
        mode: Mode,
        options: config::Payload,
        counts: &mut HashMap<String, usize>,
    ) -> bool {
        let provider = self.options.payload.provider;
        let request = PayloadRequest { options, ..self.request(profile, mode) };
        let Ok(payload) = payload_of_any_size(request) else { return false };
        for function in payload.functions.iter().filter(|function| !function.ours) {
            let count = match entry_in_context(payload.entry(provider, function)) {
                Some(entry) => self.counter.count(&entry.to_string()),
                // The namespace names the tool.
                None if provider == Provider::OpenAiResponses => self.counter.count(&function.name),
                None => 0,
            };
            counts.insert(function.tool.names.canonical.clone(), count);
        }
        true
    }

    pub(super) fn request<'r>(&self, profile: &'r Profile<'r>, mode: Mode) -> PayloadRequest<'r>
    where
        'a: 'r,
    {
        let options = self.options.payload;
        PayloadRequest { catalog: self.catalog, profile, provider: options.provider, mode, options }
    }
}

/// Components of a body. Parts are counted one by one; the remainder is the wrapping.
#[derive(Debug, Default, Serialize)]
pub struct TokenParts {
    /// Tokens of names.
    pub names: usize,
    /// Tokens of descriptions.
    pub descriptions: usize,
    /// Tokens of schemas.
    pub schemas: usize,
    /// Tokens of our own functions, whole, and of a provider's search.
    pub own_functions: usize,
}

impl TokenParts {
    /// The parts of a body in which functions of these names are ours.
    pub(super) fn of(body: &Value, ours: &HashSet<&str>, counter: &mut Counter) -> TokenParts {
        let mut parts = TokenParts::default();
        parts.add(body, ours, counter);
        parts
    }

    fn add(&mut self, value: &Value, ours: &HashSet<&str>, counter: &mut Counter) {
        match value {
            Value::Array(entries) => entries.iter().for_each(|entry| {
                if is_ours(entry, ours) {
                    self.own_functions += counter.count(&entry.to_string());
                } else {
                    self.add(entry, ours, counter);
                }
            }),
            Value::Object(fields) => fields.iter().for_each(|(key, value)| match key.as_str() {
                "name" => self.names += counter.count(unquoted(&value.to_string())),
                "description" | "short_description" => {
                    self.descriptions += counter.count(unquoted(&value.to_string()));
                }
                "parameters" | "parametersJsonSchema" | "input_schema" | "inputSchema" | "outputSchema" => {
                    self.schemas += counter.count(&value.to_string());
                }
                _ => self.add(value, ours, counter),
            }),
            _ => {}
        }
    }

    /// All of them.
    pub fn sum(&self) -> usize {
        self.names + self.descriptions + self.schemas + self.own_functions
    }
}

/// A function of ours, or the provider's own search that takes the place of one.
fn is_ours(entry: &Value, ours: &HashSet<&str>) -> bool {
    let kind = entry.get("type").and_then(Value::as_str).unwrap_or_default();
    let name =
        [entry, &entry["function"], &entry["toolSpec"]].into_iter().find_map(|entry| entry.get("name"));
    kind.starts_with("tool_search") || name.and_then(Value::as_str).is_some_and(|name| ours.contains(name))
}

fn unquoted(text: &str) -> &str {
    text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn parts_are_what_models_read_and_a_property_called_name_is_schema() {
        let mut counter = Counter::default();
        let schema = json!({"type": "object", "properties": {"name": {"description": "Whose?"}}});
        let body = json!({"tools": [
            {"type": "function", "function": {"name": "greet", "description": "Say \"hello\"", "parameters": schema}},
            {"type": "function", "function": {"name": "read_tool_doc", "description": "Docs"}},
        ]});
        let parts = TokenParts::of(&body, &HashSet::from(["read_tool_doc"]), &mut counter);
        assert_eq!(parts.names, counter.count("greet"));
        assert_eq!(parts.descriptions, counter.count("Say \\\"hello\\\""));
        assert_eq!(parts.schemas, counter.count(&schema.to_string()));
        assert_eq!(parts.own_functions, counter.count(&body["tools"][1].to_string()));
    }
}
