//! The length of a value as compact JSON, without writing it.

use std::io;

use serde::Serialize;

/// A writer that counts bytes, and fails at a limit.
struct Count {
    bytes: usize,
    limit: usize,
}

impl io::Write for Count {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.bytes += bytes.len();
        if self.bytes > self.limit { Err(io::ErrorKind::FileTooLarge.into()) } else { Ok(bytes.len()) }
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Whether a value takes more than `limit` bytes as compact JSON.
pub fn is_longer_json(value: &impl Serialize, limit: usize) -> bool {
    serde_json::to_writer(Count { bytes: 0, limit }, value).is_err()
}

/// The bytes of a value as compact JSON.
pub fn length(value: &impl Serialize) -> usize {
    let mut count = Count { bytes: 0, limit: usize::MAX };
    let _ = serde_json::to_writer(&mut count, value);
    count.bytes
}
