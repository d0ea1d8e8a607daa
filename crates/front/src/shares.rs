//! Scarce things that callers share, such as places, turns or bytes: so many in all, and fewer for one caller, so that nobody
//! takes all.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, Weak};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use toolcrib_definition::guard::locked;

/// A number of equal things.
#[derive(Debug)]
pub struct Shares {
    all: Arc<Semaphore>,
    most: usize,
    most_of_caller: usize,
    /// What each caller may still take. It is forgotten when the caller has given everything back.
    callers: Mutex<HashMap<Arc<str>, Weak<Semaphore>>>,
}

/// Things that one caller has taken, which are free again when this is dropped.
#[derive(Debug)]
pub struct Share {
    own: OwnedSemaphorePermit,
    all: OwnedSemaphorePermit,
}

impl Shares {
    /// Things of which one caller gets at most the second number, and at least one.
    pub fn new(most: usize, most_of_caller: usize) -> Self {
        let most = most.clamp(1, Semaphore::MAX_PERMITS);
        let all = Arc::new(Semaphore::new(most));
        Self { all, most, most_of_caller: most_of_caller.clamp(1, most), callers: Mutex::default() }
    }

    /// The most that a caller gets. Where no tokens are configured, callers have no name, and everybody is the same one.
    fn most_of(&self, caller: &str) -> usize {
        if caller.is_empty() { self.most } else { self.most_of_caller }
    }

    /// Takes some of them, if the caller has not taken its share and others have left so many.
    pub fn try_take(&self, caller: &str, count: u32) -> Option<Share> {
        let own = self.of(caller).try_acquire_many_owned(count).ok()?;
        let all = Arc::clone(&self.all).try_acquire_many_owned(count).ok()?;
        Some(Share { own, all })
    }

    /// Waits for one of them. Who waits for its own share keeps nobody else waiting.
    pub async fn take(&self, caller: &str) -> Option<Share> {
        let own = self.of(caller).acquire_owned().await.ok()?;
        let all = Arc::clone(&self.all).acquire_owned().await.ok()?;
        Some(Share { own, all })
    }

    /// Waits until all are back. Nobody can take one while this waits.
    pub async fn until_all_back(&self) {
        let all = u32::try_from(self.most).unwrap_or(u32::MAX);
        let _ = self.all.acquire_many(all).await;
    }

    fn of(&self, caller: &str) -> Arc<Semaphore> {
        let mut callers = locked(&self.callers);
        if let Some(own) = callers.get(caller).and_then(Weak::upgrade) {
            return own;
        }
        callers.retain(|_, own| own.strong_count() > 0);
        let own = Arc::new(Semaphore::new(self.most_of(caller)));
        callers.insert(caller.into(), Arc::downgrade(&own));
        own
    }
}

impl Share {
    /// Adds things of the same kind and caller, which are given back together.
    pub fn add(&mut self, more: Share) {
        self.own.merge(more.own);
        self.all.merge(more.all);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn one_caller_takes_its_share_and_others_take_the_rest() {
        let shares = Shares::new(8, 2);
        let of_amy: Vec<Share> = (0..8).filter_map(|_| shares.try_take("amy", 1)).collect();
        assert_eq!(of_amy.len(), 2);
        let others: Vec<Share> = (0..20).filter_map(|id| shares.try_take(&format!("{id}"), 1)).collect();
        assert_eq!(others.len(), 6);
        drop(of_amy);
        assert!(shares.try_take("amy", 2).is_some() && shares.try_take("amy", 3).is_none());
        drop(others);
        assert!(shares.try_take("", 8).is_some(), "without tokens everybody is one caller");
        assert!(locked(&shares.callers).len() <= 2);
    }

    #[tokio::test]
    async fn who_waits_for_its_own_share_keeps_nobody_waiting() {
        let shares = Arc::new(Shares::new(4, 2));
        let held = shares.try_take("amy", 2).unwrap();
        let waiting: Vec<_> = (0..20)
            .map(|_| {
                tokio::spawn({
                    let shares = Arc::clone(&shares);
                    async move { shares.take("amy").await.is_some() }
                })
            })
            .collect();
        tokio::task::yield_now().await;
        assert!(tokio::time::timeout(Duration::from_secs(1), shares.take("bob")).await.is_ok());
        drop(held);
        for waiting in waiting {
            assert!(waiting.await.unwrap());
        }
    }
}
