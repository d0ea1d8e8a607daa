//! The body of a response that arrives in chunks.

use super::event::{DONE, Event};
use super::split::Splitter;
use crate::provider::Provider;
use crate::provider::assembly::Assembly;
use crate::provider::call::ParseError;
use crate::provider::raw_fields::RawFields;

/// The shape that was expected, for errors.
const EXPECTED: &str = "its stream of events";

/// A response that arrives in chunks of bytes.
#[derive(Debug)]
pub struct ResponseStream {
    provider: Provider,
    splitter: Splitter,
    assembly: Assembly,
    /// Whether any event was one of this provider's.
    is_known: bool,
    /// The first event of another form.
    unknown: Option<RawFields>,
    /// The first event that cannot be read.
    unreadable: Option<String>,
}

impl ResponseStream {
    /// A stream of a provider, before its first byte.
    pub fn new(provider: Provider) -> Self {
        Self {
            provider,
            splitter: Splitter::default(),
            assembly: Assembly::default(),
            is_known: false,
            unknown: None,
            unreadable: None,
        }
    }

    /// Takes the next bytes. Chunks may end anywhere, also within a character; mistakes are told by
    /// [`ResponseStream::body`].
    pub fn push(&mut self, bytes: &[u8]) {
        let mut events = Vec::new();
        self.splitter.push(bytes, &mut events);
        events.into_iter().for_each(|event| self.read(event));
    }

    /// The body of the whole response. An error when the stream was cut short, or is none of this provider's.
    pub fn body(mut self) -> Result<String, ParseError> {
        let is_before_end = !self.assembly.has_ended();
        let ending = self.splitter.end();
        if let Ok(Some(event)) = &ending
            && is_before_end
        {
            self.read(event.clone());
        }
        let provider = self.provider;
        let broken = |reason: String| ParseError::Stream { provider, reason };
        if let Some(body) = self.assembly.take_error() {
            return Ok(body);
        }
        if let Some(reason) = self.unreadable.take().or(ending.err()) {
            return Err(broken(reason));
        }
        if !self.is_known {
            return Err(match self.unknown.take() {
                Some(event) => {
                    ParseError::Shape { provider, expected: EXPECTED, looks_like: looks_like(&event) }
                }
                None => broken("it has no events".into()),
            });
        }
        if !self.assembly.has_ended() {
            return Err(broken("it ends before the response does".into()));
        }
        let wire = provider.wire();
        Ok(self.assembly.take_body().unwrap_or_else(|| wire.stream_body(&mut self.assembly)))
    }

    fn read(&mut self, event: Event) {
        if event.data.trim() == DONE {
            self.assembly.end();
            return;
        }
        match RawFields::read(&event.data) {
            Ok(fields) if fields.has("error") && !fields.has("response") => self.assembly.fail(event.data),
            Ok(fields) => match self.provider.wire().stream_event(&fields, &mut self.assembly) {
                true => self.is_known = true,
                false => drop(self.unknown.get_or_insert(fields)),
            },
            Err(error) => drop(self.unreadable.get_or_insert(format!("an event is no JSON object: {error}"))),
        }
    }
}

/// Providers with events of this shape.
fn looks_like(event: &RawFields) -> Vec<Provider> {
    let is_of = |provider: &Provider| provider.wire().stream_event(event, &mut Assembly::default());
    Provider::ALL.iter().copied().filter(is_of).collect()
}
