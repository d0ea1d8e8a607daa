//! What searches in a new catalog need is made at once, on a thread of its own, and not when somebody first searches.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Weak};
use std::time::Duration;

use crate::functions::Edition;
use crate::guard::guarded_now;
use crate::search;

/// How long whoever starts, or reloads, has the cores to itself: first answers are small, and need no search.
const PAUSE: Duration = Duration::from_millis(50);

/// The thread, which ends when this is dropped.
#[derive(Debug)]
pub(super) struct Indexing {
    editions: Sender<Weak<Edition>>,
}

impl Indexing {
    /// Starts the thread. Without it, searches make what they need.
    pub(super) fn start() -> Self {
        let (editions, wanted) = channel();
        let _ = std::thread::Builder::new().name("words".into()).spawn(move || index(&wanted));
        Self { editions }
    }

    /// Sees to it that these can be searched in a while. Whoever drops an edition wants it no more.
    pub(super) fn add<'e>(&self, editions: impl Iterator<Item = &'e Arc<Edition>>) {
        for edition in editions {
            let _ = self.editions.send(Arc::downgrade(edition));
        }
    }
}

fn index(wanted: &Receiver<Weak<Edition>>) {
    for edition in wanted {
        if edition.upgrade().is_none_or(|edition| edition.is_searchable()) {
            continue;
        }
        std::thread::sleep(PAUSE);
        search::load();
        if let Some(edition) = edition.upgrade() {
            // What breaks here breaks again where it is used, and is told there; the next edition is made all the same.
            let _ = guarded_now(|| edition.make_searchable());
        }
    }
}
