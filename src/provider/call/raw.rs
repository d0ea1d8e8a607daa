//! A call before it is parsed, and functions that take fields out of a response.

use serde_json::{Map, Value};

/// One call of a response, before its arguments are read.
#[derive(Debug, Default)]
pub(in crate::provider) struct RawCall {
    /// The name that the model used; `None` when the provider says that the call was malformed.
    pub(in crate::provider) name: Option<String>,
    /// The namespace that must be sent back with the call.
    pub(in crate::provider) namespace: Option<String>,
    /// The id that the result refers to.
    pub(in crate::provider) call_id: Option<String>,
    /// The thought signature that must be sent back with the call.
    pub(in crate::provider) signature: Option<String>,
    /// The value at the place of the arguments, if any.
    pub(in crate::provider) arguments: Option<Value>,
    /// Whether this is the provider's own search for tools, whose result has its own form.
    pub(in crate::provider) search: bool,
    /// The provider's message about a malformed call.
    pub(in crate::provider) malformed: Option<String>,
}

impl RawCall {
    /// A call whose id, name and arguments are in these fields.
    pub(in crate::provider) fn of(
        fields: &mut Map<String, Value>,
        id: &str,
        name: &str,
        arguments: &str,
    ) -> Self {
        Self {
            call_id: take_text(fields, id),
            name: take_text(fields, name),
            arguments: take(fields, arguments),
            ..Self::default()
        }
    }
}

/// Takes a field out; `None` when it is absent.
pub(in crate::provider) fn take(fields: &mut Map<String, Value>, key: &str) -> Option<Value> {
    fields.get_mut(key).map(Value::take)
}

/// Takes out a field that is an object.
pub(in crate::provider) fn take_object(
    fields: &mut Map<String, Value>,
    key: &str,
) -> Option<Map<String, Value>> {
    match take(fields, key)? {
        Value::Object(object) => Some(object),
        _ => None,
    }
}

/// Takes out a field that is a list. A field of another type stays, and gives `None`.
pub(in crate::provider) fn take_list(fields: &mut Map<String, Value>, key: &str) -> Option<Vec<Value>> {
    match fields.get_mut(key)? {
        Value::Array(items) => Some(std::mem::take(items)),
        _ => None,
    }
}

/// Takes out a field that is text, or a number in place of text; `None` when it is empty.
pub(in crate::provider) fn take_text(fields: &mut Map<String, Value>, key: &str) -> Option<String> {
    match take(fields, key)? {
        Value::String(text) => Some(text).filter(|text| !text.is_empty()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// The objects of a list.
pub(in crate::provider) fn objects(items: Vec<Value>) -> impl Iterator<Item = Map<String, Value>> {
    items.into_iter().filter_map(|item| match item {
        Value::Object(fields) => Some(fields),
        _ => None,
    })
}

/// The calls of a list. An item that is no object becomes a malformed call.
pub(in crate::provider) fn calls_of(
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
pub(in crate::provider) type Calls = Result<Vec<RawCall>, &'static str>;
