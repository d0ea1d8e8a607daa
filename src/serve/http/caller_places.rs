//! Places that each caller has a number of, such as open streams.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The taken places of each caller who has any.
#[derive(Clone, Debug, Default)]
pub(super) struct CallerPlaces(Arc<Mutex<HashMap<Arc<str>, u32>>>);

/// A place, which is free again when this is dropped.
#[derive(Debug)]
pub(super) struct CallerPlace {
    places: CallerPlaces,
    caller: Arc<str>,
}

impl CallerPlaces {
    /// Takes a place for a caller; `None` when `most` are taken.
    pub(super) fn take(&self, caller: &Arc<str>, most: u32) -> Option<CallerPlace> {
        let mut places = self.lock();
        if places.get(caller).is_some_and(|taken| *taken >= most) || most == 0 {
            return None;
        }
        *places.entry(Arc::clone(caller)).or_default() += 1;
        Some(CallerPlace { places: self.clone(), caller: Arc::clone(caller) })
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Arc<str>, u32>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for CallerPlace {
    fn drop(&mut self) {
        if let Entry::Occupied(mut taken) = self.places.lock().entry(Arc::clone(&self.caller)) {
            match taken.get() {
                0 | 1 => drop(taken.remove()),
                _ => *taken.get_mut() -= 1,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_those_of_one_caller_and_nothing_is_kept_of_callers_without_any() {
        let places = CallerPlaces::default();
        let (amy, bob): (Arc<str>, Arc<str>) = ("amy".into(), "bob".into());
        let (first, second) = (places.take(&amy, 2).unwrap(), places.take(&amy, 2).unwrap());
        assert!(places.take(&amy, 2).is_none() && places.take(&bob, 2).is_some());
        drop(first);
        let third = places.take(&amy, 2).unwrap();
        drop((second, third));
        assert!(places.lock().is_empty());
    }
}
