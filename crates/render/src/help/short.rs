//! Short help on one op: the facts that a call needs, within a budget of tokens. Always there: summary, usage, the required
//! arguments with their types and values, the effect, and a ready-made call. The rest is added while there is room, in
//! this order: the policy, whole; type, default and values of the optional arguments; fields and descriptions of the
//! required ones; the result; notes; errors; fields and descriptions of the optional ones; limits. A long call is given with its required
//! arguments alone, where that is valid too. `left_out` names the parts for which there was no room.

use indexmap::{IndexMap, IndexSet};
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

use super::arguments::{Argument, arguments};
use super::brief::brief;
use super::call::{call, called, conditions, fill_in};
use super::returns::returns;
use super::usage::{OptionalStyle, line};
use toolcrib_catalog::Tool;
use toolcrib_definition::clean_line;
use toolcrib_definition::tokens::token_count;

/// Tokens kept free for the versions and the receipt beside the answer, for the names of parts that are left out, and for
/// the error of the estimate.
const RESERVED: usize = 96;
/// Tokens of a call above which its optional arguments are left out.
const LONG_CALL: usize = 60;
/// Most characters of an argument's description, and of a note.
const MAX_ABOUT: usize = 90;
const MAX_NOTE: usize = 140;
/// Most errors that are named.
const MAX_ERRORS: usize = 8;
/// Most optional arguments that are considered.
const MAX_OPTIONAL: usize = 60;

/// The field that names the parts that were left out.
const LEFT_OUT: &str = "left_out";
/// The field that says how to get them, and its value.
const MORE: &str = "more";
const HOW: &str = "format=full";

/// One part that may be added.
#[derive(Clone, Copy)]
enum Step<'a> {
    Rows,
    Usage,
    Row(usize),
    About(usize),
    Fields(usize),
    Limits(usize),
    /// A rule of a list of the policy.
    Rule(usize, &'a str),
    Note(&'a str),
    Returns(&'a str),
    Error(&'a str),
}

/// The names of the lists of a policy.
const RULES: [&str; 3] = ["do", "dont", "edge_cases"];

/// The answer so far, and what it takes to add to it.
#[derive(Clone, Serialize)]
struct Draft<'a> {
    op: &'a str,
    summary: &'a str,
    usage: String,
    /// The row of each argument; `None` where no row is needed.
    #[serde(rename = "args", serialize_with = "present")]
    rows: Vec<Option<Map<String, Value>>>,
    #[serde(skip_serializing_if = "IndexMap::is_empty")]
    policy: IndexMap<&'static str, Vec<String>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    returns: Option<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    errors: Vec<String>,
    #[serde(flatten)]
    conditions: Map<String, Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    call: Option<Value>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    fill_in: Vec<&'a str>,
    #[serde(skip)]
    arguments: &'a [Argument<'a>],
    #[serde(skip)]
    optional: OptionalStyle,
    #[serde(skip)]
    budget: usize,
    #[serde(skip)]
    left_out: IndexSet<&'static str>,
}

fn present<S: Serializer>(rows: &[Option<Map<String, Value>>], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(rows.iter().flatten())
}

pub(super) fn short(tool: &Tool, budget: usize) -> Map<String, Value> {
    let arguments = arguments(tool);
    let mut draft = Draft::new(tool, &arguments, budget);
    draft.lay();
    let returns = returns(tool);
    for step in steps(tool, &arguments, returns.as_deref()) {
        draft.add(step);
    }
    if draft.rows.iter().any(Option::is_none) {
        draft.left_out.insert("optional arguments");
    }
    draft.written()
}

/// All parts that may be added, the most important first.
fn steps<'a>(tool: &'a Tool, arguments: &[Argument<'_>], returns: Option<&'a str>) -> Vec<Step<'a>> {
    let required = arguments.iter().filter(|argument| argument.required).count();
    let optional = required..arguments.len().min(required + MAX_OPTIONAL);
    let mut steps: Vec<Step<'_>> = Vec::new();
    if let Some(policy) = &tool.texts.policy {
        let lists = [&policy.dos, &policy.donts, &policy.edge_cases];
        let longest = lists.iter().map(|list| list.len()).max().unwrap_or_default();
        for at in 0..longest {
            let rules = lists.iter().enumerate().filter_map(|(list, rules)| Some((list, rules.get(at)?)));
            steps.extend(rules.map(|(list, rule)| Step::Rule(list, rule)));
        }
    }
    steps.extend([Step::Rows, Step::Usage]);
    steps.extend(optional.clone().map(Step::Row));
    steps.extend((0..required).flat_map(|at| [Step::Fields(at), Step::About(at)]));
    steps.extend(returns.map(Step::Returns));
    steps.extend(tool.texts.notes.iter().map(|note| Step::Note(note)));
    steps.extend(tool.texts.raises.iter().take(MAX_ERRORS).map(|error| Step::Error(error)));
    steps.extend(optional.clone().flat_map(|at| [Step::Fields(at), Step::About(at)]));
    steps.extend((0..optional.end).map(Step::Limits));
    steps
}

impl<'a> Draft<'a> {
    fn new(tool: &'a Tool, arguments: &'a [Argument<'a>], budget: usize) -> Self {
        let whole = call(tool);
        let short = whole.as_ref().filter(|call| token_count(&call.to_string()) > LONG_CALL);
        let short = short.and_then(|_| required(tool, arguments));
        let left_out = short.iter().map(|_| "optional arguments of the call").collect();
        let call = short.or(whole);
        Self {
            op: &tool.names.op,
            summary: &tool.texts.short,
            usage: String::new(),
            rows: arguments.iter().map(|argument| argument.required.then(|| argument.row())).collect(),
            policy: IndexMap::new(),
            notes: Vec::new(),
            returns: None,
            errors: Vec::new(),
            conditions: conditions(tool),
            fill_in: fill_in(tool, call.as_ref()),
            call,
            arguments,
            optional: OptionalStyle::Named,
            budget,
            left_out,
        }
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
        if !self.fill_in.is_empty() {
            self.fill_in.clear();
            self.left_out.insert("fill_in");
        }
        let length = |row: &Map<String, Value>| row.get("enum").map_or(0, |values| values.to_string().len());
        while !self.fits() {
            let longest = self.rows.iter_mut().flatten().max_by_key(|row| length(row));
            let Some(row) = longest.filter(|row| row.contains_key("enum")) else { return };
            row.shift_remove("enum");
            self.left_out.insert("values");
        }
    }

    fn write_usage(&mut self, optional: OptionalStyle) {
        self.optional = optional;
        self.usage = line(self.op, self.arguments, optional);
    }

    /// Adds one part, unless there is no room for it.
    fn add(&mut self, step: Step<'a>) {
        let mut next = self.clone();
        if !next.take(step) {
            return;
        }
        if next.fits() {
            *self = next;
        } else if let Some(part) = step.part() {
            self.left_out.insert(part);
        }
    }

    /// Adds one part. Returns whether there was something to add.
    fn take(&mut self, step: Step<'a>) -> bool {
        let is_whole = self.rows.iter().all(Option::is_some);
        match step {
            Step::Rows | Step::Usage | Step::Row(_) if is_whole => false,
            // Beyond this number of rows there is no room.
            Step::Rows if self.rows.len() > MAX_OPTIONAL => false,
            Step::Rows => {
                self.rows = self.arguments.iter().map(|argument| Some(argument.row())).collect();
                true
            }
            Step::Usage => {
                self.write_usage(OptionalStyle::Typed);
                true
            }
            Step::Row(at) => {
                self.rows[at] = Some(self.arguments[at].row());
                true
            }
            Step::About(at) => {
                let about =
                    self.arguments[at].about(usize::MAX).map(|about| self.shortened(step, &about, MAX_ABOUT));
                self.tell(at, "about", about)
            }
            Step::Fields(at) => self.tell(at, "fields", self.arguments[at].fields()),
            Step::Limits(at) => self.tell(at, "limits", self.arguments[at].limits()),
            Step::Rule(list, rule) => {
                self.policy.entry(RULES[list]).or_default().push(clean_line(rule));
                true
            }
            Step::Returns(returns) => {
                self.returns = Some(returns);
                true
            }
            Step::Error(error) => {
                self.errors.push(brief(error, MAX_ABOUT));
                true
            }
            Step::Note(note) => {
                let note = self.shortened(step, &clean_line(note), MAX_NOTE);
                self.notes.push(note);
                true
            }
        }
    }

    /// The beginning of a text; a part that is cut counts as left out.
    fn shortened(&mut self, step: Step<'_>, text: &str, most: usize) -> String {
        let short = brief(text, most);
        if short != text {
            self.left_out.extend(step.part());
        }
        short
    }

    /// Adds a field to the row of an argument.
    fn tell(&mut self, at: usize, what: &str, text: Option<String>) -> bool {
        // An argument without a row is left out as a whole.
        let (Some(row), Some(text)) = (&mut self.rows[at], text) else { return false };
        row.insert(what.into(), text.into());
        true
    }

    fn fits(&self) -> bool {
        let written = serde_json::to_string(self).unwrap_or_default();
        token_count(&written) + RESERVED <= self.budget
    }

    /// The answer, with the names of the parts that were left out.
    fn written(&self) -> Map<String, Value> {
        let Ok(Value::Object(mut fields)) = serde_json::to_value(self) else { return Map::new() };
        if !self.left_out.is_empty() {
            fields.insert(LEFT_OUT.into(), self.left_out.iter().copied().collect());
            fields.insert(MORE.into(), HOW.into());
        }
        fields
    }
}

impl Step<'_> {
    /// The name of the part in `left_out`, unless it follows from others.
    fn part(self) -> Option<&'static str> {
        match self {
            Step::Rows | Step::Usage | Step::Row(_) => None,
            Step::About(_) => Some("descriptions"),
            Step::Fields(_) => Some("fields"),
            Step::Limits(_) => Some("limits"),
            Step::Rule(..) => Some("policy"),
            Step::Note(_) => Some("notes"),
            Step::Returns(_) => Some("returns"),
            Step::Error(_) => Some("errors"),
        }
    }
}

/// The ready-made call with its required arguments alone, if it is valid and fits.
fn required(tool: &Tool, arguments: &[Argument<'_>]) -> Option<Value> {
    let required =
        |name: &String| arguments.iter().any(|argument| argument.required && argument.name == name);
    let given = tool.input.call.as_ref()?.iter().filter(|(name, _)| required(name));
    let args: Map<String, Value> = given.map(|(name, value)| (name.clone(), value.clone())).collect();
    let is_call = !args.is_empty() && tool.input.parameters.accepts(&Value::Object(args.clone()));
    is_call.then(|| called(tool, &args))
}
