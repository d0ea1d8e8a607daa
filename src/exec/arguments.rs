//! The arguments of a call in the terms of an envelope: [`crate::arguments`] reads, coerces and validates them.

use serde_json::{Map, Value};

use super::Failure;
use crate::arguments::{InvalidArguments, Repair, make_object, validate};
use crate::catalog::{Callable, Tool};
use crate::refusal::ErrorCode;
use crate::secret::Policy as Secrets;

/// Arguments that may be run.
#[derive(Debug)]
pub(super) struct ValidArguments {
    pub(super) arguments: Value,
    pub(super) repaired: Vec<Repair>,
}

/// Arguments that do not fit, as far as they could be read, and why.
pub(super) type Unfit = Box<(Value, Failure)>;

/// Arguments that fit; `notes` gets each reading that differs from the writing.
pub(super) fn coerce_and_validate(
    tool: &Tool,
    secrets: Secrets<'_>,
    mut arguments: Value,
    beside: Map<String, Value>,
    notes: &mut Vec<String>,
) -> Result<ValidArguments, Unfit> {
    let outcome = match tool.parameters.callable() {
        Callable::No(reason) => {
            let next = "choose another tool, or say that this one is broken";
            let message = format!("`{}` cannot be called: {reason}", tool.op);
            Err(Failure::new(ErrorCode::NoBackend, message, next))
        }
        _ => validate(tool, secrets, &mut arguments, beside, notes).map_err(Failure::from),
    };
    match outcome {
        Ok(repaired) => Ok(ValidArguments { arguments, repaired }),
        Err(failure) => Err(Box::new((arguments, failure))),
    }
}

/// The arguments as an object.
pub(super) fn object(
    tool: &Tool,
    mut given: Value,
    is_all: bool,
    notes: &mut Vec<String>,
) -> Result<Value, Unfit> {
    match make_object(tool, &mut given, is_all, notes) {
        Ok(()) => Ok(given),
        Err(invalid) => Err(Box::new((given, invalid.into()))),
    }
}

impl From<InvalidArguments> for Failure {
    fn from(invalid: InvalidArguments) -> Self {
        let InvalidArguments { message, next_action, fields, nearest, corrected } = invalid;
        let failure = Failure { fields, nearest, ..Failure::invalid(message, next_action) };
        failure.offering(None, corrected)
    }
}
