//! From the body of a response to entries: whose call it is, what it says, whether that is valid.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::bound_terms::BoundTerms;
use super::call_entry::CallEntry;
use super::error::{CallError, CallErrorCode, ParseError};
use super::valid_call::ValidCall;
use crate::arguments::{ArgumentReader, Coercion, FieldError, Reading, Repair, holds_float};
use crate::catalog::{Callable, Catalog, Profile, Resolved, Tool, functions};
use crate::finding::{Violation, nearest};
use crate::provider::Provider;
use crate::provider::function::written_schema;
use crate::provider::raw_call::RawCall;
use crate::provider::view::Renaming;
use crate::provider::wire::Wire;
use crate::tool::clean_line;

/// Names are compared for at most this many calls of a response; a response with more is beyond help.
const MAX_COMPARED: usize = 32;
/// The most characters that are shown of what a provider says instead of an answer.
const MAX_REFUSAL: usize = 300;
/// What to read when no tool is meant.
const ROOT: &str = "root";

/// Reads the responses of one provider. Made once for a catalog; takes no lock and is free to be shared.
///
/// ```no_run
/// # use toolcrib::{catalog, config, provider::{Provider, call::Parser}};
/// let checked = catalog::open(config::read("tools.json".as_ref()));
/// let parser = Parser::new(&checked.catalog, Provider::OpenAi);
/// let entries = parser.parse(r#"{"choices":[{"message":{"role":"assistant","content":"Hello."}}]}"#)?;
/// assert!(entries.is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Parser<'a> {
    provider: Provider,
    wire: &'static dyn Wire,
    catalog: &'a Catalog,
    /// The tools by the names that the provider sees; several share one only where no request can hold both.
    names: HashMap<String, Vec<&'a Tool>>,
    /// The canonical names of the tools of the catalog that may be called.
    known: HashSet<&'a str>,
    /// By canonical name: the properties that the provider knows by other names.
    renamed: HashMap<&'a str, Renaming>,
}

impl std::fmt::Debug for Parser<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Parser").field("provider", &self.provider).field("names", &self.names.len()).finish()
    }
}

impl<'a> Parser<'a> {
    /// For the tools of a catalog and for our own functions. A tool of the catalog that has the name of a function of
    /// ours is the one that is meant: no request has both.
    pub fn new(catalog: &'a Catalog, provider: Provider) -> Self {
        Self::of_tools(catalog, &mut catalog.tools.iter().map(|tool| &**tool), provider)
    }

    /// For the tools of a profile and for our own functions; any other tool is unknown.
    pub fn of_profile(catalog: &'a Catalog, profile: &Profile<'a>, provider: Provider) -> Self {
        Self::of_tools(catalog, &mut profile.tools.iter().map(|entry| entry.tool), provider)
    }

    fn of_tools(catalog: &'a Catalog, tools: &mut dyn Iterator<Item = &'a Tool>, provider: Provider) -> Self {
        let wire = provider.wire();
        let rules = wire.rules();
        let mut names: HashMap<String, Vec<&'a Tool>> = HashMap::with_capacity(catalog.tools.len() + 6);
        let mut renamed = HashMap::new();
        let mut known = HashSet::with_capacity(catalog.tools.len());
        for tool in tools {
            names.entry(rules.names.name(tool)).or_default().push(tool);
            known.insert(tool.name.as_str());
            if let Some(renaming) = Renaming::of(written_schema(tool), rules.schema.keys) {
                renamed.insert(tool.name.as_str(), renaming);
            }
        }
        for tool in &functions().tools {
            names.entry(rules.names.name(tool)).or_insert_with(|| vec![tool]);
        }
        Self { provider, wire, catalog, names, known, renamed }
    }

    /// The calls in the whole body of a response, in order; none when the model called nothing.
    pub fn parse(&self, body: &str) -> Result<Vec<CallEntry<'a>>, ParseError> {
        let body = body.strip_prefix('\u{feff}').unwrap_or(body);
        let mut fast = ArgumentReader::default();
        match fast.body(body) {
            Ok(response) => {
                let entries = self.entries(response, body, &mut fast)?;
                if !fast.inexact {
                    return Ok(entries);
                }
                let mut exact = ArgumentReader::exact(body);
                match exact.body(body) {
                    Ok(response) => self.entries(response, body, &mut exact),
                    Err(_) => Ok(entries),
                }
            }
            Err(error) => {
                // A number too large for a float is JSON all the same.
                let mut exact = ArgumentReader::exact(body);
                let reason = |_| ParseError::NotJson { provider: self.provider, reason: error.to_string() };
                let response = exact.body(body).map_err(reason)?;
                self.entries(response, body, &mut exact)
            }
        }
    }

    /// An entry with other arguments: the same call, its arguments written once more, and checked like the first time.
    pub fn rebuild(&self, entry: CallEntry<'a>, arguments: &str) -> CallEntry<'a> {
        let Some(tool) = entry.tool else { return entry };
        let mut fast = ArgumentReader::default();
        let (mut outcome, mut repaired) = self.outcome(tool, Some(arguments.into()), &mut fast);
        if fast.inexact {
            let mut exact = ArgumentReader::exact(arguments);
            (outcome, repaired) = self.outcome(tool, Some(arguments.into()), &mut exact);
        }
        CallEntry { outcome, repaired, ..entry }
    }

    /// The name that the provider knows a tool by, from its canonical name; a name that means no tool as it is.
    pub fn emitted<'n>(&self, name: &'n str) -> Cow<'n, str> {
        match self.catalog.named(name).or_else(|| functions().named(name)) {
            Some(tool) => self.wire.rules().names.name(tool).into(),
            None => name.into(),
        }
    }

    fn entries(
        &self,
        response: Value,
        body: &str,
        reading: &mut ArgumentReader,
    ) -> Result<Vec<CallEntry<'a>>, ParseError> {
        // JSON-RPC's ids are numbers as well.
        reading.inexact |= self.provider == Provider::Mcp && holds_float(&response);
        let refusal = refusal(&response);
        let calls = self.wire.calls(response).map_err(|expected| {
            if let Some(message) = refusal {
                return ParseError::Refused { provider: self.provider, message };
            }
            let looks_like = |other: &Provider| {
                serde_json::from_str(body).is_ok_and(|response| other.wire().calls(response).is_ok())
            };
            let looks_like = Provider::ALL.iter().copied().filter(looks_like).collect();
            ParseError::Shape { provider: self.provider, expected, looks_like }
        })?;
        let mut unknown = 0;
        Ok(calls.into_iter().map(|call| self.entry(call, reading, &mut unknown)).collect())
    }

    /// `unknown` counts the calls of a response that mean no tool.
    fn entry(&self, call: RawCall, reading: &mut ArgumentReader, unknown: &mut usize) -> CallEntry<'a> {
        let RawCall { name, namespace, call_id, signature, arguments, search, malformed } = call;
        let [call_id, namespace, signature, malformed] =
            [call_id, namespace, signature, malformed].map(|text| text.map(|text| reading.text(text)));
        let name = name.map(|name| reading.text(name));
        let (tool, name, (outcome, repaired)) = match self.tool(name, unknown) {
            Ok(tool) if malformed.is_none() => {
                (Some(tool), Some(tool.name.as_str().into()), self.outcome(tool, arguments, reading))
            }
            Ok(tool) => {
                let error = malformed_call(malformed, &tool.op, given(arguments, reading));
                (Some(tool), Some(tool.name.as_str().into()), (Err(error), Vec::new()))
            }
            Err((name, error)) => {
                let error = match malformed {
                    Some(_) => malformed_call(malformed, ROOT, given(arguments, reading)),
                    None => CallError { given: given(arguments, reading), ..error },
                };
                (None, name.map(Cow::Owned), (Err(error), Vec::new()))
            }
        };
        CallEntry { name, call_id, namespace, signature, search, outcome, repaired, tool }
    }

    /// The tool that a name means: as the provider sees it, else any other name that models know it by.
    fn tool(
        &self,
        name: Option<String>,
        unknown_tools: &mut usize,
    ) -> Result<&'a Tool, (Option<String>, CallError)> {
        let unknown = |message: String, nearest: Vec<String>| CallError {
            nearest,
            ..CallError::new(CallErrorCode::UnknownTool, message, ROOT)
        };
        let Some(name) = name else {
            return Err((None, unknown("the call names no tool".into(), Vec::new())));
        };
        let shown = || name.chars().take(80).collect::<String>();
        let resolved = match self.names.get(&name).or_else(|| self.names.get(bare(&name))).map(Vec::as_slice)
        {
            Some([tool]) => return Ok(tool),
            Some(several) => Resolved::Ambiguous(several.to_vec()),
            None if *unknown_tools >= MAX_COMPARED => {
                let error = unknown(format!("there is no tool \"{}\"", shown()), Vec::new());
                return Err((Some(name), error));
            }
            None => self.catalog.resolve(&name),
        };
        let error = match resolved {
            Resolved::Tool(tool) if self.known.contains(tool.name.as_str()) => return Ok(tool),
            Resolved::Ambiguous(tools)
                if tools.iter().all(|tool| self.known.contains(tool.name.as_str())) =>
            {
                let names = tools.iter().map(|tool| tool.name.clone()).collect();
                unknown(format!("several tools go by \"{}\"", shown()), names)
            }
            _ => match functions().resolve(&name) {
                Resolved::Tool(tool) => return Ok(tool),
                _ => {
                    *unknown_tools += 1;
                    // What a tool is called by, not its other names: those mean nothing to the provider.
                    let near = nearest(&name, self.names.keys().map(String::as_str));
                    unknown(format!("there is no tool \"{}\"", shown()), owned(near))
                }
            },
        };
        Err((Some(name), error))
    }

    fn outcome(
        &self,
        tool: &'a Tool,
        arguments: Option<Value>,
        reading: &mut ArgumentReader,
    ) -> (Result<ValidCall<'a>, CallError>, Vec<Repair>) {
        let failed = |code, message: String, wrong: Vec<Violation>, given| {
            let field_errors = wrong.into_iter().map(FieldError::from).collect();
            CallError { field_errors, given, ..CallError::new(code, message, &tool.op) }
        };
        let mut repaired = Vec::new();
        let (text, value) = match arguments {
            Some(Value::String(text)) => match reading.encoded_arguments(&text, &mut repaired) {
                Ok(value) => (Some(text), value),
                Err(error) => {
                    let message = unreadable(&error, &text);
                    return (Err(failed(CallErrorCode::Parse, message, Vec::new(), text)), repaired);
                }
            },
            other => (None, reading.arguments(other)),
        };
        let renamed = self.renamed.get(tool.name.as_str());
        let terms = BoundTerms { tool, rules: self.wire.rules(), renamed };
        let (read, unchecked) = match tool.parameters.callable() {
            Callable::No(reason) => {
                let message = format!("`{}` cannot be called, since {reason}", tool.name);
                let given = text.unwrap_or_else(|| reading.written(&value));
                return (Err(failed(CallErrorCode::Schema, message, Vec::new(), given)), repaired);
            }
            Callable::Unchecked(mode) => {
                (Reading { value: terms.to_canonical(value), repaired }, Some(*mode))
            }
            Callable::Checked => match coerced(&terms, value, repaired, reading) {
                Ok(read) => (read, None),
                Err((read, wrong)) => {
                    let given = text.unwrap_or_else(|| reading.written(&read.value));
                    let (secrets, schema) = (self.catalog.secrets(), tool.parameters.schema());
                    let wrong: Vec<_> =
                        wrong.into_iter().map(|one| secrets.conceal(schema, &read.value, one)).collect();
                    let message = summary(&wrong);
                    return (Err(failed(CallErrorCode::Schema, message, wrong, given)), read.repaired);
                }
            },
        };
        match reading.finished(read.value) {
            (Value::Object(fields), exact) => {
                (Ok(ValidCall::new(tool, fields, exact, unchecked)), read.repaired)
            }
            (other, _) => {
                let message = "the arguments are not an object".into();
                (Err(failed(CallErrorCode::Schema, message, Vec::new(), other.to_string())), read.repaired)
            }
        }
    }
}

/// The arguments as they fit; else the reading that comes closest, and what is wrong with it.
fn coerced(
    terms: &BoundTerms<'_>,
    value: Value,
    repaired: Vec<Repair>,
    reader: &mut ArgumentReader,
) -> Result<Reading, (Reading, Vec<Violation>)> {
    let to_canonical = |value| terms.to_canonical(value);
    let requires_nulls = terms.requires_nulls();
    Coercion { tool: terms.tool, reader, to_canonical: &to_canonical, requires_nulls }.check(value, repaired)
}

/// What a provider says instead of an answer, in the forms that are common.
fn refusal(body: &Value) -> Option<String> {
    let error = body.get("error").filter(|error| !error.is_null())?;
    let message = error.get("message").or_else(|| error.get("error")).unwrap_or(error).as_str()?;
    Some(clean_line(message).chars().take(MAX_REFUSAL).collect())
}

fn owned(names: Vec<&str>) -> Vec<String> {
    names.into_iter().map(str::to_string).collect()
}

/// A name without what some models put before it: the name of the list that it stood in.
fn bare(name: &str) -> &str {
    let name = name.trim();
    let lists = ["functions.", "default_api.", "default_api:"];
    lists.iter().find_map(|list| name.strip_prefix(list)).unwrap_or(name)
}

/// The first thing wrong, and how many more there are.
fn summary(wrong: &[Violation]) -> String {
    let Some(first) = wrong.first() else { return "the arguments do not fit the schema".into() };
    // What is missing or unknown is named by the message already.
    let (parent, last) = first.pointer.rsplit_once('/').unwrap_or_default();
    let is_named = !last.is_empty() && first.message.contains(&format!("\"{last}\""));
    let pointer = if is_named { parent } else { &first.pointer };
    let place = if pointer.is_empty() { String::new() } else { format!(" at {pointer}") };
    let more = if wrong.len() > 1 { format!(", and {} more", wrong.len() - 1) } else { String::new() };
    format!("the arguments do not fit: {}{place}{more}", first.message)
}

/// Why arguments cannot be read, for those who wrote them.
fn unreadable(error: &serde_json::Error, text: &str) -> String {
    match error.is_eof() {
        true => format!(
            "the arguments are cut off after {} characters; send the whole call again",
            text.chars().count()
        ),
        false => format!("the arguments are not one JSON object: {error}"),
    }
}

fn malformed_call(reason: Option<String>, help_path: &str, given: String) -> CallError {
    CallError { given, ..CallError::new(CallErrorCode::Parse, reason.unwrap_or_default(), help_path) }
}

/// The arguments as the model gave them.
fn given(arguments: Option<Value>, reading: &mut ArgumentReader) -> String {
    match arguments {
        Some(Value::String(text)) => reading.text(text),
        Some(value) => reading.written(&value),
        None => String::new(),
    }
}
