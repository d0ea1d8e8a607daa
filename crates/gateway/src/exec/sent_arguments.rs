//! The arguments that a backend gets: those of the caller, and those that the operator sets.

use std::borrow::Cow;

use serde_json::Value;

use super::backend::{BackendError, Result};
use super::call::Checked;
use toolcrib_catalog::ToolArgument;
use toolcrib_definition::secret::REDACTED;

/// The arguments of a call, for its backend.
pub(super) struct SentArguments<'c> {
    pub(super) value: Cow<'c, Value>,
    /// The values that no answer may repeat.
    pub(super) hidden: Vec<Value>,
}

impl<'c> SentArguments<'c> {
    /// The arguments with all values.
    pub(super) fn of(call: &'c Checked) -> Result<Self> {
        Self::filled(call, |_, value| value)
    }

    /// The arguments for a text about the call, without the values that no answer may repeat.
    pub(super) fn shown(call: &'c Checked) -> Result<Self> {
        Self::filled(call, |argument, value| if is_secret(argument) { REDACTED.into() } else { value })
    }

    fn filled(call: &'c Checked, shown: fn(&ToolArgument, Value) -> Value) -> Result<Self> {
        let mut value = Cow::Borrowed(call.arguments());
        let mut hidden = Vec::new();
        for argument in &call.tool().set_arguments {
            let is_given = value.get(&argument.name).is_some_and(|given| !given.is_null());
            if is_given && !argument.set.hidden {
                continue;
            }
            let own = value_of(call, argument)?;
            if is_secret(argument) {
                hidden.push(own.clone());
            }
            if let Value::Object(arguments) = value.to_mut() {
                arguments.insert(argument.name.clone(), shown(argument, own));
            }
        }
        Ok(Self { value, hidden })
    }
}

/// Whether the value may be in no answer: callers do not know it, or it comes from the environment.
fn is_secret(argument: &ToolArgument) -> bool {
    argument.set.hidden || argument.set.env.is_some()
}

fn value_of(call: &Checked, argument: &ToolArgument) -> Result<Value> {
    if let Some(value) = &argument.set.value {
        return Ok(value.clone());
    }
    let Some(variable) = &argument.set.env else {
        return Err(BackendError::unconfigured(format!(
            "the operator sets the argument `{}`, but its value is not read: toolcrib.toml was found, not named",
            argument.name
        )));
    };
    let text = call.context.services.backends.variable(variable)?;
    let plain = || Value::from(text.as_str());
    Ok(if argument.is_text { plain() } else { serde_json::from_str(&text).unwrap_or_else(|_| plain()) })
}
