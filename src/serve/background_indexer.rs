//! Builds the search indexes of a new catalog at once, on a thread, and not at the first search.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Weak};
use std::time::Duration;

use crate::functions::CatalogView;
use crate::guard::guarded_now;

/// Pause before indexing, so that a start or a reload has the cores to itself: first answers are small, and need no
/// search.
const PAUSE: Duration = Duration::from_millis(50);

/// The thread, which ends when this is dropped.
#[derive(Debug)]
pub(super) struct BackgroundIndexer {
    views: Sender<Weak<CatalogView>>,
}

impl BackgroundIndexer {
    /// Starts the thread. Without it, searches build the indexes themselves.
    pub(super) fn start() -> Self {
        let (views, wanted) = channel();
        let _ = std::thread::Builder::new().name("words".into()).spawn(move || index(&wanted));
        Self { views }
    }

    /// Builds the indexes of these in the background. A dropped catalog view is no longer wanted.
    pub(super) fn add<'e>(&self, views: impl Iterator<Item = &'e Arc<CatalogView>>) {
        for view in views {
            let _ = self.views.send(Arc::downgrade(view));
        }
    }
}

fn index(wanted: &Receiver<Weak<CatalogView>>) {
    for view in wanted {
        if view.upgrade().is_none_or(|view| view.is_indexed()) {
            continue;
        }
        std::thread::sleep(PAUSE);
        if let Some(view) = view.upgrade() {
            // A failure here happens again where the index is used, and is reported there; the next catalog view is
            // indexed all the same.
            let _ = guarded_now(|| view.build_indexes());
        }
    }
}
