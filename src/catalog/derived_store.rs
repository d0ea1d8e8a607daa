//! Search indexes of a catalog and seals of its docs, kept between starts. The key of indexes says what they were made of, and a
//! seal is checked, so that nothing else is ever used.

use std::fmt::Debug;
use std::sync::Arc;

use bytes::Bytes;

use super::Catalog;
use crate::bundle::Bundle;

/// The part of a bundle that has them.
pub(super) const INDEXES: usize = 5;

/// The hash of everything that the bytes are made of.
pub type DerivedKey = blake3::Hash;

/// A place where bytes are kept by their key.
pub trait DerivedStore: Debug + Send + Sync {
    /// The bytes that were kept with this key.
    fn read(&self, key: &DerivedKey) -> Option<Bytes>;

    /// Whether there are some.
    fn has(&self, key: &DerivedKey) -> bool {
        self.read(key).is_some()
    }

    /// Keeps bytes, where that is possible.
    fn keep(&self, _key: &DerivedKey, _bytes: &[u8]) {}
}

/// A part of a bundle: the key, then what was kept.
impl DerivedStore for Bundle {
    fn read(&self, key: &DerivedKey) -> Option<Bytes> {
        let part = Bytes::from(self.part(INDEXES).ok()?);
        part.starts_with(key.as_bytes()).then(|| part.slice(blake3::OUT_LEN..))
    }
}

impl Catalog {
    /// The key of indexes of these tools and their categories that a search with this version and configuration makes.
    pub fn index_key(&self, search: &str) -> DerivedKey {
        let mut hasher = blake3::Hasher::new();
        let categories = serde_json::to_string(&self.config.categories).unwrap_or_default();
        for text in [search, &categories] {
            hasher.update(&(text.len() as u64).to_le_bytes()).update(text.as_bytes());
        }
        self.tools.iter().for_each(|tool| _ = hasher.update(tool.digest()));
        hasher.finalize()
    }

    /// The bytes that were kept with this key.
    pub fn derived(&self, key: &DerivedKey) -> Option<Bytes> {
        self.derived_stores.iter().find_map(|store| store.read(key))
    }

    /// Whether bytes were kept with this key.
    pub fn has_derived(&self, key: &DerivedKey) -> bool {
        self.derived_stores.iter().any(|store| store.has(key))
    }

    /// Keeps bytes for the next start.
    pub fn keep_derived(&self, key: &DerivedKey, bytes: &[u8]) {
        self.derived_stores.iter().for_each(|store| store.keep(key, bytes));
    }

    /// Bytes are looked for in this store, too.
    pub(super) fn add_derived_store(&mut self, store: Arc<dyn DerivedStore>) {
        self.derived_stores.push(store);
    }
}
