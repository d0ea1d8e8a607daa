//! The vectors of queries, within a time limit. After a failure the model is not asked for a while, so that searches
//! do not wait for it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tokio::sync::Semaphore;
use tokio::time::timeout;

use super::similarity::{UnitVector, unit};
use super::status::SimilarityError;
use crate::model::EmbeddingModel;
use toolcrib_definition::guard::locked;

/// Most requests to the model at once.
const AT_ONCE: usize = 32;
/// Most queries whose vectors are kept.
const REMEMBERED: usize = 2_048;
/// Pause after the first failure; doubled after each further one.
const FIRST_BACKOFF: Duration = Duration::from_millis(500);
const MAX_BACKOFF: Duration = Duration::from_secs(30);

/// Vectors by query.
type Units = HashMap<String, UnitVector>;

/// Vectors of queries so far, and the model that gives more.
pub(super) struct QueryVectors {
    model: Arc<dyn EmbeddingModel>,
    /// Longest wait for the vector of a query.
    patience: Duration,
    /// By caller and query: no caller learns from a quick answer that another one has searched for the same.
    known: Mutex<HashMap<(String, String), UnitVector>>,
    room: Arc<Semaphore>,
    health: Mutex<Health>,
}

#[derive(Default)]
struct Health {
    failures: u32,
    rests_until: Option<Instant>,
    /// For the operator, and for callers.
    trouble: Option<(String, String)>,
}

impl QueryVectors {
    pub(super) fn new(model: Arc<dyn EmbeddingModel>, patience: Duration) -> Self {
        let room = Arc::new(Semaphore::new(AT_ONCE));
        Self { model, patience, known: Mutex::default(), room, health: Mutex::default() }
    }

    /// The last failure of the model, for the operator.
    pub(super) fn last_failure(&self) -> Option<String> {
        locked(&self.health).trouble.as_ref().map(|(trouble, _)| trouble.clone())
    }

    /// Forgets all vectors.
    pub(super) fn forget(&self) {
        locked(&self.known).clear();
    }

    /// The vectors of a caller's queries.
    pub(super) async fn of(&self, caller: &str, queries: &[String]) -> Result<Units, SimilarityError> {
        let mut units = Units::new();
        let mut unknown = Vec::new();
        for query in queries {
            match locked(&self.known).get(&(caller.to_string(), query.clone())) {
                Some(unit) => _ = units.insert(query.clone(), Arc::clone(unit)),
                None if query.is_empty() => return Err(SimilarityError::EmptyQuery),
                None if unknown.contains(query) => {}
                None => unknown.push(query.clone()),
            }
        }
        if !unknown.is_empty() {
            units.extend(self.ask(caller, unknown).await?);
        }
        Ok(units)
    }

    /// The vectors of queries that are not known yet.
    async fn ask(&self, caller: &str, queries: Vec<String>) -> Result<Units, SimilarityError> {
        {
            let health = locked(&self.health);
            if let (Some(until), Some((_, brief))) = (health.rests_until, &health.trouble)
                && Instant::now() < until
            {
                return Err(SimilarityError::Model(brief.clone()));
            }
        }
        let room = Arc::clone(&self.room).try_acquire_owned().map_err(|_| SimilarityError::Busy)?;
        let model = Arc::clone(&self.model);
        let asked = queries.clone();
        let patience = self.patience;
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
        self.ended(answer.as_ref().err().cloned());
        let vectors = answer.map_err(|(_, brief)| SimilarityError::Model(brief))?;
        let units = vectors.iter().map(|vector| unit(vector));
        let units: Units = queries.into_iter().zip(units).collect();
        let mut known = locked(&self.known);
        if known.len() + units.len() > REMEMBERED {
            known.clear();
        }
        known.extend(
            units.iter().map(|(query, unit)| ((caller.to_string(), query.clone()), Arc::clone(unit))),
        );
        drop(known);
        Ok(units)
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
}
