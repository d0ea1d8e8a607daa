//! The usage of a tool on one line: `onto.task.update task_id=<string> [state_key=<todo|doing|done>]`.

use serde_json::Value;

use super::arguments::{Argument, arguments};
use crate::catalog::Tool;
use crate::tool::clean_line;

/// Longest list of values on the line, in bytes.
const MAX_VALUES: usize = 40;

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
