//! A tool as each provider gets it.

use serde_json::{Map, Value, json};

use super::context::Site;
use toolcrib_catalog::config::Mode;
use toolcrib_catalog::{Profile, ProfileTool, Tool};
use toolcrib_definition::tokens::Counter;
use toolcrib_definition::{DescriptionMode, clean_line, is_hidden};
use toolcrib_providers as provider;
use toolcrib_providers::report::grouped;
use toolcrib_providers::{PayloadRequest, Provider, ProviderFormat};

/// Key of the schema of the arguments in the file.
const SCHEMA: &str = "schema";
/// Key of the schema of the result.
const RESULT_SCHEMA: &str = "result_schema";

/// The file of a tool: its schemas as their author wrote them, and its entry in each provider's list of tools. Each
/// value stands on lines of its own, with its key after two spaces, so that a script can cut it out unchanged.
pub(super) fn payloads_file(site: &Site<'_>, tool: &Tool) -> String {
    let schemas = [(SCHEMA, &tool.input.schema), (RESULT_SCHEMA, &tool.output)];
    let schemas =
        schemas.into_iter().filter_map(|(key, schema)| Some((key, schema.as_ref()?.value().clone())));
    let providers = Provider::ALL.iter();
    let payloads =
        providers.filter_map(|&provider| Some((provider.as_str(), bound(site, tool, provider).entry?)));
    let content: Map<String, Value> =
        schemas.chain(payloads).map(|(key, value)| (key.into(), value)).collect();
    visible(&format!("{:#}\n", Value::Object(content)))
}

/// JSON with hidden characters as escapes: the same values, and nothing that steers a display.
fn visible(json: &str) -> String {
    let mut shown = String::with_capacity(json.len());
    for c in json.chars() {
        if c != '\n' && (is_hidden(c) || matches!(c, '\u{2028}' | '\u{2029}')) {
            c.encode_utf16(&mut [0; 2]).iter().for_each(|unit| shown += &format!("\\u{unit:04x}"));
        } else {
            shown.push(c);
        }
    }
    shown
}

/// The tool for each provider, bound in full, without its JSON.
pub(super) fn payloads(site: &Site<'_>, tool: &Tool) -> Vec<Value> {
    let mut counter = Counter::default();
    let payload = |&provider: &Provider| {
        let ToolEntry { entry, notes, problem } = bound(site, tool, provider);
        let tokens = entry.map(|entry| grouped(counter.count(&entry.to_string())));
        json!({
            "title": provider.title(),
            "word": provider.as_str(),
            "tokens": tokens.unwrap_or_default(),
            "notes": notes,
            "problem": problem,
        })
    };
    Provider::ALL.iter().map(payload).collect()
}

/// A tool as one provider gets it, or the reason why not.
#[derive(Default)]
struct ToolEntry {
    /// Its entry in the list of tools.
    entry: Option<Value>,
    notes: Vec<String>,
    problem: Option<String>,
}

fn bound(site: &Site<'_>, tool: &Tool, provider: Provider) -> ToolEntry {
    let whole = ProfileTool { tool, mode: DescriptionMode::Full };
    let profile = Profile { name: None, description: None, tools: vec![whole], picked: false };
    let request = PayloadRequest {
        catalog: site.catalog,
        profile: &profile,
        provider,
        mode: Mode::Full,
        options: site.catalog.config.payload,
    };
    match provider::payload(request) {
        Err(error) => ToolEntry { problem: Some(clean_line(&error.to_string())), ..ToolEntry::default() },
        Ok(payload) => {
            let mut notes: Vec<String> =
                payload.findings.iter().map(|finding| clean_line(&finding.message)).collect();
            let entry = payload.functions.first().map(|function| payload.entry(provider, function));
            let problem = match entry {
                Some(_) => None,
                None => notes.pop().or_else(|| Some("It cannot be bound.".into())),
            };
            ToolEntry { entry, notes, problem }
        }
    }
}
