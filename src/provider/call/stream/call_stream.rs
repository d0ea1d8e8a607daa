//! Calls from the stream of a response.

use super::ResponseStream;
use crate::provider::call::{CallEntry, ParseError, Parser};

/// A response that arrives in chunks of bytes, which may end anywhere.
///
/// ```no_run
/// # use std::io::Read;
/// # use toolcrib::{catalog, config, provider::{Provider, call::Parser}};
/// let checked = catalog::open(config::read("tools.json".as_ref()));
/// let parser = Parser::new(&checked.catalog, Provider::OpenAi);
/// let mut stream = parser.stream();
/// let mut chunk = [0; 4096];
/// loop {
///     match std::io::stdin().read(&mut chunk)? {
///         0 => break,
///         length => stream.push(&chunk[..length]),
///     }
/// }
/// let entries = stream.finish()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct CallStream<'p, 'a> {
    parser: &'p Parser<'a>,
    response: ResponseStream,
}

impl<'a> Parser<'a> {
    /// A stream of a response.
    pub fn stream(&self) -> CallStream<'_, 'a> {
        CallStream { parser: self, response: ResponseStream::new(self.provider()) }
    }
}

impl<'a> CallStream<'_, 'a> {
    /// Takes the next bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        self.response.push(bytes);
    }

    /// The calls of the whole response, as [`Parser::parse`] reads them from its body.
    pub fn finish(self) -> Result<Vec<CallEntry<'a>>, ParseError> {
        self.parser.parse(&self.response.body()?)
    }
}
