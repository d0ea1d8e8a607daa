//! A call as it stands in a response.

use serde_json::{Map, Value};

use super::fields::{take, take_text};

/// One call of a response, before its arguments are read.
#[derive(Debug, Default)]
pub(super) struct RawCall {
    /// The name that the model used; `None` when the provider says that the call was malformed.
    pub(super) name: Option<String>,
    /// The namespace that must be sent back with the call.
    pub(super) namespace: Option<String>,
    /// Id of the call, which its result repeats.
    pub(super) call_id: Option<String>,
    /// The thought signature that must be sent back with the call.
    pub(super) signature: Option<String>,
    /// Arguments as they stand in the response.
    pub(super) arguments: Option<Value>,
    /// Whether this is the provider's own search for tools, whose result has its own form.
    pub(super) search: bool,
    /// The mistake in the call, in the words of the provider.
    pub(super) malformed: Option<String>,
}

impl RawCall {
    /// A call whose id, name and arguments are in these fields.
    pub(super) fn of(fields: &mut Map<String, Value>, id: &str, name: &str, arguments: &str) -> Self {
        Self {
            call_id: take_text(fields, id),
            name: take_text(fields, name),
            arguments: take(fields, arguments),
            ..Self::default()
        }
    }
}

/// The calls of a list. An item that is no object becomes a malformed call.
pub(super) fn calls_of(
    items: Vec<Value>,
    mut call: impl FnMut(Map<String, Value>) -> RawCall,
) -> impl Iterator<Item = RawCall> {
    items.into_iter().map(move |item| match item {
        Value::Object(fields) => call(fields),
        other => {
            let malformed = Some("the call is not an object".into());
            RawCall { malformed, arguments: Some(other), ..RawCall::default() }
        }
    })
}

/// The calls of a response; for a response of another shape, the shape that was expected.
pub(super) type Calls = Result<Vec<RawCall>, &'static str>;
