//! Cached help of one catalog view, which is one version of the registry: a slot for each target and format, so that
//! callers cannot make the cache grow.

use std::sync::OnceLock;

use bytes::Bytes;

use crate::help::{EffectFilter, Format, Groups, HelpOptions};

/// Formats of one target: of an op, short or full, with examples, with schemas; of a group, short or full, all of it,
/// reads or writes.
const WAYS: usize = 6;

/// The answers on one target; allocated at its first use.
type Answers = OnceLock<Box<[OnceLock<Bytes>; WAYS]>>;

/// Target of help.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum HelpTarget {
    /// The tool at this position of the catalog.
    Op(usize),
    /// The group at this position of the groups, or a part of it.
    Group(usize, EffectFilter),
    /// Ops with a common beginning.
    Beginning(String),
    /// The function of toolcrib with this name.
    Function(&'static str),
    /// The events of the caller's session.
    Session,
}

/// Cached help of one catalog view. Reading takes no lock.
#[derive(Debug, Default)]
pub(super) struct HelpCache {
    ops: Vec<Answers>,
    groups: OnceLock<(Groups, Vec<Answers>)>,
}

impl HelpCache {
    /// A cache for this many tools.
    pub(super) fn of(tools: usize) -> Self {
        Self { ops: empty_slots(tools), groups: OnceLock::new() }
    }

    /// The groups, each with its slots; `make` makes them at their first use.
    pub(super) fn groups(&self, make: impl FnOnce() -> Groups) -> &(Groups, Vec<Answers>) {
        self.groups.get_or_init(|| {
            let groups = make();
            let answers = empty_slots(groups.all().len());
            (groups, answers)
        })
    }

    /// The slot of the answer on a target, if it is cached.
    pub(super) fn slot(
        &self,
        target: &HelpTarget,
        wanted: HelpOptions,
        make_groups: impl FnOnce() -> Groups,
    ) -> Option<&OnceLock<Bytes>> {
        let is_full = usize::from(wanted.format == Format::Full);
        let (answers, way) = match target {
            HelpTarget::Op(index) => {
                let examples = usize::from(wanted.examples) * 2 * is_full;
                (self.ops.get(*index)?, is_full * 2 + examples + usize::from(wanted.schemas))
            }
            HelpTarget::Group(group, only) => {
                let only = EffectFilter::ALL.iter().position(|one| one == only)?;
                (self.groups(make_groups).1.get(*group)?, is_full * EffectFilter::ALL.len() + only)
            }
            HelpTarget::Beginning(_) | HelpTarget::Function(_) | HelpTarget::Session => return None,
        };
        answers.get_or_init(Box::default).get(way)
    }
}

fn empty_slots(things: usize) -> Vec<Answers> {
    (0..things).map(|_| OnceLock::new()).collect()
}
