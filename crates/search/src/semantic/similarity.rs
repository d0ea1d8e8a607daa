//! The vectors of the tools of one catalog view, and similarities of queries to them.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};

/// A vector of length one, or of length zero for a text without a direction.
pub(super) type UnitVector = Arc<[f32]>;

/// Texts that no tool is about. The similarity of a query to these is the baseline of the model: some models find all
/// texts alike.
pub(super) fn unrelated<'t>() -> impl Iterator<Item = &'t str> {
    include_str!("unrelated.txt").lines()
}

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
    /// Whether its vectors have been requested.
    pub(super) is_wanted: AtomicBool,
}

/// Similarities of a query to each tool.
#[derive(Clone, Debug, PartialEq)]
pub struct Similarities {
    /// The cosine with each tool, in their order.
    pub cosine: Vec<f32>,
    /// The median cosine with unrelated texts.
    pub unrelated: f32,
}

impl VectorSlot {
    /// A slot for the vectors of these texts.
    pub fn new(texts: Vec<String>) -> Self {
        Self { texts, vectors: OnceLock::new(), is_wanted: AtomicBool::new(false) }
    }

    /// The vectors, once they are there.
    pub fn vectors(&self) -> Option<&Vectors> {
        self.vectors.get()
    }
}

impl Vectors {
    /// Similarities to a query; `None` when its vector has another length, as after a change of the model.
    pub(super) fn similarities(&self, query: &[f32]) -> Option<Similarities> {
        let all = || self.tools.iter().chain(&self.unrelated);
        if all().any(|vector| vector.len() != query.len()) {
            return None;
        }
        let near = |vectors: &[UnitVector]| vectors.iter().map(|vector| dot(vector, query)).collect();
        Some(Similarities::new(near(&self.tools), near(&self.unrelated)))
    }
}

/// Normalised similarities at which confidence is full, and at which it begins.
const SURE: f32 = 0.65;
const UNSURE: f32 = 0.15;

impl Similarities {
    /// Similarities from the cosines with tools, and with unrelated texts.
    pub fn new(cosine: Vec<f32>, mut unrelated: Vec<f32>) -> Self {
        unrelated.sort_by(f32::total_cmp);
        let unrelated = unrelated.get(unrelated.len() / 2).copied().unwrap_or_default();
        Self { cosine, unrelated }
    }

    /// Similarity of the tool at this position, scaled from unrelated texts (0) to the query itself (1).
    pub fn normalized(&self, place: usize) -> f32 {
        let cosine = self.cosine.get(place).copied().unwrap_or_default();
        ((cosine - self.unrelated) / (1.0 - self.unrelated).max(0.05)).clamp(0.0, 1.0)
    }

    /// Confidence in the tool at this position by similarity alone, from 0 to 1.
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

/// Eight sums at once, which the compiler turns into vector instructions.
fn dot(one: &[f32], other: &[f32]) -> f32 {
    let ones = one.chunks_exact(8);
    let others = other.chunks_exact(8);
    let rest: f32 = ones.remainder().iter().zip(others.remainder()).map(|(one, other)| one * other).sum();
    let mut sums = [0.0_f32; 8];
    for (one, other) in ones.zip(others) {
        for (sum, (one, other)) in sums.iter_mut().zip(one.iter().zip(other)) {
            *sum += one * other;
        }
    }
    rest + sums.iter().sum::<f32>()
}
