//! Vectors by the hash of model and text: in memory, and in a file if the operator names one.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

use super::similarity::UnitVector;
use toolcrib_definition::private_file;

/// A hash of model and text.
pub(super) type Key = [u8; 32];

/// Most vectors of other catalogs that a file keeps.
const MAX_OTHERS: usize = 50_000;

/// Vectors by key.
#[derive(Debug)]
pub(super) struct VectorStore {
    identity: String,
    file: Option<PathBuf>,
    pub(super) vectors: HashMap<Key, UnitVector>,
    /// Number of vectors in the file.
    pub(super) saved: usize,
}

impl VectorStore {
    /// The stored vectors of a model; an incomplete file counts as empty.
    pub(super) fn open(identity: &str, folder: Option<&Path>) -> Self {
        let name = blake3::hash(identity.as_bytes()).to_hex();
        let file = folder.map(|folder| folder.join(format!("{}.vectors", &name[..16])));
        let vectors = file.as_deref().and_then(read).unwrap_or_default();
        Self { identity: identity.into(), file, saved: vectors.len(), vectors }
    }

    /// The key of a text.
    pub(super) fn key(&self, text: &str) -> Key {
        let mut hash = blake3::Hasher::new();
        hash.update(&(self.identity.len() as u64).to_le_bytes());
        hash.update(self.identity.as_bytes()).update(text.as_bytes());
        *hash.finalize().as_bytes()
    }

    /// The length of all vectors.
    pub(super) fn length(&self) -> Option<usize> {
        self.vectors.values().next().map(|vector| vector.len())
    }

    /// Whether a vector is as long as the stored ones; otherwise the model has changed.
    pub(super) fn takes(&self, vector: &[f32]) -> bool {
        self.length().is_none_or(|length| length == vector.len())
    }

    /// Removes the vectors that are not among these, once there are many of them.
    pub(super) fn keep(&mut self, wanted: &HashSet<Key>) {
        if self.vectors.len() > wanted.len() + MAX_OTHERS {
            self.vectors.retain(|key, _| wanted.contains(key));
        }
    }

    /// Writes the file if there are new vectors: the length and the number of all, then each with its key.
    pub(super) fn save(&mut self) -> std::io::Result<()> {
        let Some(file) = &self.file else { return Ok(()) };
        let (Some(length), true) = (self.length(), self.vectors.len() != self.saved) else { return Ok(()) };
        let mut bytes: Vec<u8> =
            [length, self.vectors.len()].into_iter().flat_map(|size| (size as u64).to_le_bytes()).collect();
        for (key, vector) in &self.vectors {
            bytes.extend(key);
            vector.iter().for_each(|number| bytes.extend(number.to_le_bytes()));
        }
        private_file::write(file, &bytes).map_err(|cause| {
            std::io::Error::new(cause.kind(), format!("cannot write {}: {cause}", file.display()))
        })?;
        self.saved = self.vectors.len();
        Ok(())
    }
}

/// The vectors of a file, if it is complete.
fn read(file: &Path) -> Option<HashMap<Key, UnitVector>> {
    let bytes = fs::read(file).ok()?;
    let (sizes, rows) = bytes.split_first_chunk::<16>()?;
    let size = |at: usize| sizes[at..at + 8].try_into().map_or(0, |bytes| u64::from_le_bytes(bytes) as usize);
    let width = size(0).checked_mul(4)?.checked_add(32)?;
    let vectors = rows.chunks_exact(width).filter_map(|row| {
        let (key, numbers) = row.split_first_chunk::<32>()?;
        let numbers = numbers.as_chunks::<4>().0.iter().map(|number| f32::from_le_bytes(*number));
        Some((*key, numbers.collect()))
    });
    (size(0) > 0 && width.checked_mul(size(8)) == Some(rows.len())).then(|| vectors.collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::semantic::similarity::unit;

    #[test]
    fn a_file_is_read_back_and_a_cut_one_is_as_good_as_none() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = VectorStore::open("model", Some(folder.path()));
        let key = store.key("text");
        assert_ne!(key, VectorStore::open("other", None).key("text"));
        store.vectors.insert(key, unit(&[3.0, 4.0]));
        store.save().unwrap();
        let kept = VectorStore::open("model", Some(folder.path()));
        assert_eq!(&kept.vectors[&key][..], [0.6, 0.8]);
        assert!(!VectorStore::open("other", Some(folder.path())).vectors.contains_key(&key));

        let file = store.file.clone().unwrap();
        let whole = fs::read(&file).unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is left aside");
        for end in 0..whole.len() {
            fs::write(&file, &whole[..end]).unwrap();
            assert!(!VectorStore::open("model", Some(folder.path())).vectors.contains_key(&key));
        }
        assert!(store.takes(&[1.0, 0.0]) && !store.takes(&[1.0]));
    }
}
