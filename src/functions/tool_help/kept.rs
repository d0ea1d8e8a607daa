//! What is kept of the answers of one edition, which is one version of the registry: a place for each thing that there is
//! and each way to tell of it, so that callers cannot make it grow.

use std::sync::OnceLock;

use bytes::Bytes;

use super::place::Place;
use crate::functions::Edition;
use crate::help::{Format, Groups, Only, Wanted};

/// The ways to tell of one thing: of an op, short or full, with examples, with schemas; of a group, short or full, all of
/// it, reads or writes.
const WAYS: usize = 6;

/// The answers on one thing; there is room for them once it is asked for.
type Answers = OnceLock<Box<[OnceLock<Bytes>; WAYS]>>;

/// What is kept of the answers of one edition. Reading takes no lock.
#[derive(Debug, Default)]
pub(in crate::functions) struct Kept {
    ops: Vec<Answers>,
    groups: OnceLock<(Groups, Vec<Answers>)>,
}

impl Kept {
    /// Room for the answers on so many tools.
    pub(in crate::functions) fn of(tools: usize) -> Self {
        Self { ops: rooms(tools), groups: OnceLock::new() }
    }

    /// The groups. Made when they are first asked for.
    pub(in crate::functions) fn groups(&self, edition: &Edition) -> &Groups {
        &self.made(edition).0
    }

    fn made(&self, edition: &Edition) -> &(Groups, Vec<Answers>) {
        self.groups.get_or_init(|| {
            let groups = Groups::of(edition.catalog(), edition.tree());
            let answers = rooms(groups.all().len());
            (groups, answers)
        })
    }

    /// Where the answer on a place is kept, if it is.
    pub(super) fn place(&self, edition: &Edition, place: &Place, wanted: Wanted) -> Option<&OnceLock<Bytes>> {
        let is_full = usize::from(wanted.format == Format::Full);
        let (answers, way) = match place {
            Place::Op(index) => {
                let examples = usize::from(wanted.examples) * 2 * is_full;
                (self.ops.get(*index)?, is_full * 2 + examples + usize::from(wanted.schemas))
            }
            Place::Group(group, only) => {
                let only = Only::ALL.iter().position(|one| one == only)?;
                (self.made(edition).1.get(*group)?, is_full * Only::ALL.len() + only)
            }
            Place::Beginning(_) | Place::Session => return None,
        };
        answers.get_or_init(Box::default).get(way)
    }
}

fn rooms(things: usize) -> Vec<Answers> {
    (0..things).map(|_| OnceLock::new()).collect()
}
