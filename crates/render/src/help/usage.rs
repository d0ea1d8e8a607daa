//! The usage of a tool on one line: as help has it, `onto.task.update task_id=<string> [state_key=<todo|doing|done>]`, and
//! as a search gives it in place of the op, `onto.task.update(task_id, state_key?: todo|doing|done)`.

use serde_json::Value;

use super::arguments::{Argument, arguments, signed_name};
use super::returns::result;
use toolcrib_catalog::Tool;
use toolcrib_definition::clean_line;
use toolcrib_definition::tokens::token_count;

/// Longest list of values on the line, in bytes.
const MAX_LINE_VALUES: usize = 40;
/// Most o200k tokens of a signature, and of one with the types of optional arguments.
const MAX_SIGNATURE: usize = 90;
const MAX_TYPED: usize = 45;
/// Most bytes of the result in a signature.
const MAX_SIGNED_RESULT: usize = 80;

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
    line(&tool.names.op, &arguments(tool), OptionalStyle::Typed)
}

/// The usage of an op as help has it.
pub(super) fn line(op: &str, arguments: &[Argument<'_>], optional: OptionalStyle) -> String {
    let mut line = op.to_string();
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
            line.push_str(&format!(" {name}=<{}>", value_on_line(argument)));
            continue;
        }
        told += 1;
        match optional {
            OptionalStyle::Typed => line.push_str(&format!(" [{name}=<{}>]", value_on_line(argument))),
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
/// the optional ones as there is room for; then the fields of the result. A string has no type, and `?` is behind an optional name. `None` where there is
/// too little room, and where the arguments depend on each other or are not known.
pub fn signature(tool: &Tool) -> Option<String> {
    if !tool.input.parameters.is_checked() || tool.input.parameters.root().variants().len() > 0 {
        return None;
    }
    let arguments = arguments(tool);
    let styles =
        [OptionalStyle::Typed, OptionalStyle::Named, OptionalStyle::First(6), OptionalStyle::First(0)];
    let most = |optional| if optional == OptionalStyle::Typed { MAX_TYPED } else { MAX_SIGNATURE };
    let lines =
        styles.into_iter().map(|optional| (signed(&tool.names.op, &arguments, optional), most(optional)));
    let (line, _) = lines.into_iter().find(|(line, most)| token_count(line) <= *most)?;
    let with_result = result(tool, MAX_SIGNED_RESULT).map(|result| format!("{line} -> {result}"));
    Some(with_result.filter(|line| token_count(line) <= MAX_SIGNATURE).unwrap_or(line))
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

/// The value of an argument, with the first values of a long list, and the fields of an object.
fn signed_value(argument: &Argument<'_>) -> String {
    let words = argument.words();
    let (first, left) = argument.first_values(MAX_LINE_VALUES);
    if !first.is_empty() {
        let more = if left > 0 { format!("|…{left} more") } else { String::new() };
        let values = format!("{}{more}", first.join("|"));
        return if words.ends_with("[]") { format!("({values})[]") } else { values };
    }
    match argument.fields() {
        Some(fields) if words.contains("object") => words.replacen("object", &format!("{{{fields}}}"), 1),
        _ => words,
    }
}

/// The value of an argument: its allowed values where they are few and short, else its type.
fn value_on_line(argument: &Argument<'_>) -> String {
    let words = argument.words();
    let plain = |value: &Value| value.as_str().map_or_else(|| value.to_string(), clean_line);
    let values =
        argument.few_values().map(|values| values.into_iter().map(plain).collect::<Vec<_>>().join("|"));
    match values.filter(|values| values.len() <= MAX_LINE_VALUES) {
        Some(values) if words.ends_with("[]") => format!("({values})[]"),
        Some(values) => values,
        None => words,
    }
}
