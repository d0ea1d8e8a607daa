//! Tokens that were asked for, until shortly before they expire. Many that want one at the same time send one request.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::challenge::asked_scopes;
use super::token_request::{Issued, TokenRequest};
use super::{Refused, SecretToken, SignInProblem};

/// Most tokens that are kept; those that were used last stay.
const MAX_TOKENS: usize = 1024;
/// Time without use after which a token is forgotten: its caller is gone.
const UNUSED: Duration = Duration::from_secs(3600);
/// Longest time before its end at which a token is replaced, so that it does not expire on its way.
const MARGIN: Duration = Duration::from_secs(30);
/// Most scopes that refusals of a server add to a request.
const MAX_SCOPES: usize = 32;

/// The tokens of services.
#[derive(Debug, Default)]
pub(super) struct TokenCache(Mutex<HashMap<blake3::Hash, Entry>>);

#[derive(Debug)]
struct Entry {
    slot: Arc<tokio::sync::Mutex<Slot>>,
    used: Instant,
}

/// A token, its scopes, and the last failure to get one.
#[derive(Debug, Default)]
struct Slot {
    token: Option<SecretToken>,
    /// The time at which the token is replaced.
    until: Option<Instant>,
    /// Scopes that the server has asked for, beside those of the configuration.
    scopes: Vec<String>,
    failed: Option<(Instant, SignInProblem)>,
}

impl TokenCache {
    /// The token of a request: the one that is known, else a new one.
    pub(super) async fn token(&self, request: &TokenRequest<'_>) -> Result<SecretToken, SignInProblem> {
        let start = Instant::now();
        let slot = self.slot(request.key());
        let mut slot = slot.lock().await;
        match slot.fresh() {
            Some(token) => Ok(token),
            None => slot.ask(request, start).await,
        }
    }

    /// A token in place of one that a server has refused, with the scopes that it asks for; `None` where there is no other
    /// one.
    pub(super) async fn replace(
        &self,
        request: &TokenRequest<'_>,
        refused: Refused<'_>,
    ) -> Result<Option<SecretToken>, SignInProblem> {
        let scopes = asked_scopes(refused);
        let is_unwanted = |token: &SecretToken| refused.token == Some(token);
        let start = Instant::now();
        let slot = self.slot(request.key());
        let mut slot = slot.lock().await;
        // Another call has replaced it in the meantime.
        if let Some(token) = slot.fresh().filter(|token| !is_unwanted(token)) {
            return Ok(Some(token));
        }
        let known = slot.scopes.len();
        slot.add(&scopes, request);
        if refused.status == 403 && slot.scopes.len() == known {
            return Ok(None);
        }
        let token = slot.ask(request, start).await?;
        Ok(Some(token).filter(|token| !is_unwanted(token)))
    }

    fn slot(&self, key: blake3::Hash) -> Arc<tokio::sync::Mutex<Slot>> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        if !known.contains_key(&key) {
            known.retain(|_, entry| entry.used + UNUSED > now);
            let oldest = known.iter().min_by_key(|(_, entry)| entry.used).map(|(key, _)| *key);
            if let Some(oldest) = oldest.filter(|_| known.len() >= MAX_TOKENS) {
                known.remove(&oldest);
            }
        }
        let entry = known.entry(key).or_insert_with(|| Entry { slot: Arc::default(), used: now });
        entry.used = now;
        Arc::clone(&entry.slot)
    }
}

impl Slot {
    fn fresh(&self) -> Option<SecretToken> {
        let is_fresh = self.until.is_none_or(|until| Instant::now() < until);
        self.token.clone().filter(|_| is_fresh)
    }

    /// Asks for a token. A caller that has waited for a request since `start` shares its failure.
    async fn ask(
        &mut self,
        request: &TokenRequest<'_>,
        start: Instant,
    ) -> Result<SecretToken, SignInProblem> {
        if let Some((_, problem)) = self.failed.as_ref().filter(|(at, _)| *at >= start) {
            return Err(problem.clone());
        }
        (self.token, self.failed) = (None, None);
        match request.send(&self.scopes).await {
            Ok(Issued { token, lifetime }) => {
                self.until = Instant::now().checked_add(kept_for(lifetime));
                self.token = Some(token.clone());
                Ok(token)
            }
            Err(problem) => {
                self.failed = Some((Instant::now(), problem.clone()));
                Err(problem)
            }
        }
    }

    fn add(&mut self, scopes: &[String], request: &TokenRequest<'_>) {
        for scope in scopes {
            let is_asked = self.scopes.contains(scope) || request.asks_for(scope);
            if !is_asked && self.scopes.len() < MAX_SCOPES {
                self.scopes.push(scope.clone());
            }
        }
    }
}

/// The time for which a token with this lifetime is kept.
fn kept_for(lifetime: Duration) -> Duration {
    lifetime - MARGIN.min(lifetime / 4)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_replaced_shortly_before_it_expires() {
        for (lifetime, kept) in [(3600, 3570), (60, 45), (4, 3), (0, 0)] {
            assert_eq!(kept_for(Duration::from_secs(lifetime)), Duration::from_secs(kept));
        }
    }

    #[test]
    fn tokens_are_bounded_in_number() {
        let cache = TokenCache::default();
        let key = |number: usize| blake3::hash(&number.to_le_bytes());
        let first = cache.slot(key(0));
        for number in 0..2 * MAX_TOKENS {
            cache.slot(key(number));
            assert!(Arc::ptr_eq(&first, &cache.slot(key(0))), "a token in use stays");
        }
        assert_eq!(cache.0.lock().unwrap().len(), MAX_TOKENS);
    }
}
