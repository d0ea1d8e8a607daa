//! Calls from the stream of a response.

use super::{Call, Error};
use crate::provider::ResponseStream;
use crate::provider::call::Parser;

/// A response that arrives in chunks of bytes, which may end anywhere, also within a character.
///
/// ```
/// use toolcrib::{Catalog, Provider};
///
/// let catalog = Catalog::open("examples/github")?;
/// let mut stream = catalog.stream(Provider::Ollama);
/// stream.push(br#"{"message":{"role":"assistant","tool_calls":[{"function":{"name":"get_"#);
/// stream.push(br#"me","arguments":{}}}]},"done":true}"#);
/// let calls = stream.finish()?;
/// assert_eq!(calls[0].name.as_deref(), Some("get_me"));
/// # Ok::<(), toolcrib::Error>(())
/// ```
#[derive(Debug)]
pub struct CallStream<'a> {
    pub(super) parser: Parser<'a>,
    pub(super) response: ResponseStream,
}

impl CallStream<'_> {
    /// Takes the next bytes, as the provider sent them.
    pub fn push(&mut self, bytes: &[u8]) {
        self.response.push(bytes);
    }

    /// The calls of the whole response. A stream that was cut short is an error.
    pub fn finish(self) -> Result<Vec<Call>, Error> {
        let entries = self.parser.parse(&self.response.body()?)?;
        Ok(entries.into_iter().map(Call::from).collect())
    }
}
