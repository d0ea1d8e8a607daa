//! The search indexes of a catalog view: of its tools, and of its categories. Each is read where it was stored, or made, at
//! its first use.

use std::sync::OnceLock;

use bytes::Bytes;

use super::category_entries::category_entries;
use crate::catalog::{Catalog, CategoryTree, DerivedKey};
use crate::search::{Index, IndexEntry, index_basis};

/// Fewer bytes of indexes are made faster than they are read.
const MIN_KEPT: usize = 4 << 10;

/// The indexes, and what was stored of them.
#[derive(Debug, Default)]
pub(super) struct SearchIndexes {
    tools: OnceLock<Index>,
    categories: OnceLock<Index>,
    key: OnceLock<DerivedKey>,
    stored: OnceLock<Option<Stored>>,
    is_stored: OnceLock<bool>,
}

/// The bytes of both indexes.
#[derive(Debug)]
struct Stored {
    tools: Bytes,
    categories: Bytes,
}

impl SearchIndexes {
    /// The index of the tools, entries in the order of [`Catalog::tools`].
    pub(super) fn tools(&self, catalog: &Catalog) -> &Index {
        self.tools.get_or_init(|| {
            let stored = self.stored(catalog).and_then(|stored| {
                Index::restored(stored.tools.clone(), catalog.tools.len(), &catalog.config.search)
            });
            stored.unwrap_or_else(|| {
                let entries: Vec<IndexEntry> =
                    catalog.tools.iter().map(|tool| IndexEntry::from(&**tool)).collect();
                Index::configured(&entries, &catalog.config.search)
            })
        })
    }

    /// The index of the categories, entries in the order of [`CategoryTree::nodes`].
    pub(super) fn categories(&self, catalog: &Catalog, tree: &CategoryTree) -> &Index {
        self.categories.get_or_init(|| {
            let stored = self.stored(catalog).and_then(|stored| {
                Index::restored(stored.categories.clone(), tree.nodes().len(), &catalog.config.search)
            });
            let make = || Index::configured(&category_entries(catalog, tree), &catalog.config.search);
            stored.unwrap_or_else(make)
        })
    }

    /// Reads both, or makes them and keeps them for the next start. The index of the categories is read when it is first needed,
    /// since few searches need it.
    pub(super) fn build<'t>(&self, catalog: &Catalog, tree: impl Fn() -> &'t CategoryTree) {
        self.tools(catalog);
        if self.stored(catalog).is_none() {
            let bytes = self.bytes(catalog, tree());
            if bytes.len() >= MIN_KEPT {
                catalog.keep_derived(self.key(catalog), &bytes);
            }
        }
    }

    /// Whether both are in memory, but for the one that is quickly read.
    pub(super) fn are_ready(&self) -> bool {
        let is_stored = || self.stored.get().is_some_and(Option::is_some);
        self.tools.get().is_some() && (self.categories.get().is_some() || is_stored())
    }

    /// Whether both were stored.
    pub(super) fn are_stored(&self, catalog: &Catalog) -> bool {
        *self.is_stored.get_or_init(|| catalog.has_derived(self.key(catalog)))
    }

    fn key(&self, catalog: &Catalog) -> &DerivedKey {
        self.key.get_or_init(|| catalog.index_key(&index_basis(&catalog.config.search)))
    }

    fn stored(&self, catalog: &Catalog) -> Option<&Stored> {
        let read = || Stored::split(catalog.derived(self.key(catalog))?);
        self.stored.get_or_init(read).as_ref()
    }

    fn bytes(&self, catalog: &Catalog, tree: &CategoryTree) -> Vec<u8> {
        let tools = self.tools(catalog).to_bytes();
        let length = (tools.len() as u64).to_le_bytes();
        [&length[..], &tools, &self.categories(catalog, tree).to_bytes()].concat()
    }
}

impl Stored {
    /// The bytes of the first behind their length, then those of the second.
    fn split(mut bytes: Bytes) -> Option<Self> {
        let length = usize::try_from(u64::from_le_bytes(*bytes.first_chunk()?)).ok()?;
        let mut tools = bytes.split_off(size_of::<u64>());
        let categories = (length <= tools.len()).then(|| tools.split_off(length))?;
        Some(Self { tools, categories })
    }
}
