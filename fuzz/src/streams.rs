//! Any bytes as the stream of each provider: twice the same, wherever the chunks end. The first byte chooses the provider and
//! the size of chunks.

use toolcrib::provider::{Provider, ResponseStream};

pub fn check(bytes: &[u8]) {
    let Some((&first, stream)) = bytes.split_first() else { return };
    let provider = Provider::ALL[usize::from(first) % Provider::ALL.len()];
    let size = usize::from(first) / Provider::ALL.len() + 1;
    let body = |size: usize| {
        let mut response = ResponseStream::new(provider);
        stream.chunks(size).for_each(|chunk| response.push(chunk));
        response.body()
    };
    assert_eq!(body(size), body(stream.len().max(1)));
}
