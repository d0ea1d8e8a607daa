//! The usage of a tool on one line: as help has it, `onto.task.update task_id=<string> [state_key=<todo|doing|done>]`, and
//! as a search gives it in place of the op, `onto.task.update(task_id, state_key?: todo|doing|done)`.

use serde_json::Value;

use super::arguments::{Argument, arguments};
use crate::catalog::Tool;
use crate::schema::SchemaView;
use crate::tokens::estimate;
use crate::tool::clean_line;

/// Longest list of values on the line, in bytes.
const MAX_VALUES: usize = 40;
/// Most o200k tokens of a signature, and of one with the types of optional arguments.
const MAX_SIGNATURE: usize = 90;
const MAX_TYPED: usize = 45;

/// Form of the optional arguments on the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OptionalStyle {
    /// Their names and types.
    Typed,
    /// Their names.
    Named,
    /// The names of this many, and the number of the others.
    First(usize),
    /// Their number; and only the names of the required ones.
    Bare,
}

/// The usage of a tool.
pub fn usage(tool: &Tool) -> String {
    line(tool, &arguments(tool), OptionalStyle::Typed)
}

pub(super) fn line(tool: &Tool, arguments: &[Argument<'_>], optional: OptionalStyle) -> String {
    let mut line = tool.op.clone();
    let mut told = 0;
    let most = match optional {
        OptionalStyle::First(most) => most,
        OptionalStyle::Bare => 0,
        OptionalStyle::Typed | OptionalStyle::Named => usize::MAX,
    };
    for argument in arguments {
        let name = clean_line(argument.name);
        if argument.required && optional == OptionalStyle::Bare {
            line.push_str(&format!(" {name}"));
            continue;
        }
        if argument.required {
            line.push_str(&format!(" {name}=<{}>", value(argument)));
            continue;
        }
        told += 1;
        match optional {
            OptionalStyle::Typed => line.push_str(&format!(" [{name}=<{}>]", value(argument))),
            _ if told <= most => line.push_str(&format!(" [{name}]")),
            _ => {}
        }
    }
    if told > most {
        line.push_str(&format!(" [{} more]", told - most));
    }
    line
}

/// The usage of a tool in short, which is enough to call it: all required arguments with fields and values, and as much of
/// the optional ones as there is room for. A string has no type, and `?` is behind an optional name. `None` where there is
/// too little room, and where the arguments depend on each other or are not known.
pub fn signature(tool: &Tool) -> Option<String> {
    let schema = tool.parameters.schema();
    if !tool.parameters.is_checked() || !SchemaView::of(schema, schema).variants.is_empty() {
        return None;
    }
    let arguments = arguments(tool);
    let styles =
        [OptionalStyle::Typed, OptionalStyle::Named, OptionalStyle::First(6), OptionalStyle::First(0)];
    let most = |optional| if optional == OptionalStyle::Typed { MAX_TYPED } else { MAX_SIGNATURE };
    let lines = styles.into_iter().map(|optional| (signed(&tool.op, &arguments, optional), most(optional)));
    lines.into_iter().find(|(line, most)| estimate(line) <= *most).map(|(line, _)| line)
}

/// The names of all arguments of a tool.
pub fn argument_names(tool: &Tool) -> Vec<&str> {
    arguments(tool).into_iter().map(|argument| argument.name).collect()
}

fn signed(op: &str, arguments: &[Argument<'_>], optional: OptionalStyle) -> String {
    let required = arguments.iter().filter(|argument| argument.required).count();
    let most = if let OptionalStyle::First(most) = optional { required + most } else { usize::MAX };
    let mut told: Vec<String> = Vec::new();
    for argument in arguments.iter().take(most) {
        let name = signed_name(argument.name);
        let is_typed = argument.required || optional == OptionalStyle::Typed;
        let value = is_typed.then(|| signed_value(argument)).filter(|value| value != "string");
        let mark = if argument.required { "" } else { "?" };
        told.push(value.map_or_else(|| format!("{name}{mark}"), |value| format!("{name}{mark}: {value}")));
    }
    if arguments.len() > most {
        told.push(format!("{} more?", arguments.len() - most));
    }
    format!("{op}({})", told.join(", "))
}

/// The name of an argument; in quotes where it could be taken for more than a name.
fn signed_name(name: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "_-.$/@[]".contains(c);
    let cleaned = clean_line(name);
    let is_name = !name.is_empty() && name.chars().all(is_plain) && cleaned == name;
    if is_name { cleaned } else { Value::from(cleaned).to_string() }
}

/// The value of an argument, with the first values of a long list, and the fields of an object.
fn signed_value(argument: &Argument<'_>) -> String {
    let words = argument.words();
    let (first, left) = argument.first_values(MAX_VALUES);
    if !first.is_empty() {
        let more = if left > 0 { format!("|…{left} more") } else { String::new() };
        let values = format!("{}{more}", first.join("|"));
        return if words.ends_with("[]") { format!("({values})[]") } else { values };
    }
    match argument.fields().filter(|_| words.contains("object")) {
        Some(fields) => words.replacen("object", &format!("{{{fields}}}"), 1),
        None => words,
    }
}

/// The value of an argument: its allowed values where they are few and short, else its type.
fn value(argument: &Argument<'_>) -> String {
    let words = argument.words();
    let plain = |value: &Value| value.as_str().map_or_else(|| value.to_string(), clean_line);
    let values =
        argument.few_values().map(|values| values.into_iter().map(plain).collect::<Vec<_>>().join("|"));
    match values.filter(|values| values.len() <= MAX_VALUES) {
        Some(values) if words.ends_with("[]") => format!("({values})[]"),
        Some(values) => values,
        None => words,
    }
}
