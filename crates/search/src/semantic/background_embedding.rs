//! The thread that requests the vectors of tools: a few texts at a time, until all are there.

use std::collections::HashSet;
use std::path::Path;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Arc, Weak};
use std::time::Duration;

use super::progress::{Progress, Shared};
use super::similarity::{UnitVector, VectorSlot, Vectors, unit, unrelated};
use super::vector_store::{Key, VectorStore};
use crate::model::ModelError;
use toolcrib_definition::guard::guarded_now;

/// Most texts of one request, and about the most characters.
const MOST_TEXTS: usize = 64;
const MOST_CHARS: usize = 60_000;
/// Most vectors that are lost when the process ends.
const SAVED_EACH: usize = 1_000;
/// Longest time of one request.
const TIMEOUT: Duration = Duration::from_secs(30);
/// Wait after the first failure, doubled after each further one, up to the second limit.
const FIRST_BACKOFF: Duration = Duration::from_secs(1);
const MAX_BACKOFF: Duration = Duration::from_secs(60);

/// State of the thread.
struct Embedder<'s> {
    shared: &'s Shared,
    store: VectorStore,
    slots: Vec<Weak<VectorSlot>>,
    /// Texts that the model refuses, alone and with others.
    refused: HashSet<Key>,
    at_once: usize,
    failures: u32,
}

enum NextStep {
    /// Go on.
    More,
    /// Wait.
    BackOff,
    /// Nothing to do.
    Nothing,
}

/// Fills the slots that arrive, until the sender is gone.
pub(super) fn embed_in_background(
    shared: &Shared,
    cache: Option<&Path>,
    wanted: &Receiver<Weak<VectorSlot>>,
) {
    let mut gathering = Embedder {
        shared,
        store: VectorStore::open(shared.model.identity(), cache),
        slots: Vec::new(),
        refused: HashSet::new(),
        at_once: MOST_TEXTS,
        failures: 0,
    };
    loop {
        gathering.slots.extend(wanted.try_iter());
        let next = guarded_now(|| gathering.step()).unwrap_or_else(|_| {
            gathering.failures += 1;
            NextStep::BackOff
        });
        let arrived = match next {
            NextStep::More => continue,
            NextStep::BackOff => wanted.recv_timeout(backoff(gathering.failures)),
            NextStep::Nothing => wanted.recv().map_err(|_| RecvTimeoutError::Disconnected),
        };
        match arrived {
            Ok(slot) => gathering.slots.push(slot),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}

fn backoff(failures: u32) -> Duration {
    FIRST_BACKOFF.saturating_mul(1 << failures.saturating_sub(1).min(10)).min(MAX_BACKOFF)
}

impl Embedder<'_> {
    /// Requests some missing vectors, or fills the slots that lack none.
    fn step(&mut self) -> NextStep {
        self.slots.retain(|slot| slot.strong_count() > 0);
        let slots: Vec<Arc<VectorSlot>> = self.slots.iter().filter_map(Weak::upgrade).collect();
        let open: Vec<&Arc<VectorSlot>> = slots.iter().filter(|slot| slot.vectors().is_none()).collect();
        if open.is_empty() {
            return NextStep::Nothing;
        }
        let mut seen = HashSet::new();
        let mut missing = Vec::new();
        let texts = open.iter().flat_map(|slot| slot.texts.iter().map(String::as_str));
        for text in unrelated().chain(texts) {
            let key = self.store.key(text);
            if seen.insert(key) && !self.store.vectors.contains_key(&key) && !self.refused.contains(&key) {
                missing.push((key, text.to_string()));
            }
        }
        let trouble = self.shared.progress().clone();
        let there = seen.len() - missing.len();
        let wanted = seen.len();
        *self.shared.progress() = Progress { embedded: there, wanted, ..trouble };
        if missing.is_empty() {
            self.tidy(&slots);
            self.fill(&slots);
            return NextStep::More;
        }
        // The wait of one caller does not depend on tools that only others see.
        let lacking: HashSet<Key> = missing.iter().map(|(key, _)| *key).collect();
        let lacks = |text: &str| lacking.contains(&self.store.key(text));
        if open.len() > 1 && !unrelated().any(lacks) {
            let is_complete = |slot: &&&Arc<VectorSlot>| !slot.texts.iter().any(|text| lacks(text));
            let complete: Vec<Arc<VectorSlot>> =
                open.iter().filter(is_complete).map(|&slot| Arc::clone(slot)).collect();
            if !complete.is_empty() {
                self.fill(&complete);
            }
        }
        let mut chars = 0;
        missing.truncate(self.at_once);
        let fits = missing.iter().take_while(|(_, text)| {
            chars += text.len();
            chars <= MOST_CHARS
        });
        let fits = fits.count().max(1);
        missing.truncate(fits);
        drop(slots);
        self.ask(missing)
    }

    /// Requests the vectors of these texts.
    pub fn ask(&mut self, missing: Vec<(Key, String)>) -> NextStep {
        let (keys, texts): (Vec<Key>, Vec<String>) = missing.into_iter().unzip();
        self.shared.embedded.fetch_add(texts.len() as u64, Relaxed);
        match self.shared.model.embed(&texts, TIMEOUT) {
            Ok(vectors) => {
                let is_other = vectors.iter().any(|vector| !self.store.takes(vector));
                if is_other {
                    self.store.vectors.clear();
                    self.store.saved = 0;
                }
                for (key, vector) in keys.into_iter().zip(&vectors) {
                    self.store.vectors.insert(key, unit(vector));
                }
                if is_other {
                    let trouble = "the model answers with vectors of another length than before";
                    return self.fail(trouble.into(), trouble.into());
                }
                self.at_once = (self.at_once * 2).min(MOST_TEXTS);
                self.failures = 0;
                if self.store.vectors.len().abs_diff(self.store.saved) >= SAVED_EACH {
                    self.save();
                }
                let mut progress = self.shared.progress();
                (progress.error, progress.public_error, progress.failures) = (None, None, 0);
                NextStep::More
            }
            // Too many texts, or one that the model refuses: try with fewer, until that one is alone.
            Err(ModelError::Refused { status: 400 | 413 | 422, .. }) if texts.len() > 1 => {
                self.at_once = texts.len() / 2;
                NextStep::More
            }
            Err(ModelError::Refused { status: 400 | 413 | 422, .. }) if self.store.length().is_some() => {
                self.refused.extend(keys);
                NextStep::More
            }
            Err(error) => self.fail(error.to_string(), error.brief()),
        }
    }

    fn fail(&mut self, trouble: String, brief: String) -> NextStep {
        self.failures = self.failures.saturating_add(1);
        if self.failures == 1 {
            tracing::warn!("semantic search: {trouble}");
        }
        self.save();
        let mut progress = self.shared.progress();
        (progress.error, progress.public_error) = (Some(trouble), Some(brief));
        progress.failures = self.failures;
        drop(progress);
        self.shared.filled.send_modify(|count| *count += 1);
        NextStep::BackOff
    }

    /// Keeps the slots that are still wanted.
    fn tidy(&mut self, slots: &[Arc<VectorSlot>]) {
        let mut wanted: HashSet<Key> = unrelated().map(|text| self.store.key(text)).collect();
        for slot in slots {
            wanted.extend(slot.texts.iter().map(|text| self.store.key(text)));
        }
        self.store.keep(&wanted);
        self.save();
    }

    /// Fills the slots whose vectors are there.
    fn fill(&self, slots: &[Arc<VectorSlot>]) {
        let nowhere: UnitVector = vec![0.0; self.store.length().unwrap_or_default()].into();
        let vector =
            |text: &str| Arc::clone(self.store.vectors.get(&self.store.key(text)).unwrap_or(&nowhere));
        for slot in slots {
            let tools = || slot.texts.iter().map(|text| vector(text)).collect();
            slot.vectors
                .get_or_init(|| Vectors { tools: tools(), unrelated: unrelated().map(vector).collect() });
        }
        self.shared.filled.send_modify(|count| *count += 1);
    }

    fn save(&mut self) {
        let unkept = self.store.save().err().map(|error| error.to_string());
        let mut progress = self.shared.progress();
        if let (Some(problem), None) = (&unkept, &progress.save_error) {
            tracing::warn!("semantic search: {problem}");
        }
        progress.save_error = unkept;
    }
}
