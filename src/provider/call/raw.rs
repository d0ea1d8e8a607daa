//! A call as it stands in a response, and how fields are taken out of one.

use serde_json::{Map, Value};

/// One call as it stands in a response, before its arguments are read.
#[derive(Debug, Default)]
pub(in crate::provider) struct RawCall {
    /// The name that the model used; none when the provider says that a call was malformed.
    pub(in crate::provider) name: Option<String>,
    /// The namespace that must be sent back with the call.
    pub(in crate::provider) namespace: Option<String>,
    /// What the result refers to.
    pub(in crate::provider) call_id: Option<String>,
    /// The thought signature that must be sent back with the call.
    pub(in crate::provider) signature: Option<String>,
    /// What stands where arguments are due, if anything does.
    pub(in crate::provider) arguments: Option<Value>,
    /// Whether it is the provider's own form of a search for tools, whose result has a form of its own.
    pub(in crate::provider) search: bool,
    /// What the provider says is wrong with the call.
    pub(in crate::provider) malformed: Option<String>,
}

impl RawCall {
    /// A call of which these fields hold the id, the name and the arguments.
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

/// Takes a field out; none when it is absent.
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

/// Takes out a field that is a list; none, and the field left alone, when it is something else.
pub(in crate::provider) fn take_list(fields: &mut Map<String, Value>, key: &str) -> Option<Vec<Value>> {
    match fields.get_mut(key)? {
        Value::Array(items) => Some(std::mem::take(items)),
        _ => None,
    }
}

/// Takes out a field that is text, or a number in the place of text; nothing when it is empty.
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

/// The calls of a list; what is no object in it is a call that nobody can read.
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

/// The calls of a response, or what was expected where the response has another shape.
pub(in crate::provider) type Calls = Result<Vec<RawCall>, &'static str>;
