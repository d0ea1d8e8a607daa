//! A bundle: one immutable file of numbered parts, each with its checksum, of which a reader loads those that it needs.
//!
//! Layout, all numbers little-endian:
//!
//! | bytes | |
//! | --- | --- |
//! | 8 | `toolcrib` |
//! | 4 | the format version |
//! | 4 | the number of parts |
//! | 40 each | a part: its offset (8), its length (8) and the first 24 bytes of the BLAKE3 hash of its bytes |
//! | 32 | the BLAKE3 hash of everything above: the version of the bundle |
//! | | the parts, in their order, without gaps |
//!
//! The version covers the checksums of all parts, so that equal versions are equal files. Nothing in the file depends on
//! the machine or the time.

mod read;
mod write;

pub use read::{Bundle, BundleError};
pub use write::BundleWriter;

/// The first bytes of each bundle.
const MAGIC: &[u8; 8] = b"toolcrib";
/// The version of this layout and of the content of its parts. A reader refuses every other one.
const FORMAT: u32 = 1;
/// Bytes before the table of parts.
const HEAD: usize = 16;
/// Bytes of the table for one part.
const ENTRY: usize = 40;
/// Bytes of the checksum of a part.
const CHECKSUM: usize = 24;
/// Bytes of the version.
const VERSION: usize = 32;

/// Whether these are the first bytes of a bundle.
pub fn is_magic(first: &[u8]) -> bool {
    first.starts_with(MAGIC)
}

/// The checksum of a part.
pub(crate) fn checksum(part: &[u8]) -> [u8; CHECKSUM] {
    let mut sum = [0; CHECKSUM];
    sum.copy_from_slice(&blake3::hash(part).as_bytes()[..CHECKSUM]);
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(parts: &[&[u8]]) -> Vec<u8> {
        let mut writer = BundleWriter::default();
        for part in parts {
            writer.add(part.to_vec());
        }
        writer.finish()
    }

    #[test]
    fn parts_come_back_and_equal_parts_are_equal_bytes() {
        let bytes = written(&[b"first", b"", b"third"]);
        assert_eq!(bytes, written(&[b"first", b"", b"third"]));
        let bundle = Bundle::from_bytes(bytes).expect("a bundle");
        assert_eq!(bundle.part(0).expect("a part"), b"first");
        assert_eq!(bundle.part(1).expect("a part"), b"");
        assert_eq!(bundle.part(2).expect("a part"), b"third");
        assert!(matches!(bundle.part(3), Err(BundleError::NoPart(3))));
    }

    #[test]
    fn a_change_of_any_byte_is_found() {
        let whole = written(&[b"first", b"second"]);
        for place in 0..whole.len() {
            let mut changed = whole.clone();
            changed[place] ^= 1;
            let is_found = match Bundle::from_bytes(changed) {
                Ok(bundle) => bundle.verify().is_err(),
                Err(_) => true,
            };
            assert!(is_found, "byte {place}");
        }
    }

    #[test]
    fn a_file_that_ends_early_is_refused() {
        let whole = written(&[b"first", b"second"]);
        for length in 0..whole.len() {
            assert!(Bundle::from_bytes(whole[..length].to_vec()).is_err(), "{length} bytes");
        }
    }

    #[test]
    fn a_table_that_claims_too_much_reserves_nothing() {
        let mut bytes = written(&[b"part"]);
        bytes[12..16].copy_from_slice(&u32::MAX.to_le_bytes());
        assert!(matches!(Bundle::from_bytes(bytes), Err(BundleError::Torn)));
    }
}
