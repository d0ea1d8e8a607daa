//! Parses the body of a response into entries: the tool, the arguments, and whether they are valid.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::cut_off::is_cut_off;
use super::entry::{CallEntry, CallError, CallErrorCode, ValidCall};
use super::in_text::calls_in_text;
use crate::format::{Format, RawCall, Stub, take_list};
use crate::payload::functions::{stub_key, written_schema};
use crate::payload::names::FormatNames;
use crate::provider::format_of;
use crate::view::{Renaming, Strict};
use toolcrib_catalog::arguments::{
    ArgumentReader, Coercion, FieldError, Reading, Repair, RepairError, RepairKind, RepairQuestion,
    Unreadable, arguments_in_text, holds_float, respelled,
};
use toolcrib_catalog::config::Provider;
use toolcrib_catalog::{Callable, Catalog, Profile, Tool, called_names, functions};
use toolcrib_definition::clean_line;
use toolcrib_definition::document::well_formed;
use toolcrib_definition::finding::{Violation, nearest};
use toolcrib_search::model::ChatModel;

/// The error of a response that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParseError {
    /// The response is no JSON; cut short, for example.
    #[error("expected the body of a response of {}, which is JSON: {reason}", provider.as_str())]
    NotJson {
        /// The provider that was asked for.
        provider: Provider,
        /// The reader's error, with its place.
        reason: String,
    },
    /// The response is an error of the provider.
    #[error("{} answered with an error: {message}", provider.as_str())]
    Refused { provider: Provider, message: String },
    /// The response is JSON of another shape.
    #[error("expected a response of {}: {expected}{}", provider.as_str(), other_provider(looks_like))]
    Shape {
        /// The provider that was asked for.
        provider: Provider,
        /// The shape that was expected.
        expected: &'static str,
        /// Providers with responses of this shape.
        looks_like: Vec<Provider>,
    },
}

fn other_provider(looks_like: &[Provider]) -> String {
    let words: Vec<&str> = looks_like.iter().map(|provider| provider.as_str()).collect();
    if words.is_empty() { String::new() } else { format!("; this looks like {}", words.join(" or ")) }
}

/// Unknown names of one response for which near names are searched: the search is slow, and more names are no slips.
const MAX_COMPARED: usize = 32;
/// The name of a wrapper that packs several calls into one, and the form that providers without dots give it.
const PARALLEL: [&str; 2] = ["multi_tool_use.parallel", "multi_tool_use_parallel"];
/// Characters of a provider's error that a message repeats.
const MAX_REFUSAL: usize = 300;
/// The help path for a call without a tool.
const ROOT: &str = "root";

/// Where the calls of a response are read.
#[derive(Clone, Copy)]
enum Source {
    Calls,
    Text,
}

/// The tool of a call, and the repair of its name.
type NamedTool<'a> = (&'a Tool, Option<Repair>);

/// The outcome of a call, and the repairs of its arguments.
type Outcome<'a> = (Result<ValidCall<'a>, CallError>, Vec<Repair>);

/// A reader of one provider's responses. Made once for a catalog; has no locks and can be shared between threads.
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
    format: &'static Format,
    catalog: &'a Catalog,
    format_names: FormatNames<'a>,
    /// Tools by the names that the provider gets. Tools share a name only if no request can have both.
    names: HashMap<String, Vec<&'a Tool>>,
    /// Canonical names of the catalog's tools that may be called.
    known: HashSet<&'a str>,
    /// By canonical name: properties with another name on this provider.
    renamed: HashMap<&'a str, Renaming>,
}

impl std::fmt::Debug for Parser<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Parser").field("provider", &self.provider).field("names", &self.names.len()).finish()
    }
}

impl<'a> Parser<'a> {
    /// A parser for a catalog's tools and our own functions. A tool with the name of a function wins: no request has both.
    pub fn new(catalog: &'a Catalog, provider: Provider) -> Self {
        Self::of_tools(catalog, &mut catalog.tools.iter().map(|tool| &**tool), provider)
    }

    /// A parser for a profile's tools and our own functions; other tools are unknown.
    pub fn of_profile(catalog: &'a Catalog, profile: &Profile<'a>, provider: Provider) -> Self {
        Self::of_tools(catalog, &mut profile.tools.iter().map(|entry| entry.tool), provider)
    }

    fn of_tools(catalog: &'a Catalog, tools: &mut dyn Iterator<Item = &'a Tool>, provider: Provider) -> Self {
        let format = format_of(provider);
        let format_names = FormatNames::of(catalog, format.names);
        let mut names: HashMap<String, Vec<&'a Tool>> = HashMap::with_capacity(catalog.tools.len() + 6);
        let mut renamed = HashMap::new();
        let mut known = HashSet::with_capacity(catalog.tools.len());
        for tool in tools {
            names.entry(format_names.name(tool)).or_default().push(tool);
            known.insert(tool.names.canonical.as_str());
            if let Some(renaming) = Renaming::of(written_schema(tool), format.schema.keys) {
                renamed.insert(tool.names.canonical.as_str(), renaming);
            }
        }
        for tool in &functions().tools {
            names.entry(format_names.name(tool)).or_insert_with(|| vec![tool]);
        }
        Self { provider, format, catalog, format_names, names, known, renamed }
    }

    /// The calls of a response, in order; `body` is the whole response. Empty when the model called nothing.
    pub fn parse(&self, body: &str) -> Result<Vec<CallEntry<'a>>, ParseError> {
        self.read(body, Source::Calls)
    }

    /// The calls that a model left in the text of its answer, which [`Parser::parse`] does not read, except copies of `calls`.
    pub fn left_in_text(&self, body: &str, calls: &[CallEntry<'a>]) -> Vec<CallEntry<'a>> {
        let mut left = self.read(body, Source::Text).unwrap_or_default();
        let same = |one: &CallEntry<'_>, other: &CallEntry<'_>| match (&one.outcome, &other.outcome) {
            (Ok(call), Ok(other)) => call.name() == other.name() && call.arguments() == other.arguments(),
            _ => false,
        };
        left.retain(|entry| !calls.iter().any(|call| same(entry, call)));
        left
    }

    fn read(&self, body: &str, source: Source) -> Result<Vec<CallEntry<'a>>, ParseError> {
        let body = body.strip_prefix('\u{feff}').unwrap_or(body);
        self.parse_exactly(body, source).or_else(|error| match well_formed(body) {
            mended if mended != body => self.parse_exactly(&mended, source).map_err(|_| error),
            _ => Err(error),
        })
    }

    fn parse_exactly(&self, body: &str, source: Source) -> Result<Vec<CallEntry<'a>>, ParseError> {
        let mut fast = ArgumentReader::default();
        match fast.body(body) {
            Ok(response) => {
                let entries = self.entries(response, (body, source), &mut fast)?;
                if !fast.inexact {
                    return Ok(entries);
                }
                let mut exact = ArgumentReader::exact(body);
                match exact.body(body) {
                    Ok(response) => self.entries(response, (body, source), &mut exact),
                    Err(_) => Ok(entries),
                }
            }
            Err(error) => {
                // A number too large for a float is valid JSON.
                let mut exact = ArgumentReader::exact(body);
                let reason = |_| ParseError::NotJson { provider: self.provider, reason: error.to_string() };
                let response = exact.body(body).map_err(reason)?;
                self.entries(response, (body, source), &mut exact)
            }
        }
    }

    /// An entry with the same call and new arguments, checked like the first time.
    pub fn rebuild(&self, entry: CallEntry<'a>, arguments: &str) -> CallEntry<'a> {
        let Some(tool) = entry.tool else { return entry };
        let mut fast = ArgumentReader::default();
        let mut outcomes = self.outcomes(tool, Some(arguments.into()), false, &mut fast);
        if fast.inexact {
            let mut exact = ArgumentReader::exact(arguments);
            outcomes = self.outcomes(tool, Some(arguments.into()), false, &mut exact);
        }
        let (outcome, repaired) = match (outcomes.pop(), outcomes.is_empty()) {
            (Some(only), true) => only,
            _ => (Err(unreadable(tool, &Unreadable::Unclear, arguments.into())), Vec::new()),
        };
        CallEntry { outcome, repaired, ..entry }
    }

    /// Asks a model once to repair a call that cannot be read or is invalid. Unchanged are valid calls and calls of tools that
    /// are unknown or cannot be called. A call that the model could not repair has the outcome in [`CallError::repair`].
    pub fn repair(&self, entry: CallEntry<'a>, model: &dyn ChatModel) -> CallEntry<'a> {
        let Err(error) = &entry.outcome else { return entry };
        let Some(question) = question(&entry, error) else { return entry };
        let answer = question.ask(|instructions, question| model.answer(instructions, question));
        let corrected = answer.and_then(|answer| {
            let corrected = self.rebuild(entry.clone(), &answer);
            match corrected.outcome {
                Ok(call) => Ok((call, corrected.repaired)),
                Err(error) => Err(RepairError::Invalid(error.message)),
            }
        });
        match corrected {
            Ok((call, repaired)) => {
                let by_model = Repair { pointer: String::new(), repair: RepairKind::Model };
                let repaired = std::iter::once(by_model).chain(repaired).collect();
                CallEntry { repaired, outcome: Ok(call), ..entry }
            }
            Err(reason) => {
                let error = CallError { repair: Some(reason.to_string()), ..error.clone() };
                CallEntry { outcome: Err(error), ..entry }
            }
        }
    }

    /// The name of a tool on this provider, by its canonical name. An unknown name stays.
    pub fn emitted<'n>(&self, name: &'n str) -> Cow<'n, str> {
        match self.catalog.named(name).or_else(|| functions().named(name)) {
            Some(tool) => self.format_names.name(tool).into(),
            None => name.into(),
        }
    }

    fn entries(
        &self,
        response: Value,
        (body, source): (&str, Source),
        reading: &mut ArgumentReader,
    ) -> Result<Vec<CallEntry<'a>>, ParseError> {
        // Ids of JSON-RPC may be numbers too.
        reading.inexact |= self.provider == Provider::Mcp && holds_float(&response);
        let refusal = refusal(&response);
        let was_cut_off = is_cut_off(&response);
        let mut unknown = 0;
        if let Source::Text = source {
            let calls = calls_in_text(&response, reading, &|name| self.means_tool(name));
            return Ok(calls
                .into_iter()
                .flat_map(|call| self.call_entries(call, reading, &mut unknown))
                .collect());
        }
        let calls = (self.format.calls)(response).map_err(|expected| {
            if let Some(message) = refusal {
                return ParseError::Refused { provider: self.provider, message };
            }
            let looks_like = |other: &Provider| {
                serde_json::from_str(body).is_ok_and(|response| (format_of(*other).calls)(response).is_ok())
            };
            let looks_like = Provider::ALL.iter().copied().filter(looks_like).collect();
            ParseError::Shape { provider: self.provider, expected, looks_like }
        })?;
        let mut calls: Vec<RawCall> =
            calls.into_iter().flat_map(|call| self.unpacked(call, reading)).collect();
        if let Some(last) = calls.last_mut() {
            last.may_be_cut = was_cut_off;
        }
        Ok(calls.into_iter().flat_map(|call| self.call_entries(call, reading, &mut unknown)).collect())
    }

    /// The calls that OpenAI's models pack into their internal wrapper; they share its id. Any other call is itself.
    fn unpacked(&self, mut call: RawCall, reading: &mut ArgumentReader) -> Vec<RawCall> {
        let is_wrapper = |name: &String| {
            !self.names.contains_key(name)
                && called_names(name).iter().any(|called| PARALLEL.contains(&called.name))
        };
        if call.malformed.is_some() || !call.name.as_ref().is_some_and(is_wrapper) {
            return vec![call];
        }
        let arguments = match &call.arguments {
            Some(Value::String(text)) => reading.encoded_arguments(text, &mut Vec::new()).ok(),
            other => other.clone(),
        };
        let uses = arguments.and_then(|mut arguments| take_list(arguments.as_object_mut()?, "tool_uses"));
        let Some(uses) = uses.filter(|uses| !uses.is_empty()) else {
            call.malformed = Some(format!("`{}` has no `tool_uses`; call each tool by itself", PARALLEL[0]));
            return vec![call];
        };
        let one = |part: Value| {
            let read = match part {
                Value::Object(mut part) => RawCall::of(&mut part, "id", "recipient_name", "parameters"),
                other => RawCall {
                    malformed: Some("the call is not an object".into()),
                    arguments: Some(other),
                    ..RawCall::default()
                },
            };
            let [call_id, namespace, signature] =
                [&call.call_id, &call.namespace, &call.signature].map(Clone::clone);
            RawCall { call_id, namespace, signature, ..read }
        };
        uses.into_iter().map(one).collect()
    }

    /// The entry of a call, or those of several calls in one, which share its id. `unknown` counts the calls of a response
    /// without a tool.
    fn call_entries(
        &self,
        call: RawCall,
        reading: &mut ArgumentReader,
        unknown: &mut usize,
    ) -> Vec<CallEntry<'a>> {
        let RawCall { name, namespace, call_id, signature, arguments, search, malformed, may_be_cut } = call;
        let [call_id, namespace, signature, malformed] =
            [call_id, namespace, signature, malformed].map(|text| text.map(|text| reading.text(text)));
        let name = name.map(|name| reading.text(name));
        let (tool, name, outcomes) = match self.tool(name, unknown) {
            Ok((tool, repair)) => {
                let outcomes = match malformed {
                    None => self.outcomes(tool, arguments, may_be_cut, reading),
                    Some(reason) => {
                        vec![(
                            Err(malformed_call(reason, &tool.names.op, given(arguments, reading))),
                            Vec::new(),
                        )]
                    }
                };
                let named = |(outcome, repaired): Outcome<'a>| {
                    (outcome, repair.iter().cloned().chain(repaired).collect())
                };
                (
                    Some(tool),
                    Some(Cow::from(&tool.names.canonical)),
                    outcomes.into_iter().map(named).collect(),
                )
            }
            Err((name, error)) => {
                let given = given(arguments, reading);
                let error = match malformed {
                    Some(reason) => malformed_call(reason, ROOT, given),
                    None => CallError { given, ..error },
                };
                (None, name.map(Cow::Owned), vec![(Err(error), Vec::new())])
            }
        };
        let entry = |(outcome, repaired)| {
            let name = name.clone();
            let [call_id, namespace, signature] = [&call_id, &namespace, &signature].map(Clone::clone);
            CallEntry { name, call_id, namespace, signature, search, outcome, repaired, tool }
        };
        outcomes.into_iter().map(entry).collect()
    }

    /// The tool of a name, and the repair of the name: the provider's name for it, else any other name of the tool, as a model
    /// writes it.
    fn tool(
        &self,
        name: Option<String>,
        unknown_tools: &mut usize,
    ) -> Result<NamedTool<'a>, (Option<String>, CallError)> {
        let unknown = |message: String, nearest: Vec<String>| CallError {
            nearest,
            ..CallError::new(CallErrorCode::UnknownTool, message, ROOT)
        };
        let Some(name) = name else {
            return Err((None, unknown("the call names no tool".into(), Vec::new())));
        };
        let shown = || name.chars().take(80).collect::<String>();
        let is_known = |tool: &Tool| self.known.contains(tool.names.canonical.as_str());
        let called = match self.names.get(name.trim()).map(Vec::as_slice) {
            Some([tool]) => return Ok((tool, None)),
            Some(several) => Err(several.to_vec()),
            None => match self.catalog.find(&name).filter(|tool| is_known(tool)) {
                Some(tool) => return Ok((tool, None)),
                None if *unknown_tools >= MAX_COMPARED => Err(Vec::new()),
                None => self.called(&name, &is_known),
            },
        };
        match called {
            Ok(tool) => Ok((tool, Some(Repair { pointer: String::new(), repair: RepairKind::Name }))),
            Err(several) if !several.is_empty() => {
                let names = several.iter().map(|tool| tool.names.canonical.clone()).collect();
                let error = unknown(format!("several tools go by \"{}\"", shown()), names);
                Err((Some(name), error))
            }
            Err(_) => {
                // Only names of this provider: the model can call no other.
                let names = self.names.keys().map(String::as_str);
                let near = if *unknown_tools < MAX_COMPARED { nearest(&name, names) } else { Vec::new() };
                *unknown_tools += 1;
                let error = unknown(format!("there is no tool \"{}\"", shown()), owned(near));
                Err((Some(name), error))
            }
        }
    }

    fn means_tool(&self, name: &str) -> bool {
        let is_known = |tool: &Tool| self.known.contains(tool.names.canonical.as_str());
        self.names.contains_key(name.trim())
            || self.catalog.find(name).is_some_and(is_known)
            || self.called(name, &is_known).is_ok()
    }

    /// The tool or the function that a name means which is not exact.
    fn called(&self, name: &str, is_known: &dyn Fn(&Tool) -> bool) -> Result<&'a Tool, Vec<&'a Tool>> {
        // The catalog knows which server a tool is of.
        let mut names = called_names(name).into_iter().filter(|called| called.server.is_none());
        match names.find_map(|called| self.names.get(called.name)).map(Vec::as_slice) {
            Some([tool]) => return Ok(tool),
            Some(several) => return Err(several.to_vec()),
            None => {}
        }
        self.catalog.called(name, is_known).or_else(|several| match several[..] {
            [] => functions().called(name, &|_| true),
            _ => Err(several),
        })
    }

    /// The outcome of a call; several outcomes if a model wrote several calls into one text. Of a call that an answer ended in,
    /// only a whole text is read.
    fn outcomes(
        &self,
        tool: &'a Tool,
        arguments: Option<Value>,
        may_be_cut: bool,
        reading: &mut ArgumentReader,
    ) -> Vec<Outcome<'a>> {
        let is_text = |text: &str| !may_be_cut || !text.trim().is_empty();
        let text = match arguments {
            Some(Value::String(text)) if is_text(&text) => text,
            arguments if may_be_cut => {
                return vec![(Err(cut_off(tool, given(arguments, reading))), Vec::new())];
            }
            arguments => {
                let value = reading.arguments(arguments);
                return vec![self.outcome(tool, None, Reading { value, repaired: Vec::new() }, reading)];
            }
        };
        match arguments_in_text(tool, &text, reading) {
            Ok(mut calls) => match (calls.pop(), calls.is_empty()) {
                (Some(only), true) => vec![self.outcome(tool, Some(text), only, reading)],
                (last, _) => {
                    let calls = calls.into_iter().chain(last);
                    calls.map(|call| self.outcome(tool, None, call, reading)).collect()
                }
            },
            Err(_) if may_be_cut => vec![(Err(cut_off(tool, text)), Vec::new())],
            Err(problem) => vec![(Err(unreadable(tool, &problem, text)), Vec::new())],
        }
    }

    /// The outcome of a call with these arguments; `text` is their text, if they were written as text.
    fn outcome(
        &self,
        tool: &'a Tool,
        text: Option<String>,
        Reading { value, repaired }: Reading,
        reading: &mut ArgumentReader,
    ) -> Outcome<'a> {
        let renamed = self.renamed.get(tool.names.canonical.as_str());
        let to_canonical = |value| canonical(value, tool, self.format, renamed);
        // In a strict schema that requires every property, only null can leave one out.
        let requires_nulls =
            self.format.schema.strict == Some(Strict::OpenAi) && tool.input.strict == Some(true);
        let (read, unchecked) = match tool.input.parameters.callable() {
            Callable::No(reason) => {
                let message = format!("`{}` cannot be called, since {reason}", tool.names.canonical);
                let given = text.unwrap_or_else(|| reading.written(&value));
                return (Err(failed(tool, CallErrorCode::Schema, message, given)), repaired);
            }
            Callable::Unchecked(mode) => (Reading { value: to_canonical(value), repaired }, Some(*mode)),
            Callable::Checked => {
                let coercion =
                    Coercion { tool, reader: &mut *reading, to_canonical: &to_canonical, requires_nulls };
                let read = coercion.check(value, repaired);
                match respelled(tool, reading, read) {
                    Ok(read) => (read, None),
                    Err((read, wrong)) => {
                        let given = text.unwrap_or_else(|| reading.written(&read.value));
                        let secrets = self.catalog.secrets();
                        let schema = tool.input.parameters.schema();
                        let wrong: Vec<_> =
                            wrong.into_iter().map(|one| secrets.conceal(schema, &read.value, one)).collect();
                        let message = summary(&wrong);
                        let field_errors = wrong.into_iter().map(FieldError::from).collect();
                        let error = failed(tool, CallErrorCode::Schema, message, given);
                        return (Err(CallError { field_errors, ..error }), read.repaired);
                    }
                }
            }
        };
        match reading.finished(read.value) {
            (Value::Object(fields), exact) => {
                (Ok(ValidCall::new(tool, fields, exact, unchecked)), read.repaired)
            }
            (other, _) => {
                let message = "the arguments are not an object".into();
                (Err(failed(tool, CallErrorCode::Schema, message, other.to_string())), read.repaired)
            }
        }
    }
}

/// Arguments by the canonical schema. The change is no repair: the model wrote what its schema asked for, also below
/// the key under which a stub asks for arguments.
fn canonical(mut value: Value, tool: &Tool, format: &Format, renamed: Option<&Renaming>) -> Value {
    if let Value::Object(fields) = &mut value
        && format.stub == Stub::Args
        && fields.len() == 1
        && let Some(inside @ Value::Object(_)) = fields.get_mut(stub_key(tool))
    {
        value = inside.take();
    }
    if let Some(renamed) = renamed {
        renamed.undo(&mut value);
    }
    value
}

/// The question to the model; `None` when it could not help.
fn question(entry: &CallEntry<'_>, error: &CallError) -> Option<RepairQuestion> {
    // A model would drop all calls of a text but one, and would invent the rest of a call that is cut off.
    if !error.may_be_rewritten || !matches!(error.code, CallErrorCode::Parse | CallErrorCode::Schema) {
        return None;
    }
    RepairQuestion::of(entry.tool()?, &error.given, &error.message, &error.field_errors)
}

/// A provider's error message, in its common forms.
fn refusal(body: &Value) -> Option<String> {
    let error = body.get("error").filter(|error| !error.is_null())?;
    let message = error.get("message").or_else(|| error.get("error")).unwrap_or(error).as_str()?;
    Some(clean_line(message).chars().take(MAX_REFUSAL).collect())
}

fn owned(names: Vec<&str>) -> Vec<String> {
    names.into_iter().map(str::to_string).collect()
}

/// The first violation, and the number of the others.
fn summary(wrong: &[Violation]) -> String {
    let Some(first) = wrong.first() else { return "the arguments do not fit the schema".into() };
    // The message names a missing or unknown property already.
    let (parent, last) = first.pointer.rsplit_once('/').unwrap_or_default();
    let is_named = !last.is_empty() && first.message.contains(&format!("\"{last}\""));
    let pointer = if is_named { parent } else { &first.pointer };
    let place = if pointer.is_empty() { String::new() } else { format!(" at {pointer}") };
    let more = if wrong.len() > 1 { format!(", and {} more", wrong.len() - 1) } else { String::new() };
    format!("the arguments do not fit: {}{place}{more}", first.message)
}

fn failed(tool: &Tool, code: CallErrorCode, message: String, given: String) -> CallError {
    CallError { given, ..CallError::new(code, message, &tool.names.op) }
}

/// The error of arguments that cannot be read.
fn unreadable(tool: &Tool, problem: &Unreadable, given: String) -> CallError {
    let error = failed(tool, CallErrorCode::Parse, format!("the arguments {problem}"), given);
    CallError { may_be_rewritten: *problem != Unreadable::Unclear, ..error }
}

/// The error of the call in which an answer was cut off.
fn cut_off(tool: &Tool, given: String) -> CallError {
    let message = format!(
        "the answer reached its limit of tokens (`max_tokens`) in this call, and the arguments are cut off after {} characters; \
         send the whole call again, shorter or with a higher limit",
        given.chars().count()
    );
    CallError { may_be_rewritten: false, ..failed(tool, CallErrorCode::Parse, message, given) }
}

fn malformed_call(reason: String, help_path: &str, given: String) -> CallError {
    CallError { given, ..CallError::new(CallErrorCode::Parse, reason, help_path) }
}

/// The arguments as the model wrote them.
fn given(arguments: Option<Value>, reading: &mut ArgumentReader) -> String {
    match arguments {
        Some(Value::String(text)) => reading.text(text),
        Some(value) => reading.written(&value),
        None => String::new(),
    }
}
