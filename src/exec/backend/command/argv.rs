//! The program and its arguments, with the values of a call in their places.

use serde_json::{Map, Value};

use crate::catalog::ToolArgument;
use crate::exec::backend::http::plain;
use crate::exec::backend::{BackendError, BackendRequest};
use crate::tool::CommandBackend;

/// The program and its arguments. An element whose argument is absent is left out.
pub(super) fn filled(
    backend: &CommandBackend,
    call: BackendRequest<'_>,
) -> Result<Vec<String>, BackendError> {
    let (program, templates) =
        backend.argv.split_first().ok_or_else(|| BackendError::unconfigured("its backend has no program"))?;
    // Braces around other names belong to the program. Schema and operator name the arguments, not the call.
    let properties = call.tool.parameters.schema()["properties"].as_object();
    let mut argv = vec![program.clone()];
    let mut are_options_over = false;
    for template in templates {
        let filling = Filling {
            properties,
            set: &call.tool.set_arguments,
            arguments: call.arguments,
            are_options_over,
        };
        argv.extend(filling.argument(template)?);
        are_options_over |= template == "--";
    }
    Ok(argv)
}

struct Filling<'f> {
    properties: Option<&'f Map<String, Value>>,
    set: &'f [ToolArgument],
    arguments: &'f Value,
    /// Whether `--` came before.
    are_options_over: bool,
}

impl Filling<'_> {
    /// One argument of the program; `None` where a value is absent.
    fn argument(&self, template: &str) -> Result<Option<String>, BackendError> {
        let (mut argument, mut rest) = (String::new(), template);
        while let Some(start) = rest.find('{') {
            let (before, from) = rest.split_at(start);
            argument.push_str(before);
            let Some((name, after)) = self.placeholder(from) else {
                argument.push('{');
                rest = &from[1..];
                continue;
            };
            let value = match self.arguments.get(name) {
                None | Some(Value::Null) => return Ok(None),
                Some(value) => plain(value),
            };
            self.check(name, &value, argument.is_empty())?;
            argument.push_str(&value);
            rest = after;
        }
        argument.push_str(rest);
        Ok(Some(argument))
    }

    fn placeholder<'t>(&self, from: &'t str) -> Option<(&'t str, &'t str)> {
        let (name, after) = from.strip_prefix('{')?.split_once('}')?;
        let is_argument = self.properties.is_some_and(|known| known.contains_key(name))
            || self.set.iter().any(|argument| argument.name == name);
        is_argument.then_some((name, after))
    }

    /// Refuses a value that the program would read as an option, and one with a NUL.
    fn check(&self, name: &str, value: &str, is_first: bool) -> Result<(), BackendError> {
        if value.contains('\0') {
            return Err(BackendError::invalid_argument(
                name,
                format!("`{name}` holds a character that no program takes"),
            ));
        }
        if is_first && value.starts_with('-') && !self.are_options_over {
            return Err(BackendError::invalid_argument(
                name,
                format!("`{name}` begins with `-`, so it would be taken for an option"),
            ));
        }
        Ok(())
    }
}
