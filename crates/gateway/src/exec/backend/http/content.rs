//! Reads the bytes of a body within limits of size and time.

use std::time::Duration;

use reqwest::Response;
use tokio::time::timeout;

/// The bytes of a body, and the reason why reading ended.
pub(super) struct Content {
    pub(super) bytes: Vec<u8>,
    pub(super) ended: Ended,
}

pub(super) enum Ended {
    Whole,
    TooLarge,
    TooSlow,
    Broken,
}

pub(super) async fn content(
    mut response: Response,
    max_bytes: usize,
    wait: impl Fn() -> Duration,
) -> Content {
    let expected = response.content_length().and_then(|bytes| usize::try_from(bytes).ok());
    let mut bytes = Vec::with_capacity(expected.unwrap_or_default().min(max_bytes));
    let ended = loop {
        match timeout(wait(), response.chunk()).await {
            Ok(Ok(None)) => break Ended::Whole,
            Ok(Ok(Some(chunk))) => {
                let room = max_bytes - bytes.len();
                bytes.extend_from_slice(&chunk[..chunk.len().min(room)]);
                if chunk.len() > room {
                    break Ended::TooLarge;
                }
            }
            Ok(Err(_)) => break Ended::Broken,
            Err(_) => break Ended::TooSlow,
        }
    };
    Content { bytes, ended }
}
