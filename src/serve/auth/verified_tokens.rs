//! Tokens that were verified, remembered until they expire. The memory is asked with each
//! request, so its hash is a fast one with a secret key, and the token itself is compared.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::{PoisonError, RwLock};

use serde::{Deserialize, Serialize};

use crate::exec::Caller;

/// Most tokens that are remembered.
const MAX_TOKENS: usize = 10_000;

/// A verified token.
#[derive(Clone, Debug)]
pub(in crate::serve) struct Verified {
    /// Its caller.
    pub(in crate::serve) caller: Caller,
    /// Its audiences that are ours.
    pub(in crate::serve) audience: Audience,
    /// Milliseconds of Unix time until which it is remembered.
    pub(in crate::serve) until: i64,
}

/// The resources that a token is for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::serve) enum Audience {
    /// Every endpoint: one of the audiences that the configuration names.
    Configured,
    /// These addresses.
    Resources(Box<[String]>),
}

/// Tokens by their fast hash.
type KnownTokens = HashMap<u64, (Box<[u8]>, Verified)>;

/// The remembered tokens. Only tokens that were verified take room, so that strangers cannot fill it.
#[derive(Default)]
pub(super) struct VerifiedTokens {
    known: RwLock<KnownTokens>,
    hasher: RandomState,
}

impl std::fmt::Debug for VerifiedTokens {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        to.write_str("VerifiedTokens")
    }
}

impl VerifiedTokens {
    /// A part of a verified token, taken by `of`; `None` when it is not remembered.
    pub(super) fn get<T>(&self, shown: &[u8], now: i64, of: impl FnOnce(&Verified) -> T) -> Option<T> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        let (token, verified) = known.get(&self.hasher.hash_one(shown))?;
        (**token == *shown && now < verified.until).then(|| of(verified))
    }

    pub(super) fn remember(&self, shown: &[u8], verified: Verified, now: i64) {
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= MAX_TOKENS {
            known.retain(|_, (_, verified)| now < verified.until);
        }
        if known.len() >= MAX_TOKENS {
            // Tokens that expire soon are verified again at little cost.
            let mut ends: Vec<i64> = known.values().map(|(_, verified)| verified.until).collect();
            let (_, median, _) = ends.select_nth_unstable(MAX_TOKENS / 2);
            let median = *median;
            known.retain(|_, (_, verified)| verified.until > median);
        }
        known.insert(self.hasher.hash_one(shown), (shown.into(), verified));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verified(until: i64) -> Verified {
        Verified { caller: Caller::default(), audience: Audience::Configured, until }
    }

    #[test]
    fn a_token_is_remembered_until_it_expires() {
        let tokens = VerifiedTokens::default();
        tokens.remember(b"token", verified(100), 0);
        assert!(tokens.get(b"token", 99, |_| ()).is_some());
        assert!(tokens.get(b"token", 100, |_| ()).is_none());
        assert!(tokens.get(b"tokem", 99, |_| ()).is_none());
        assert!(!format!("{tokens:?}").contains("token"));
    }

    #[test]
    fn the_memory_has_a_limit_and_keeps_the_longest_valid_tokens() {
        let tokens = VerifiedTokens::default();
        for number in 0..(MAX_TOKENS as i64 + 10) {
            tokens.remember(&number.to_le_bytes(), verified(number + 1), 0);
        }
        let count = tokens.known.read().unwrap().len();
        assert!(count <= MAX_TOKENS && count > MAX_TOKENS / 3, "{count}");
        let last = (MAX_TOKENS as i64 + 9).to_le_bytes();
        assert!(tokens.get(&last, 0, |_| ()).is_some());
        // Tokens of equal expiry are no reason to grow.
        let equal = VerifiedTokens::default();
        for number in 0..(MAX_TOKENS as i64 + 10) {
            equal.remember(&number.to_le_bytes(), verified(7), 0);
        }
        assert!(equal.known.read().unwrap().len() <= MAX_TOKENS);
    }
}
