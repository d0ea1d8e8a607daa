//! One job of an agent, without I/O: which calls are answered here, which one the language has to run next, batches, and
//! results. Each language runs functions; everything else is decided here.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Map, Value, json};
use toolcrib::catalog::results::{Answers, ReferenceError, check_found, check_select, selected, shape_of};

use crate::catalog::{Catalog, Made};
use crate::error::Failure;

const BATCH: &str = "tool_batch";
const OURS: [&str; 4] = ["read_tool_doc", "tool_search", "tool_help", BATCH];
const CORRECT: &str = "correct the call, and send it again";
const CORRECT_OR_OTHER: &str = "correct the call, or try another way";

/// Whether a session answers a function of this name itself.
pub(crate) fn is_ours(name: &str) -> bool {
    OURS.contains(&name)
}

type Object = Map<String, Value>;

/// Settings of a session.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// The profile whose tools exist.
    pub profile: Option<String>,
    /// Whether docs have to be read before calls; decides in place of the configuration.
    pub require_docs: Option<bool>,
    /// The canonical names of what the language runs.
    pub runnable: Vec<String>,
}

/// The calls of one agent. Clones share what it has read.
#[derive(Clone, Debug)]
pub struct Session(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    catalog: Catalog,
    profile: Option<String>,
    require_docs: Option<bool>,
    names: HashSet<String>,
    runnable: HashSet<String>,
    /// The receipts of the docs that the agent has read, by tool.
    read: Mutex<HashMap<String, String>>,
}

/// What becomes of a call.
enum Begun {
    Answered(Value),
    Run(Run),
    Batch(VecDeque<Value>),
}

/// A function to run.
#[derive(Debug)]
struct Run {
    name: String,
    arguments: Value,
    /// The part of its result that the call selects.
    select: Option<String>,
}

impl Session {
    /// A session; an unknown profile is a failure.
    pub fn new(catalog: &Catalog, settings: Settings) -> Made<Self> {
        let Settings { profile, require_docs, runnable } = settings;
        catalog.check_profile(profile.as_deref())?;
        let (names, runnable) = (catalog.names(), runnable.into_iter().collect());
        let (catalog, read) = (catalog.clone(), Mutex::default());
        Ok(Self(Arc::new(Inner { catalog, profile, require_docs, names, runnable, read })))
    }

    /// A call of a tool by name, as `parse` prints it; `arguments` is JSON text, maybe of a model.
    pub fn call(&self, name: &str, arguments: &str) -> Made<String> {
        Ok(self.0.call(name, arguments)?.to_string())
    }

    /// The job of one call, an entry of `parse`. It ends with the envelope of the answer.
    pub fn run(&self, call: &str) -> Made<Job> {
        let call = serde_json::from_str(call)?;
        Ok(Job { session: self.0.clone(), frames: Vec::new(), first: Some(call), select: None })
    }

    /// The job of all calls of a response, entries of `parse`. It ends with the messages that take the results back.
    pub fn answer(&self, provider: &str, calls: &str) -> Made<Job> {
        let calls: VecDeque<Value> = serde_json::from_str(calls)?;
        let turn =
            Frame::Turn { provider: provider.to_owned(), calls, current: Value::Null, answered: Vec::new() };
        Ok(Job { session: self.0.clone(), frames: vec![turn], first: None, select: None })
    }
}

impl Inner {
    fn call(&self, name: &str, arguments: &str) -> Made<Value> {
        let call =
            json!({ "id": "call", "type": "function", "function": { "name": name, "arguments": arguments } });
        let response = json!({ "choices": [{ "message": { "tool_calls": [call] } }] }).to_string();
        let calls = self.catalog.parse("openai", &response, self.profile.as_deref(), false)?;
        let calls: Vec<Value> = serde_json::from_str(&calls)?;
        calls.into_iter().next().ok_or_else(|| Failure::argument(format!("there is no call of `{name}`")))
    }

    fn begin(&self, call: &Value, receipt: Option<&str>) -> Begun {
        self.try_begin(call, receipt).unwrap_or_else(|failure| Begun::Answered(failed(&failure)))
    }

    fn try_begin(&self, call: &Value, receipt: Option<&str>) -> Made<Begun> {
        if let Some(error) = call["error"].as_object() {
            return Ok(Begun::Answered(refused(error.clone(), CORRECT)));
        }
        let (name, args) = (call["name"].as_str().unwrap_or_default(), &call["args"]);
        if name == "tool_exec" {
            let given = if args["args"].is_null() { "{}".to_owned() } else { args["args"].to_string() };
            let inner = self.call(args["op"].as_str().unwrap_or_default(), &given)?;
            let select = args["select"].as_str().map(str::to_owned);
            if let Some(Err(problem)) = select.as_deref().map(check_select) {
                return Ok(Begun::Answered(invalid(&format!("`select` {problem}"))));
            }
            return Ok(match self.try_begin(&inner, args["receipt"].as_str())? {
                Begun::Run(run) => Begun::Run(Run { select, ..run }),
                Begun::Answered(envelope) => Begun::Answered(selected_part(envelope, select.as_deref())),
                batch => batch,
            });
        }
        let is_run = self.runnable.contains(name);
        if is_ours(name) && !is_run {
            if name == BATCH {
                return Ok(Begun::Batch(items(&args["calls"]).into()));
            }
            return Ok(Begun::Answered(succeeded(self.answer(name, args)?)));
        }
        if self.names.contains(name)
            && let Some(unread) = self.without_doc(name, receipt)?
        {
            return Ok(Begun::Answered(unread));
        }
        if !is_run {
            let message = format!("nothing runs `{name}` here");
            let next = format!(
                "do not send it again. Try another way, or tell the user that `{name}` does not work, and its error"
            );
            return Ok(Begun::Answered(refusal("NOT_FOUND", &message, &next, Map::new())));
        }
        let arguments = if args.is_null() { json!({}) } else { args.clone() };
        Ok(Begun::Run(Run { name: name.to_owned(), arguments, select: None }))
    }

    /// The answer to a call of one of the functions that are answered here.
    fn answer(&self, function: &str, given: &Value) -> Made<Value> {
        let profile = self.profile.as_deref();
        Ok(match function {
            "read_tool_doc" => self.read_docs(given)?.into(),
            "tool_help" => {
                let path = given["path"].as_str().unwrap_or_default();
                serde_json::from_str(&self.catalog.help(path, profile)?)?
            }
            _ => match items(&given["queries"]) {
                queries if queries.is_empty() => self.search(&given["query"], given)?.into(),
                queries => {
                    let mut results = Vec::new();
                    for query in queries {
                        let mut result = Map::from_iter([("query".to_owned(), query.clone())]);
                        result.extend(self.search(&query, given)?);
                        results.push(result);
                    }
                    json!({ "results": results })
                }
            },
        })
    }

    fn search(&self, query: &Value, given: &Value) -> Made<Object> {
        let limit = given["limit"].as_u64().filter(|limit| *limit > 0).unwrap_or(5);
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let query = query.as_str().map_or_else(|| query.to_string(), str::to_owned);
        let found = self.catalog.search(&query, limit, self.profile.as_deref())?;
        let found: Value = serde_json::from_str(&found)?;
        let hits = Value::from_iter(items(&found["hits"]).into_iter().map(|hit| {
            json!({ "name": hit["name"], "op": hit["op"], "summary": hit["summary"], "reason": hit["reason"] })
        }));
        let answer = match found["verdict"].as_str() {
            Some("match") => json!({ "results": hits }),
            Some("unsure") => json!({ "unsure": true, "results": hits, "unmet": found["unmet"] }),
            _ => json!({ "no_match": true, "nearest": hits, "unmet": found["unmet"] }),
        };
        Ok(object(answer))
    }

    fn read_docs(&self, given: &Value) -> Made<String> {
        let mut docs = Vec::new();
        for name in std::iter::once(&given["name"]).chain(&items(&given["names"])) {
            let Some(name) = name.as_str().filter(|name| !name.is_empty()) else { continue };
            docs.push(self.catalog.doc(name, self.profile.as_deref())?);
            let call = self.call(name, "{}")?;
            self.note_read(call["name"].as_str().unwrap_or(name), self.catalog.receipt(name)?.1);
        }
        Ok(docs.join("\n\n"))
    }

    fn note_read(&self, name: &str, receipt: String) {
        self.read.lock().unwrap_or_else(PoisonError::into_inner).insert(name.to_owned(), receipt);
    }

    /// The error with the help of a tool, where its doc has to be read first and was not.
    fn without_doc(&self, name: &str, receipt: Option<&str>) -> Made<Option<Value>> {
        let (is_required, current) = self.catalog.receipt(name)?;
        let is_read = receipt == Some(current.as_str())
            || self.read.lock().unwrap_or_else(PoisonError::into_inner).get(name) == Some(&current);
        if !self.require_docs.unwrap_or(is_required) || is_read {
            return Ok(None);
        }
        self.note_read(name, current);
        let help: Value = serde_json::from_str(&self.catalog.help(name, self.profile.as_deref())?)?;
        let message = format!("the doc of `{name}` has to be read before it is called");
        let hints = Map::from_iter([("help".to_owned(), help)]);
        Ok(Some(refusal("DOC_REQUIRED", &message, "read `help` here, then send the call again", hints)))
    }
}

/// Calls that are answered in order.
#[derive(Debug)]
enum Frame {
    /// The calls of a response.
    Turn { provider: String, calls: VecDeque<Value>, current: Value, answered: Vec<Value> },
    /// The calls of a `tool_batch`.
    Batch { items: VecDeque<Value>, current: Value, results: Vec<Value> },
}

/// A job until it is done: [`Job::next`] tells which function to run, and takes its answer.
#[derive(Debug)]
pub struct Job {
    session: Arc<Inner>,
    frames: Vec<Frame>,
    first: Option<Value>,
    /// The part that the running call selects.
    select: Option<String>,
}

impl Job {
    /// The next step: `{"run": {"name", "arguments"}}`, or `{"done": ...}`. `answer` is that of the function of the step
    /// before: `{"result": ...}`, or `{"error": {"code", "message", ...}}`.
    pub fn next(&mut self, answer: Option<&str>) -> Made<String> {
        let select = self.select.take();
        let envelope = answer.map(envelope_of).transpose()?;
        let mut envelope = envelope.map(|envelope| selected_part(envelope, select.as_deref()));
        if let Some(call) = self.first.take() {
            match self.session.begin(&call, None) {
                Begun::Run(run) => return Ok(self.step(run)),
                begun => envelope = self.entered(begun),
            }
        }
        loop {
            let Some(frame) = self.frames.last_mut() else {
                return Ok(json!({ "done": envelope }).to_string());
            };
            if let Some(envelope) = envelope.take() {
                frame.keep(envelope);
            }
            let begun = match frame {
                Frame::Turn { calls, current, .. } => calls.pop_front().map(|call| {
                    *current = call;
                    self.session.begin(current, None)
                }),
                Frame::Batch { items, current, results } => items.pop_front().map(|item| {
                    *current = item;
                    begin_item(&self.session, current, results)
                }),
            };
            match begun {
                Some(Begun::Run(run)) => return Ok(self.step(run)),
                Some(begun) => envelope = self.entered(begun),
                None => match self.frames.pop() {
                    Some(Frame::Turn { provider, answered, .. }) => {
                        let answered = Value::from(answered).to_string();
                        let profile = self.session.profile.as_deref();
                        let message = self.session.catalog.results(&provider, &answered, profile)?;
                        return Ok(json!({ "done": serde_json::from_str::<Value>(&message)? }).to_string());
                    }
                    Some(Frame::Batch { results, .. }) => {
                        let failed = results.iter().filter(|result| result["ok"] != true).count();
                        envelope = Some(succeeded(json!({ "results": results, "failed": failed })));
                    }
                    None => {}
                },
            }
        }
    }

    /// The step that runs a function.
    fn step(&mut self, Run { name, arguments, select }: Run) -> String {
        self.select = select;
        json!({ "run": { "name": name, "arguments": arguments } }).to_string()
    }

    /// The envelope of a call that is answered here; of a batch, its calls come first.
    fn entered(&mut self, begun: Begun) -> Option<Value> {
        match begun {
            Begun::Answered(envelope) => return Some(envelope),
            Begun::Batch(items) => {
                self.frames.push(Frame::Batch { items, current: Value::Null, results: Vec::new() });
            }
            Begun::Run(_) => {}
        }
        None
    }
}

impl Frame {
    fn keep(&mut self, envelope: Value) {
        match self {
            Self::Turn { current, answered, .. } => {
                let mut entry = object(current.take());
                entry.shift_remove("error");
                entry.insert("envelope".into(), envelope);
                answered.push(entry.into());
            }
            Self::Batch { current, results, .. } => {
                let mut result = Map::from_iter([("index".to_owned(), results.len().into())]);
                if let Some(id) = current.get("id").filter(|id| !id.is_null()) {
                    result.insert("id".into(), id.clone());
                }
                result.insert("function".into(), function_of(current).into());
                result.extend(object(envelope));
                results.push(result.into());
            }
        }
    }
}

/// The function that an item of a batch calls; an item with an `op` runs this op.
fn function_of(item: &Value) -> &str {
    if item["op"].is_string() { "tool_exec" } else { item["function"].as_str().unwrap_or_default() }
}

fn begin_item(session: &Inner, item: &Value, results: &[Value]) -> Begun {
    let input = if item["op"].is_string() {
        let mut fields = object(item.clone());
        fields.retain(|name, _| name != "id" && name != "function");
        Value::Object(fields)
    } else {
        item["input"].clone()
    };
    let ids: Vec<Option<&str>> = results.iter().map(|result| result["id"].as_str()).collect();
    let answer = |call: usize| results.get(call).filter(|result| result["ok"] == true);
    let begun = match (Answers { ids: &ids, answer: &answer }).resolve(&input) {
        Ok(input) => session.call(function_of(item), &input.to_string()),
        Err((_, error @ ReferenceError::NotRun(call))) => {
            let next = format!("correct call {call}, then send both again");
            return Begun::Answered(refusal("NOT_RUN", &error.to_string(), &next, Map::new()));
        }
        Err((at, error)) => return Begun::Answered(invalid(&format!("{at}: {error}"))),
    };
    begun.map_or_else(|failure| Begun::Answered(failed(&failure)), |call| session.begin(&call, None))
}

/// An envelope with the selected part of its result. Nothing is withheld because of a mistake in `select`: the call was run.
fn selected_part(mut envelope: Value, select: Option<&str>) -> Value {
    let (Some(expression), true) = (select, envelope["ok"] == true) else { return envelope };
    let result = envelope["result"].take();
    let part = selected(expression, &result).and_then(|part| check_found(&part).map(|()| part));
    match part {
        Ok(part) => envelope["result"] = part,
        Err(problem) => {
            let warning = format!("`select` {problem}; the result is {}", shape_of(&result));
            envelope["meta"] = json!({ "warnings": [warning] });
            envelope["result"] = result;
        }
    }
    envelope
}

fn envelope_of(answer: &str) -> Made<Value> {
    let mut answer: Object = serde_json::from_str(answer)?;
    Ok(match answer.shift_remove("error") {
        None => succeeded(answer.shift_remove("result").unwrap_or_default()),
        Some(error) => {
            let error = object(error);
            let next = if error.contains_key("field_errors") { CORRECT } else { CORRECT_OR_OTHER };
            refused(error, next)
        }
    })
}

fn succeeded(result: Value) -> Value {
    json!({ "ok": true, "result": result })
}

fn refusal(code: &str, message: &str, next_action: &str, hints: Object) -> Value {
    let mut error = object(json!({ "code": code, "message": message, "next_action": next_action }));
    error.extend(hints);
    json!({ "ok": false, "error": error })
}

fn invalid(message: &str) -> Value {
    refusal("VALIDATION_ERROR", message, CORRECT, Map::new())
}

fn failed(failure: &Failure) -> Value {
    let mut hints = Map::new();
    if !failure.nearest.is_empty() {
        hints.insert("nearest".into(), failure.nearest.clone().into());
    }
    refusal(&failure.code.to_uppercase(), &failure.message, CORRECT_OR_OTHER, hints)
}

/// The refusal for an error with `code` and `message`; its other fields are hints.
fn refused(mut error: Object, next_action: &str) -> Value {
    let (code, message) = (text(&mut error, "code"), text(&mut error, "message"));
    refusal(&code.to_uppercase(), &message, next_action, error)
}

fn text(fields: &mut Object, name: &str) -> String {
    match fields.shift_remove(name) {
        Some(Value::String(text)) => text,
        other => other.unwrap_or_default().to_string(),
    }
}

fn items(value: &Value) -> Vec<Value> {
    value.as_array().cloned().unwrap_or_default()
}

fn object(value: Value) -> Object {
    if let Value::Object(fields) = value { fields } else { Map::new() }
}
