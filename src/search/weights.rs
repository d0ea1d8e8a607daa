//! Weights by number, for many lookups.

use std::cell::RefCell;

thread_local! {
    /// Weights that nobody uses, all at 0: the thread keeps them from query to query.
    static FREE: RefCell<Vec<Weights>> = RefCell::default();
}

/// Weights by topic or by term.
#[derive(Debug, Default)]
pub(super) struct Weights {
    weights: Vec<f32>,
    touched: Vec<u32>,
}

impl Weights {
    /// Calls with weights that are all 0.
    pub(super) fn with<R>(call: impl FnOnce(&mut Self) -> R) -> R {
        let mut weights = FREE.with_borrow_mut(Vec::pop).unwrap_or_default();
        let result = call(&mut weights);
        weights.touched.drain(..).for_each(|number| weights.weights[number as usize] = 0.0);
        FREE.with_borrow_mut(|free| free.push(weights));
        result
    }

    #[inline]
    fn place(&mut self, number: u32) -> &mut f32 {
        let place = number as usize;
        if self.weights.len() <= place {
            self.weights.resize(place + 1, 0.0);
        }
        self.touched.push(number);
        &mut self.weights[place]
    }

    #[inline]
    pub(super) fn add(&mut self, number: u32, weight: f32) {
        *self.place(number) += weight;
    }

    /// Raises a weight to this one.
    #[inline]
    pub(super) fn raise(&mut self, number: u32, weight: f32) {
        let known = self.place(number);
        *known = known.max(weight);
    }

    #[inline]
    pub(super) fn get(&self, number: u32) -> f32 {
        self.weights.get(number as usize).copied().unwrap_or(0.0)
    }

    /// Divides all weights by the length of the vector that they are with these others.
    pub(super) fn normalize(&mut self, others: &[f32]) {
        self.touched.sort_unstable();
        self.touched.dedup();
        let own = self.touched.iter().map(|topic| &self.weights[*topic as usize]);
        let length = own.chain(others).map(|weight| weight * weight).sum::<f32>().sqrt();
        if length > 0.0 {
            self.touched.iter().for_each(|topic| self.weights[*topic as usize] /= length);
        }
    }

    /// The weights that are not 0, by their numbers.
    pub(super) fn all(&self) -> impl Iterator<Item = (u32, f32)> {
        let weights = self.touched.iter().map(|number| (*number, self.weights[*number as usize]));
        weights.filter(|(_, weight)| *weight != 0.0)
    }

    /// Similarity of a query with these weights and an entry by topics, from 0 to 1.
    #[inline]
    pub(super) fn likeness(&self, entry: &[(u32, f32)]) -> f32 {
        let met =
            entry.iter().map(|&(topic, weight)| (self.get(topic), weight)).filter(|(own, _)| *own != 0.0);
        met.fold(0.0, |sum, (own, weight)| sum + own * weight)
    }
}
