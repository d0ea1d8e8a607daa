//! The search indexes of a catalog, kept between starts. Their key says what they were made of, so that other ones are never
//! used.

use std::fmt::Debug;
use std::sync::Arc;

use bytes::Bytes;

use super::Catalog;
use crate::bundle::Bundle;

/// The part of a bundle that has them.
pub const INDEXES: usize = 5;

/// The hash of everything that indexes are made of.
pub type IndexKey = blake3::Hash;

/// A place where indexes are kept.
pub trait IndexStore: Debug + Send + Sync {
    /// The bytes that were kept with this key.
    fn read(&self, key: &IndexKey) -> Option<Bytes>;

    /// Whether there are some.
    fn has(&self, key: &IndexKey) -> bool {
        self.read(key).is_some()
    }

    /// Keeps bytes, where that is possible.
    fn keep(&self, _key: &IndexKey, _bytes: &[u8]) {}
}

/// A part of a bundle: the key, then what was kept.
impl IndexStore for Bundle {
    fn read(&self, key: &IndexKey) -> Option<Bytes> {
        let part = Bytes::from(self.part(INDEXES).ok()?);
        part.starts_with(key.as_bytes()).then(|| part.slice(blake3::OUT_LEN..))
    }
}

impl Catalog {
    /// The key of indexes of these tools and their categories that a search with this version and configuration makes.
    pub fn index_key(&self, search: &str) -> IndexKey {
        let mut hasher = blake3::Hasher::new();
        let categories = serde_json::to_string(&self.config.categories).unwrap_or_default();
        for text in [search, &categories] {
            hasher.update(&(text.len() as u64).to_le_bytes()).update(text.as_bytes());
        }
        self.tools.iter().for_each(|tool| _ = hasher.update(tool.digest()));
        hasher.finalize()
    }

    /// The bytes of indexes that were kept with this key.
    pub fn stored_indexes(&self, key: &IndexKey) -> Option<Bytes> {
        self.index_stores.iter().find_map(|store| store.read(key))
    }

    /// Whether indexes were kept with this key.
    pub fn has_stored_indexes(&self, key: &IndexKey) -> bool {
        self.index_stores.iter().any(|store| store.has(key))
    }

    /// Keeps the bytes of indexes for the next start.
    pub fn keep_indexes(&self, key: &IndexKey, bytes: &[u8]) {
        self.index_stores.iter().for_each(|store| store.keep(key, bytes));
    }

    /// Indexes are looked for in this store, too.
    pub(super) fn add_index_store(&mut self, store: Arc<dyn IndexStore>) {
        self.index_stores.push(store);
    }
}
