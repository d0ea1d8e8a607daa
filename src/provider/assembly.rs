//! The calls of a response, assembled from the fragments of its events.

use std::collections::HashMap;

use serde_json::value::RawValue;

use super::raw_fields::{RawFields, written};

/// A response while its events arrive.
#[derive(Debug, Default)]
pub(in crate::provider) struct Assembly {
    calls: Vec<StreamedCall>,
    /// The call that receives fragments, by the key that the events name it by.
    open: HashMap<String, usize>,
    /// Parts that arrive whole, as JSON.
    parts: Vec<Box<RawValue>>,
    has_ended: bool,
    body: Option<String>,
    error: Option<String>,
}

#[derive(Debug)]
struct StreamedCall {
    fields: RawFields,
    /// Arguments that came whole.
    given: Option<Box<RawValue>>,
    /// Arguments that came in fragments.
    fragments: String,
}

impl Assembly {
    /// Begins a call, or another one under the same key.
    pub(in crate::provider) fn begin(&mut self, key: &str, fields: RawFields, given: Option<Box<RawValue>>) {
        self.open.insert(key.into(), self.calls.len());
        self.calls.push(StreamedCall { fields, given, fragments: String::new() });
    }

    /// Replaces a call by its final form.
    pub(in crate::provider) fn replace(
        &mut self,
        key: &str,
        fields: RawFields,
        given: Option<Box<RawValue>>,
    ) {
        match self.call(key) {
            Some(call) => *call = StreamedCall { fields, given, fragments: String::new() },
            None => self.begin(key, fields, given),
        }
    }

    /// Adds a fragment of arguments to a call. Fragments of calls that never began belong to the provider's own.
    pub(in crate::provider) fn append(&mut self, key: &str, fragment: &str) {
        if let Some(call) = self.call(key) {
            call.fragments.push_str(fragment);
        }
    }

    /// Gives a call arguments that came whole, and fields that it lacks.
    pub(in crate::provider) fn complete(
        &mut self,
        key: &str,
        fields: RawFields,
        given: Option<Box<RawValue>>,
    ) {
        if let Some(call) = self.call(key) {
            call.fields.add(fields);
            call.given = given.or(call.given.take());
        }
    }

    /// A fragment of a call in the form of Chat Completions and LangChain: `id` and `name` at the beginning, and maybe
    /// again. Another id under the same key is another call: some APIs number all calls alike.
    pub(in crate::provider) fn fragment(
        &mut self,
        key: &str,
        fields: RawFields,
        arguments: Option<&RawValue>,
    ) {
        let id = fields.text("id").filter(|id| !id.is_empty());
        let goes_on = self.call(key).is_some_and(|call| {
            let known = call.fields.text("id").filter(|id| !id.is_empty());
            id.is_none() || known.is_none() || known == id
        });
        if !goes_on {
            self.begin(key, fields, None);
        } else {
            self.complete(key, fields, None);
        }
        match arguments.map(|raw| (serde_json::from_str::<String>(raw.get()), raw)) {
            Some((Ok(text), _)) => self.append(key, &text),
            Some((Err(_), object)) => self.complete(key, RawFields::default(), Some(object.to_owned())),
            None => {}
        }
    }

    fn call(&mut self, key: &str) -> Option<&mut StreamedCall> {
        self.open.get(key).and_then(|index| self.calls.get_mut(*index))
    }

    /// Keeps a part that arrives whole.
    pub(in crate::provider) fn keep(&mut self, part: &RawValue) {
        self.parts.push(part.to_owned());
    }

    /// The whole parts, as a JSON list.
    pub(in crate::provider) fn parts(&self) -> String {
        written(&self.parts)
    }

    /// The calls in the order in which they began, with their arguments below a key.
    pub(in crate::provider) fn calls(&mut self, arguments: &str) -> Vec<RawFields> {
        let calls = std::mem::take(&mut self.calls).into_iter();
        let filled = calls.map(|StreamedCall { mut fields, given, fragments }| {
            match given {
                Some(given) if fragments.is_empty() => fields.set(arguments, given),
                _ => fields.set(arguments, fragments),
            }
            fields
        });
        filled.collect()
    }

    /// The response is complete.
    pub(in crate::provider) fn end(&mut self) {
        self.has_ended = true;
    }

    pub(in crate::provider) fn has_ended(&self) -> bool {
        self.has_ended
    }

    /// The response is complete, and this is its whole body.
    pub(in crate::provider) fn end_with(&mut self, body: String) {
        self.body = Some(body);
        self.end();
    }

    pub(in crate::provider) fn take_body(&mut self) -> Option<String> {
        self.body.take()
    }

    /// The provider reports an error; `body` is `{"error": ...}`.
    pub(in crate::provider) fn fail(&mut self, body: String) {
        self.error.get_or_insert(body);
    }

    pub(in crate::provider) fn take_error(&mut self) -> Option<String> {
        self.error.take()
    }
}
