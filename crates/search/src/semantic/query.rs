//! The vectors of queries, within a time limit. After a failure the model is not asked for a while, so that searches
//! do not wait for it.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::Semaphore;
use tokio::time::timeout;

use super::vector_store::{UnitVector, unit};
use super::{Semantic, Similarities, VectorSlot, cut};

/// Failures in a row after which searches no longer wait for vectors of tools.
const TOO_LATE: u32 = 3;
/// Most requests to the model at once.
const AT_ONCE: usize = 32;
/// Most queries whose vectors are kept.
const REMEMBERED: usize = 2_048;
/// Pause after the first failure; doubled after each further one.
const FIRST_BACKOFF: Duration = Duration::from_millis(500);
const MAX_BACKOFF: Duration = Duration::from_secs(30);

/// Reason why a search cannot use meaning, for callers.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SimilarityError {
    /// The query has no text.
    #[error("the query is empty")]
    EmptyQuery,
    /// Vectors of tools are missing.
    #[error("{0}")]
    Incomplete(String),
    /// The model has too many requests already.
    #[error("too many searches at once")]
    Busy,
    /// The model gave no vector of the query.
    #[error("{0}")]
    Model(String),
    /// Vectors cannot be compared.
    #[error(
        "the model answers with vectors of another length than before; a restart without the cache helps"
    )]
    OtherLength,
}

/// Vectors of queries so far.
pub(super) struct QueryVectors {
    /// By caller and query: no caller learns from a quick answer that another one has searched for the same.
    known: Mutex<HashMap<(String, String), UnitVector>>,
    room: Arc<Semaphore>,
    health: Mutex<Health>,
    on: AtomicU64,
    unavailable: AtomicU64,
}

#[derive(Default)]
struct Health {
    failures: u32,
    rests_until: Option<Instant>,
    /// For the operator, and for callers.
    trouble: Option<(String, String)>,
}

impl Default for QueryVectors {
    fn default() -> Self {
        Self {
            known: Mutex::default(),
            room: Arc::new(Semaphore::new(AT_ONCE)),
            health: Mutex::default(),
            on: AtomicU64::default(),
            unavailable: AtomicU64::default(),
        }
    }
}

impl QueryVectors {
    /// The last failure of the model, for the operator.
    pub(super) fn last_failure(&self) -> Option<String> {
        locked(&self.health).trouble.as_ref().map(|(trouble, _)| trouble.clone())
    }

    /// Numbers of searches with the model, and without.
    pub(super) fn counts(&self) -> (u64, u64) {
        (self.on.load(Relaxed), self.unavailable.load(Relaxed))
    }

    fn ended(&self, trouble: Option<(String, String)>) {
        let mut health = locked(&self.health);
        let before = health.failures;
        health.failures = if trouble.is_some() { before.saturating_add(1) } else { 0 };
        let rest = FIRST_BACKOFF.saturating_mul(1 << before.min(10)).min(MAX_BACKOFF);
        health.rests_until = trouble.is_some().then(|| Instant::now() + rest);
        match (&trouble, before) {
            (Some((trouble, _)), 0) => tracing::warn!("semantic search: {trouble}"),
            (None, 1..) => tracing::info!("semantic search: the model answers again"),
            _ => {}
        }
        health.trouble = trouble;
    }

    fn cache(&self, caller: &str, queries: Vec<String>, units: &[UnitVector]) {
        let mut known = locked(&self.known);
        if known.len() + queries.len() > REMEMBERED {
            known.clear();
        }
        let queries = queries.into_iter().map(|query| (caller.to_string(), query));
        known.extend(queries.zip(units.iter().cloned()));
    }
}

impl Semantic {
    /// Similarities of each query of a caller to each tool of a slot, or why they are unavailable now, for callers.
    pub async fn similarities(
        &self,
        slot: &Arc<VectorSlot>,
        caller: &str,
        queries: &[&str],
    ) -> Result<Vec<Similarities>, SimilarityError> {
        let near = self.fetch_similarities(slot, caller, queries).await;
        let counter = if near.is_ok() { &self.queries.on } else { &self.queries.unavailable };
        counter.fetch_add(1, Relaxed);
        near
    }

    async fn fetch_similarities(
        &self,
        slot: &Arc<VectorSlot>,
        caller: &str,
        queries: &[&str],
    ) -> Result<Vec<Similarities>, SimilarityError> {
        self.tools_are_there(slot).await?;
        let queries: Vec<String> = queries.iter().map(|query| cut(query)).collect();
        let mut units = HashMap::new();
        let mut unknown = Vec::new();
        for query in &queries {
            match locked(&self.queries.known).get(&(caller.to_string(), query.clone())) {
                Some(unit) => _ = units.insert(query.clone(), Arc::clone(unit)),
                None if query.is_empty() => return Err(SimilarityError::EmptyQuery),
                None if unknown.contains(query) => {}
                None => unknown.push(query.clone()),
            }
        }
        if !unknown.is_empty() {
            units.extend(self.vectors(caller, unknown).await?);
        }
        let slot = Arc::clone(slot);
        // This takes milliseconds where there are many tools and long vectors: too long for a thread that serves
        // others.
        let compare = move || {
            let vectors = slot.vectors()?;
            queries
                .iter()
                .map(|query| vectors.similarities(units.get(query)?))
                .collect::<Option<Vec<Similarities>>>()
        };
        let near = tokio::task::spawn_blocking(compare).await.unwrap_or_default();
        near.ok_or_else(|| {
            locked(&self.queries.known).clear();
            SimilarityError::OtherLength
        })
    }

    /// Waits for the vectors of tools, if the options allow it.
    async fn tools_are_there(&self, slot: &Arc<VectorSlot>) -> Result<(), SimilarityError> {
        if slot.vectors().is_some() {
            return Ok(());
        }
        let mut filled = self.shared.filled.subscribe();
        self.prepare(slot);
        let is_hopeful = || slot.vectors().is_none() && self.shared.progress().failures < TOO_LATE;
        let there = async { while is_hopeful() && filled.changed().await.is_ok() {} };
        let _ = timeout(self.options.max_wait, there).await;
        if slot.vectors().is_some() {
            return Ok(());
        }
        Err(SimilarityError::Incomplete(self.progress().missing(false)))
    }

    /// The vectors of queries that are not known yet.
    async fn vectors(
        &self,
        caller: &str,
        queries: Vec<String>,
    ) -> Result<Vec<(String, UnitVector)>, SimilarityError> {
        {
            let health = locked(&self.queries.health);
            if let (Some(until), Some((_, brief))) = (health.rests_until, &health.trouble)
                && Instant::now() < until
            {
                return Err(SimilarityError::Model(brief.clone()));
            }
        }
        let room = Arc::clone(&self.queries.room).try_acquire_owned();
        let Ok(room) = room else { return Err(SimilarityError::Busy) };
        let model = Arc::clone(&self.shared.model);
        let asked = queries.clone();
        let patience = self.options.timeout;
        // The place is taken as long as the model is asked, even when nobody waits any more.
        let asking = tokio::task::spawn_blocking(move || {
            let _room = room;
            model.embed(&asked, patience)
        });
        let answer = match timeout(patience, asking).await {
            Ok(Ok(Ok(vectors))) => Ok(vectors),
            Ok(Ok(Err(error))) => Err((error.to_string(), error.brief())),
            Ok(Err(_)) => Err(("the model broke".into(), "the model broke".into())),
            Err(_) => {
                let late = format!("no answer from the model within {} ms", patience.as_millis());
                Err((late.clone(), late))
            }
        };
        self.queries.ended(answer.as_ref().err().cloned());
        let vectors = answer.map_err(|(_, brief)| SimilarityError::Model(brief))?;
        let units: Vec<UnitVector> = vectors.iter().map(|vector| unit(vector)).collect();
        self.queries.cache(caller, queries.clone(), &units);
        Ok(queries.into_iter().zip(units).collect())
    }
}

fn locked<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}
