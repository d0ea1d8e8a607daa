//! A response that arrives in chunks of bytes.

use std::sync::Mutex;

use toolcrib::Error;
use toolcrib::provider::ResponseStream;

use crate::catalog::{Catalog, Made, provider_of};
use crate::error::Failure;

/// A response that arrives in chunks of bytes. Threads may share it.
pub struct CallStream {
    catalog: Catalog,
    provider: String,
    profile: Option<String>,
    /// Taken when the stream has ended.
    response: Mutex<Option<ResponseStream>>,
}

impl CallStream {
    pub(crate) fn begin(catalog: Catalog, provider: String, profile: Option<String>) -> Made<Self> {
        let response = Mutex::new(Some(ResponseStream::new(provider_of(&provider)?)));
        Ok(Self { catalog, provider, profile, response })
    }

    /// Takes the next bytes.
    pub fn push(&self, bytes: &[u8]) -> Made<()> {
        match self.response.lock() {
            Ok(mut response) => response.as_mut().map(|response| response.push(bytes)).ok_or_else(ended),
            Err(_) => Err(ended()),
        }
    }

    /// The calls of the whole response.
    pub fn finish(&self) -> Made<String> {
        let response = self.response.lock().ok().and_then(|mut response| response.take());
        let body = response.ok_or_else(ended)?.body().map_err(Error::from)?;
        self.catalog.parse(&self.provider, &body, self.profile.as_deref())
    }
}

fn ended() -> Failure {
    Failure::argument("the stream has ended: begin another one".into())
}
