//! Writes a bundle.

use super::{CHECKSUM, ENTRY, FORMAT, HEAD, MAGIC, VERSION, checksum};

/// The parts of a bundle, until it is written.
#[derive(Debug, Default)]
pub struct BundleWriter {
    parts: Vec<Vec<u8>>,
}

impl BundleWriter {
    /// Adds a part; its number.
    pub fn add(&mut self, part: Vec<u8>) -> usize {
        self.parts.push(part);
        self.parts.len() - 1
    }

    /// Puts other bytes in the place of a part.
    pub fn replace(&mut self, number: usize, part: Vec<u8>) {
        if let Some(place) = self.parts.get_mut(number) {
            *place = part;
        }
    }

    /// The bytes of the file.
    pub fn finish(self) -> Vec<u8> {
        let table = HEAD + self.parts.len() * ENTRY;
        let mut offset = table + VERSION;
        let mut bytes = Vec::with_capacity(offset + self.parts.iter().map(Vec::len).sum::<usize>());
        bytes.extend_from_slice(MAGIC);
        bytes.extend_from_slice(&FORMAT.to_le_bytes());
        bytes.extend_from_slice(&u32::try_from(self.parts.len()).unwrap_or(u32::MAX).to_le_bytes());
        for part in &self.parts {
            let sum: [u8; CHECKSUM] = checksum(part);
            bytes.extend_from_slice(&(offset as u64).to_le_bytes());
            bytes.extend_from_slice(&(part.len() as u64).to_le_bytes());
            bytes.extend_from_slice(&sum);
            offset += part.len();
        }
        let version = blake3::hash(&bytes);
        bytes.extend_from_slice(version.as_bytes());
        self.parts.iter().for_each(|part| bytes.extend_from_slice(part));
        bytes
    }
}
