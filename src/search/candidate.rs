//! What ranking knows of an entry, before it is a hit.

/// An entry and what is known of how it fits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate {
    pub(super) entry: u32,
    pub(super) score: f32,
    /// The share of its name that the query says.
    pub(super) name_score: f32,
    /// How much it is about the same.
    pub(super) topic_score: f32,
}
