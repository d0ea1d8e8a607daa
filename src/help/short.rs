//! Short help on one op: the facts that a call needs, in few tokens. Always there: summary, usage, the required
//! arguments, the effect, and a ready-made call. The rest is added while there is room, in this order: the policy,
//! values and descriptions of required arguments, types of optional ones, notes, a row with a description for each
//! optional argument, limits. A long call is given with its required arguments alone, where that is valid too.

use serde_json::{Map, Value};

use super::arguments::{Argument, arguments};
use super::usage::{OptionalStyle, line};
use super::{SHORT_MAX_TOKENS, brief, call, called, conditions, fill_in};
use crate::catalog::Tool;
use crate::tokens::estimate;

/// Tokens kept free for the versions and the receipt beside the answer, and for the error of the estimate.
const RESERVED: usize = 66;
/// Tokens of a call above which its optional arguments are left out.
const LONG_CALL: usize = 60;
/// Most characters of an argument's description, of a note, and of a rule.
const MAX_ABOUT: usize = 90;
const MAX_NOTE: usize = 140;
const MAX_RULE: usize = 100;
/// Most optional arguments that are considered.
const MAX_OPTIONAL: usize = 60;

/// The field that says how to get the parts that were left out, and its value.
const MORE: &str = "more";
const HOW: &str = "format=full";

/// One part that may be added.
#[derive(Clone, Copy)]
enum Step {
    Usage,
    Row(usize),
    About(usize),
    Fields(usize),
    Limits(usize),
    Rule(usize, usize),
    Note(usize),
}

/// The names of the lists of a policy.
const RULES: [&str; 3] = ["do", "dont", "edge_cases"];

struct Draft<'a> {
    tool: &'a Tool,
    arguments: &'a [Argument<'a>],
    call: Option<Value>,
    fill_in: Value,
    usage: String,
    optional: OptionalStyle,
    /// The row of each argument; `None` where no row is needed.
    rows: Vec<Option<Map<String, Value>>>,
    rules: [Vec<Value>; 3],
    notes: Vec<Value>,
    is_cut: bool,
}

pub(super) fn short(tool: &Tool) -> Map<String, Value> {
    let arguments = arguments(tool);
    let mut draft = Draft::new(tool, &arguments);
    draft.lay();
    for step in steps(tool, &arguments) {
        draft.add(step);
    }
    let rows = draft.rows.iter().filter(|row| row.is_some()).count();
    draft.is_cut |= rows < arguments.len() && draft.optional != OptionalStyle::Typed;
    draft.written()
}

/// All parts that may be added, the most important first.
fn steps(tool: &Tool, arguments: &[Argument<'_>]) -> Vec<Step> {
    let required = arguments.iter().filter(|argument| argument.required).count();
    let optional = required..arguments.len().min(required + MAX_OPTIONAL);
    let mut steps: Vec<Step> = Vec::new();
    if let Some(policy) = &tool.policy {
        let lists = [&policy.dos, &policy.donts, &policy.edge_cases];
        let longest = lists.iter().map(|list| list.len()).max().unwrap_or_default();
        let rules = (0..longest).flat_map(|at| (0..3).map(move |list| (list, at)));
        steps.extend(
            rules.filter(|(list, at)| *at < lists[*list].len()).map(|(list, at)| Step::Rule(list, at)),
        );
    }
    steps.extend((0..required).flat_map(|at| [Step::Fields(at), Step::About(at)]));
    steps.push(Step::Usage);
    steps.extend((0..tool.notes.len()).map(Step::Note));
    steps.extend(optional.clone().flat_map(|at| [Step::Row(at), Step::About(at), Step::Fields(at)]));
    steps.extend((0..optional.end).map(Step::Limits));
    steps
}

impl<'a> Draft<'a> {
    fn new(tool: &'a Tool, arguments: &'a [Argument<'a>]) -> Self {
        let rows = arguments.iter().map(|argument| argument.required.then(|| argument.row())).collect();
        let (rules, notes) = (Default::default(), Vec::new());
        let (usage, optional) = (String::new(), OptionalStyle::Named);
        let whole = call(tool);
        let short = whole.as_ref().filter(|call| estimate(&call.to_string()) > LONG_CALL);
        let short = short.and_then(|_| required(tool, arguments));
        let is_cut = short.is_some();
        let call = short.or(whole);
        let fill_in = fill_in(tool, call.as_ref());
        Self { tool, arguments, call, fill_in, usage, optional, rows, rules, notes, is_cut }
    }

    /// Writes the parts that are always there, in the richest form that fits; values of arguments are dropped last.
    fn lay(&mut self) {
        for optional in
            [OptionalStyle::Named, OptionalStyle::First(6), OptionalStyle::First(0), OptionalStyle::Bare]
        {
            self.write_usage(optional);
            if self.fits() {
                return;
            }
        }
        self.fill_in = Value::Null;
        self.is_cut = true;
        let length = |row: &Map<String, Value>| row.get("enum").map_or(0, |values| values.to_string().len());
        while !self.fits() {
            let longest = self.rows.iter_mut().flatten().max_by_key(|row| length(row));
            let Some(row) = longest.filter(|row| row.contains_key("enum")) else { return };
            row.shift_remove("enum");
            self.is_cut = true;
        }
    }

    fn write_usage(&mut self, optional: OptionalStyle) {
        self.optional = optional;
        self.usage = line(self.tool, self.arguments, optional);
    }

    /// Adds one part, unless there is no room for it.
    fn add(&mut self, step: Step) {
        let optional = self.optional;
        let is_new = match step {
            Step::Usage => {
                self.write_usage(OptionalStyle::Typed);
                true
            }
            Step::Row(at) => {
                self.rows[at] = Some(self.arguments[at].row());
                true
            }
            Step::About(at) => self.tell(at, "about", self.arguments[at].about(MAX_ABOUT)),
            Step::Fields(at) => self.tell(at, "fields", self.arguments[at].fields()),
            Step::Limits(at) => self.tell(at, "limits", self.arguments[at].limits()),
            Step::Rule(list, at) => {
                let rule = self
                    .tool
                    .policy
                    .as_ref()
                    .and_then(|policy| [&policy.dos, &policy.donts, &policy.edge_cases][list].get(at));
                self.rules[list].extend(rule.map(|rule| brief(rule, MAX_RULE).into()));
                rule.is_some()
            }
            Step::Note(at) => {
                self.notes.push(brief(&self.tool.notes[at], MAX_NOTE).into());
                true
            }
        };
        if is_new && !self.fits() {
            self.is_cut = true;
            self.take_back(step, optional);
        }
    }

    /// Adds a field to the row of an argument.
    fn tell(&mut self, at: usize, what: &str, said: Option<String>) -> bool {
        let is_told = said.is_some();
        match (&mut self.rows[at], said) {
            (Some(row), Some(said)) => {
                row.insert(what.into(), said.into());
                true
            }
            _ => {
                self.is_cut |= is_told;
                false
            }
        }
    }

    fn take_back(&mut self, step: Step, optional: OptionalStyle) {
        let mut untell = |at: usize, what: &str| {
            if let Some(row) = &mut self.rows[at] {
                row.shift_remove(what);
            }
        };
        match step {
            Step::Usage => self.write_usage(optional),
            Step::Row(at) => self.rows[at] = None,
            Step::About(at) => untell(at, "about"),
            Step::Fields(at) => untell(at, "fields"),
            Step::Limits(at) => untell(at, "limits"),
            Step::Rule(list, _) => drop(self.rules[list].pop()),
            Step::Note(_) => drop(self.notes.pop()),
        }
    }

    fn fits(&self) -> bool {
        let written = serde_json::to_string(&self.written()).unwrap_or_default();
        estimate(&written) + RESERVED <= SHORT_MAX_TOKENS
    }

    fn written(&self) -> Map<String, Value> {
        let mut fields = Map::new();
        fields.insert("op".into(), self.tool.op.as_str().into());
        fields.insert("summary".into(), self.tool.short.as_str().into());
        fields.insert("usage".into(), self.usage.as_str().into());
        let rows = self.rows.iter().flatten().cloned().map(Value::Object);
        fields.insert("args".into(), rows.collect());
        let rules = RULES.iter().zip(&self.rules).filter(|(_, rules)| !rules.is_empty());
        let policy: Map<String, Value> =
            rules.map(|(name, rules)| (name.to_string(), rules.as_slice().into())).collect();
        if !policy.is_empty() {
            fields.insert("policy".into(), policy.into());
        }
        if !self.notes.is_empty() {
            fields.insert("notes".into(), self.notes.as_slice().into());
        }
        fields.extend(conditions(self.tool));
        fields.extend(self.call.clone().map(|call| ("call".to_string(), call)));
        if self.fill_in.as_array().is_some_and(|pointers| !pointers.is_empty()) {
            fields.insert("fill_in".into(), self.fill_in.clone());
        }
        if self.is_cut {
            fields.insert(MORE.into(), HOW.into());
        }
        fields
    }
}

/// The ready-made call with its required arguments alone, if it is valid and fits.
fn required(tool: &Tool, arguments: &[Argument<'_>]) -> Option<Value> {
    let required =
        |name: &String| arguments.iter().any(|argument| argument.required && argument.name == name);
    let given = tool.call.as_ref()?.iter().filter(|(name, _)| required(name));
    let args: Map<String, Value> = given.map(|(name, value)| (name.clone(), value.clone())).collect();
    let is_call = !args.is_empty() && tool.parameters.accepts(&Value::Object(args.clone()));
    is_call.then(|| called(tool, &args))
}
