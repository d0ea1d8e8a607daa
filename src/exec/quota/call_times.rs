//! The times of the calls of each caller, one number a caller.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use governor::nanos::Nanos;
use governor::state::StateStore;

/// Most callers with a time. A caller that has paused needs none.
const MAX_CALLERS: usize = 10_000;

/// For each caller, the time at which its whole burst is there again.
#[derive(Clone, Default)]
pub(super) struct CallTimes(Arc<Mutex<HashMap<Arc<str>, Nanos>>>);

impl CallTimes {
    /// Moves the time of a caller to an earlier one.
    pub(super) fn earlier(&self, caller: &Arc<str>, by: Duration) {
        if let Some(time) = self.lock().get_mut(caller) {
            *time = time.saturating_sub(by.into());
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Arc<str>, Nanos>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl StateStore for CallTimes {
    type Key = Arc<str>;

    fn measure_and_replace<T, F, E>(&self, caller: &Arc<str>, measure: F) -> Result<T, E>
    where
        F: Fn(Option<Nanos>) -> Result<(T, Nanos), E>,
    {
        let mut times = self.lock();
        let known = times.get(caller).copied();
        let (answer, time) = measure(known)?;
        if known.is_none() && times.len() >= MAX_CALLERS {
            forget_half(&mut times);
        }
        times.insert(Arc::clone(caller), time);
        Ok(answer)
    }
}

/// Forgets the half of the callers that have called least lately: their bursts are nearly whole.
fn forget_half(times: &mut HashMap<Arc<str>, Nanos>) {
    let mut all: Vec<Nanos> = times.values().copied().collect();
    let middle = all.len() / 2;
    let (_, &mut middle, _) = all.select_nth_unstable(middle);
    times.retain(|_, time| *time > middle);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_bounded_and_the_busiest_callers_are_kept() {
        let times = CallTimes::default();
        let call = |name: usize, time: u64| {
            let caller: Arc<str> = name.to_string().into();
            times.measure_and_replace(&caller, |known| Ok::<_, ()>((known, Nanos::from(time)))).unwrap()
        };
        for name in 0..3 * MAX_CALLERS {
            call(name, 1 + name as u64);
            assert!(times.lock().len() <= MAX_CALLERS);
        }
        assert_eq!(call(3 * MAX_CALLERS - 1, 1), Some(Nanos::from(3 * MAX_CALLERS as u64)));
        assert_eq!(call(0, 1), None);
    }

    #[test]
    fn equal_times_are_forgotten_together() {
        let times = CallTimes::default();
        for name in 0..=MAX_CALLERS {
            let caller: Arc<str> = name.to_string().into();
            times.measure_and_replace(&caller, |_| Ok::<_, ()>(((), Nanos::from(7)))).unwrap();
        }
        assert_eq!(times.lock().len(), 1);
    }
}
