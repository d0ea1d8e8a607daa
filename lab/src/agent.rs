//! The scripted agent. In every mode it makes the calls of the task, in order; before the first call of a tool it gets what
//! the mode asks for:
//!
//! | mode | before the first call of a deferred tool |
//! | --- | --- |
//! | `full` | nothing |
//! | `hybrid` | its page |
//! | `native` | a search, whose hits bring their definitions |
//! | `gateway` | a search, and help on the op unless its hit had a usage that names every required argument |
//!
//! A search that does not find the tool is worded anew once; then the agent asks for help on the op by its name, as
//! somebody who looks through the groups would end up doing, and the search counts as missed.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use serde_json::{Map, Value, json};

use toolcrib::Mode;
use toolcrib::catalog::{Profile, Tool};
use toolcrib::definition::{DescriptionMode, words};
use toolcrib::functions::{Answer, CatalogView, Function, FunctionContext, GivenNotes, ToolCall};
use toolcrib::tokens::Counter;

use crate::ledger::Ledger;
use crate::tasks::{Task, TaskCall};

/// Events of a task.
#[derive(Clone, Debug, Default)]
pub struct Events {
    pub calls: usize,
    /// Tools of calls that are not in the catalog.
    pub unknown: usize,
    pub searches: usize,
    /// First searches with the right tool in first place, and among the hits.
    pub first: usize,
    pub found: usize,
    /// First searches that said that there is no such tool.
    pub no_match: usize,
    /// Right calls that were refused, and the first reason.
    pub refused: usize,
    pub refusal: Option<String>,
}

impl Events {
    pub fn add(&mut self, other: Events) {
        self.calls += other.calls;
        self.unknown += other.unknown;
        self.searches += other.searches;
        self.first += other.first;
        self.found += other.found;
        self.no_match += other.no_match;
        self.refused += other.refused;
        self.refusal = self.refusal.take().or(other.refusal);
    }
}

/// The agent in one mode.
pub struct Agent<'a> {
    pub mode: Mode,
    pub batched: bool,
    pub view: Arc<CatalogView>,
    pub profile: &'a Profile<'a>,
    pub counter: &'a mut Counter,
    /// Tokens of a tool's definition, as it is bound in full.
    pub definition: &'a dyn Fn(&Tool) -> usize,
}

/// One task as it is played.
struct Play<'a, 'b> {
    agent: &'b mut Agent<'a>,
    context: FunctionContext,
    ledger: Ledger,
    events: Events,
    known: HashSet<String>,
    /// The refusal of the last call.
    refusal: Option<String>,
}

impl<'a> Agent<'a> {
    /// Plays a task.
    pub async fn play(&mut self, task: &Task) -> (Ledger, Events) {
        let context = FunctionContext::of(Arc::clone(&self.view));
        let mut play = Play {
            agent: self,
            context,
            ledger: Ledger::default(),
            events: Events::default(),
            known: HashSet::new(),
            refusal: None,
        };
        play.task(task).await;
        play.ledger.end();
        (play.ledger, play.events)
    }

    fn tokens(&mut self, text: &str) -> usize {
        self.counter.count(text)
    }

    fn is_deferred(&self, tool: &Tool) -> bool {
        let entry =
            self.profile.tools.iter().find(|entry| entry.tool.names.canonical == tool.names.canonical);
        entry.is_none_or(|entry| entry.mode == DescriptionMode::Deferred)
    }
}

impl Play<'_, '_> {
    async fn task(&mut self, task: &Task) {
        let view = Arc::clone(&self.agent.view);
        let tool_of = |call: &TaskCall| Some(&*view.catalog().tools[view.resolve(&call.name).ok()?]);
        if self.agent.batched {
            let tools: Vec<&Tool> = task.calls.iter().filter_map(tool_of).collect();
            self.learn(&tools).await;
        }
        for call in &task.calls {
            let Some(tool) = tool_of(call) else {
                self.events.unknown += 1;
                continue;
            };
            if !self.known.contains(&tool.names.canonical) {
                self.learn(&[tool]).await;
            }
            self.events.calls += 1;
            let was_run = self.call(tool, call.arguments.clone(), call.result.as_ref()).await;
            if !was_run {
                self.events.refused += 1;
                self.events.refusal = self.events.refusal.take().or(self.refusal.take());
            }
        }
    }

    /// Gets what the mode asks for before the first calls of these tools.
    async fn learn(&mut self, tools: &[&Tool]) {
        let mut seen = HashSet::new();
        let mut wanted: Vec<&Tool> = tools.to_vec();
        wanted.retain(|tool| {
            !self.known.contains(&tool.names.canonical) && seen.insert(tool.names.canonical.clone())
        });
        self.known.extend(wanted.iter().map(|tool| tool.names.canonical.clone()));
        wanted.retain(|tool| self.agent.is_deferred(tool));
        if wanted.is_empty() {
            return;
        }
        match self.agent.mode {
            Mode::Hybrid => {
                let names: Vec<&str> = wanted.iter().map(|tool| tool.names.safe.as_str()).collect();
                self.ask("read_tool_doc", json!({ "names": names })).await;
            }
            Mode::Native => drop(self.search(&wanted).await),
            Mode::Gateway => {
                let usages = self.search(&wanted).await;
                wanted.retain(|tool| {
                    !usages.get(&tool.names.canonical).is_some_and(|usage| is_enough(tool, usage))
                });
                if wanted.is_empty() {
                    return;
                }
                let paths: Vec<&str> = wanted.iter().map(|tool| tool.names.op.as_str()).collect();
                let path =
                    if let [path] = paths[..] { json!({ "path": path }) } else { json!({ "paths": paths }) };
                self.ask("tool_help", path).await;
            }
            _ => {}
        }
    }

    /// Searches for tools, all in one call, and again in other words for those that were not found. Returns the usages of
    /// hits, by their names.
    async fn search(&mut self, wanted: &[&Tool]) -> HashMap<String, String> {
        let mut usages = HashMap::new();
        let mut missing = wanted.to_vec();
        for wording in [first_words, second_words] {
            let queries: Vec<String> = missing.iter().map(|tool| wording(tool)).collect();
            let is_first = missing.len() == wanted.len();
            let input = match &queries[..] {
                [query] => json!({ "query": query }),
                queries => json!({ "queries": queries }),
            };
            let answer = self.ask("tool_search", input).await;
            let results = match answer.body().get("results").and_then(Value::as_array) {
                Some(results) => results.clone(),
                None => vec![Value::Object(answer.body())],
            };
            let mut not_found = Vec::new();
            for (tool, result) in missing.iter().zip(&results) {
                let hits = result["tools"].as_array().or(result["nearest"].as_array());
                let names: Vec<&str> =
                    hits.into_iter().flatten().filter_map(|hit| hit["name"].as_str()).collect();
                let told = hits.into_iter().flatten().filter_map(|hit| {
                    Some((hit["name"].as_str()?.to_string(), hit["usage"].as_str()?.to_string()))
                });
                usages.extend(told);
                let rank = names.iter().position(|name| *name == tool.names.canonical);
                if is_first {
                    self.events.searches += 1;
                    self.events.first += usize::from(rank == Some(0));
                    self.events.found += usize::from(rank.is_some());
                    self.events.no_match += usize::from(result["verdict"] == "no_match");
                }
                if rank.is_none() {
                    not_found.push(*tool);
                }
                if self.agent.mode == Mode::Native {
                    self.bring(&names);
                }
            }
            if not_found.is_empty() {
                return usages;
            }
            missing = not_found;
        }
        // The provider's search has no other way; a person would name the tool.
        if self.agent.mode == Mode::Native {
            let names: Vec<&str> = missing.iter().map(|tool| tool.names.canonical.as_str()).collect();
            self.bring(&names);
        }
        usages
    }

    /// Definitions that come into the context with the answer of a search.
    fn bring(&mut self, names: &[&str]) {
        let view = Arc::clone(&self.agent.view);
        let tools = names
            .iter()
            .filter_map(|name| view.resolve(name).ok())
            .map(|index| &*view.catalog().tools[index]);
        let fresh: Vec<&Tool> =
            tools.filter(|tool| self.known.insert(format!("defined {}", tool.names.canonical))).collect();
        let tokens: usize = fresh.iter().map(|tool| (self.agent.definition)(tool)).sum();
        self.ledger.add_to_context(tokens);
    }

    /// Calls a function of ours, in a turn of its own.
    async fn ask(&mut self, function: &str, input: Value) -> Answer {
        let call = self.agent.tokens(&json!({ "name": function, "arguments": input }).to_string());
        let answer = match Function::named(function) {
            Some(function) => function.call(&self.context, input).await,
            None => ToolCall::named(&self.context.view, function).call(&self.context).await,
        };
        let tokens = self.agent.tokens(&client_text(&answer));
        self.ledger.turn(call, tokens);
        answer
    }

    /// Calls a tool, in a turn of its own, and returns whether it was run.
    async fn call(&mut self, tool: &Tool, arguments: Map<String, Value>, recorded: Option<&Value>) -> bool {
        let through_gateway = self.agent.mode == Mode::Gateway && self.agent.is_deferred(tool);
        let (sent, answer) = if through_gateway {
            let input = json!({ "op": tool.names.op, "args": arguments });
            let sent = json!({ "name": "tool_exec", "arguments": input });
            (sent, Function::tool_exec().call(&self.context, input).await)
        } else {
            let sent = json!({ "name": tool.names.safe, "arguments": arguments });
            let call = ToolCall::named(&self.context.view, &tool.names.canonical);
            (sent, ToolCall { arguments: Value::Object(arguments), ..call }.call(&self.context).await)
        };
        let text = match recorded {
            Some(recorded) => {
                let mut body = answer.body();
                body.insert("result".into(), recorded.clone());
                Value::Object(body).to_string()
            }
            None => client_text(&answer),
        };
        let (call, answered) = (self.agent.tokens(&sent.to_string()), self.agent.tokens(&text));
        self.ledger.turn(call, answered);
        self.refusal =
            answer.body().get("error").map(|error| format!("{}: {}", tool.names.canonical, error["message"]));
        answer.is_ok()
    }
}

/// The text that a client of MCP gets.
fn client_text(answer: &Answer) -> String {
    answer.for_client(&mut GivenNotes::default()).texts().join("\n")
}

/// Whether a usage names every required argument.
fn is_enough(tool: &Tool, usage: &str) -> bool {
    let required = tool.input.parameters.schema().get("required").and_then(Value::as_array);
    let told: HashSet<&str> = usage.split(|c: char| !c.is_alphanumeric() && !"_-.$".contains(c)).collect();
    required.into_iter().flatten().filter_map(Value::as_str).all(|name| told.contains(name))
}

/// Verbs of names, and what a person says for each.
const VERBS: &str = "add=put in,book=reserve,calculate=work out,cancel=call off,check=look whether,close=end,create=make,\
    delete=get rid of,edit=change,exchange=swap,fetch=look up,find=look for,get=look up,insert=put in,list=show all,\
    merge=combine,modify=change,move=put elsewhere,open=start,post=publish,read=look at,remove=take out,return=give back,\
    run=start,search=look for,send=write to,set=change,transfer=hand over,update=change,write=put text into";
/// Words of names that a person leaves out.
const LEFT_OUT: &str = "a an api by for from in of on the to tool via with";
/// Most words of a description in a second search.
const WORDS: usize = 10;

/// The words of a first search.
fn first_words(tool: &Tool) -> String {
    let own = tool.names.canonical.rsplit(['.', '/', ':']).next().unwrap_or(&tool.names.canonical);
    let said = |(at, word): (usize, String)| {
        let verb = VERBS.split(',').filter_map(|pair| pair.split_once('=')).find(|(verb, _)| *verb == word);
        match verb.filter(|_| at == 0) {
            Some((_, said)) => Some(said.to_string()),
            None => (!is_left_out(&word)).then_some(word),
        }
    };
    let words = words(own.rsplit("__").next().unwrap_or(own));
    words.into_iter().enumerate().filter_map(said).collect::<Vec<_>>().join(" ")
}

/// The words of a second search: more of what the tool is for.
fn second_words(tool: &Tool) -> String {
    let said = words(&tool.texts.short).into_iter().filter(|word| !is_left_out(word));
    said.take(WORDS).collect::<Vec<_>>().join(" ")
}

fn is_left_out(word: &str) -> bool {
    LEFT_OUT.split(' ').any(|left_out| left_out == word)
}
