//! The vectors of the tools of one catalog view, and how near a query is to each.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};

/// A vector of length one, or of length zero where a text has no direction.
pub(super) type UnitVector = Arc<[f32]>;

/// What everybody's tools are not about. How near a query is to these tells how near it is to anything: models differ in
/// that, some find all texts alike.
pub const UNRELATED: [&str; 12] = [
    "the old lighthouse keeper counted seagulls until dawn",
    "a recipe for plum jam with cinnamon",
    "glaciers carved this valley over thousands of years",
    "the orchestra tuned while rain fell on the roof",
    "knitting a woollen scarf in two colours",
    "medieval monks brewed beer in stone cellars",
    "the goalkeeper slipped on the wet grass",
    "volcanic soil is good for growing coffee",
    "her grandmother taught her to whistle",
    "dinosaur footprints in red sandstone",
    "a quiet canal with painted wooden boats",
    "owls hunt at night and sleep during the day",
];

/// The vectors of some tools, in their order.
#[derive(Debug)]
pub struct Vectors {
    pub(super) tools: Vec<UnitVector>,
    pub(super) unrelated: Vec<UnitVector>,
}

/// Texts whose vectors are wanted, and the vectors once they are there.
#[derive(Debug)]
pub struct VectorSlot {
    pub(super) texts: Vec<String>,
    pub(super) vectors: OnceLock<Vectors>,
    /// Whether somebody gathers them.
    pub(super) is_wanted: AtomicBool,
}

/// How near a query is to each tool.
#[derive(Clone, Debug, PartialEq)]
pub struct Similarities {
    /// The cosine with each tool, in their order.
    pub cosine: Vec<f32>,
    /// The cosine with what has nothing to do with it.
    pub unrelated: f32,
}

impl VectorSlot {
    /// A place for the vectors of these texts.
    pub fn new(texts: Vec<String>) -> Self {
        Self { texts, vectors: OnceLock::new(), is_wanted: AtomicBool::new(false) }
    }

    /// The vectors, once they are there.
    pub fn vectors(&self) -> Option<&Vectors> {
        self.vectors.get()
    }
}

impl Vectors {
    /// How near a query is; nothing when its vector is of another length, as after a change of the model.
    pub(super) fn similarities(&self, query: &[f32]) -> Option<Similarities> {
        let all = || self.tools.iter().chain(&self.unrelated);
        if all().any(|vector| vector.len() != query.len()) {
            return None;
        }
        let near = |vectors: &[UnitVector]| vectors.iter().map(|vector| dot(vector, query)).collect();
        Some(Similarities::new(near(&self.tools), near(&self.unrelated)))
    }
}

/// Where between what has nothing to do with a query and the query itself full confidence begins, and any at all.
const SURE: f32 = 0.65;
const UNSURE: f32 = 0.15;

impl Similarities {
    /// What cosines with tools, and with [`UNRELATED`], say.
    pub fn new(cosine: Vec<f32>, mut unrelated: Vec<f32>) -> Self {
        unrelated.sort_by(f32::total_cmp);
        let unrelated = unrelated.get(unrelated.len() / 2).copied().unwrap_or_default();
        Self { cosine, unrelated }
    }

    /// How far the tool at this place is on the way from what has nothing to do with a query (0) to the query itself (1).
    pub fn normalized(&self, place: usize) -> f32 {
        let cosine = self.cosine.get(place).copied().unwrap_or_default();
        ((cosine - self.unrelated) / (1.0 - self.unrelated).max(0.05)).clamp(0.0, 1.0)
    }

    /// How sure nearness alone makes that the tool at this place is wanted, from 0 to 1.
    pub fn confidence(&self, place: usize) -> f32 {
        ((self.normalized(place) - UNSURE) / (SURE - UNSURE)).clamp(0.0, 1.0)
    }
}

/// A vector of length one in the same direction.
pub(super) fn unit(vector: &[f32]) -> UnitVector {
    let size = vector.iter().map(|number| f64::from(*number).powi(2)).sum::<f64>().sqrt();
    let factor = if size > 0.0 { 1.0 / size } else { 0.0 };
    vector.iter().map(|number| (f64::from(*number) * factor) as f32).collect()
}

/// How near two vectors are; nothing when they are of different lengths.
pub fn cosine(one: &[f32], other: &[f32]) -> Option<f32> {
    let lengths = dot(one, one).sqrt() * dot(other, other).sqrt();
    let cosine = if lengths > 0.0 { dot(one, other) / lengths } else { 0.0 };
    (one.len() == other.len() && cosine.is_finite()).then_some(cosine)
}

/// Eight sums at once, which the compiler makes one instruction of.
fn dot(one: &[f32], other: &[f32]) -> f32 {
    let (ones, others) = (one.chunks_exact(8), other.chunks_exact(8));
    let rest: f32 = ones.remainder().iter().zip(others.remainder()).map(|(one, other)| one * other).sum();
    let mut sums = [0.0_f32; 8];
    for (one, other) in ones.zip(others) {
        for (sum, (one, other)) in sums.iter_mut().zip(one.iter().zip(other)) {
            *sum += one * other;
        }
    }
    rest + sums.iter().sum::<f32>()
}
