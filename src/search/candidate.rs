//! The features of an entry that ranking has before it is a hit.

/// An entry with the features of its fit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate {
    pub(super) entry: u32,
    pub(super) score: f32,
    /// Share of its name that the query says.
    pub(super) name_score: f32,
    /// Similarity of its topics and the query's.
    pub(super) topic_score: f32,
}
