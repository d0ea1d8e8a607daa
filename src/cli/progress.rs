//! Progress on a terminal, for work that takes longer than a second. Quiet when piped.

use std::borrow::Cow;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::io::Io;

/// Seconds before progress appears: shorter work needs none.
const SHOW_AFTER: Duration = Duration::from_secs(1);

/// A bar that appears after a second.
pub(super) struct Bar {
    bar: ProgressBar,
    is_on_terminal: bool,
}

impl Bar {
    pub(super) fn new(io: &Io, what: &'static str, total: u64) -> Self {
        let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::hidden());
        let style = ProgressStyle::with_template("{msg} {wide_bar} {pos}/{len}");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        bar.set_message(what);
        Self { bar, is_on_terminal: io.is_seen() }
    }

    pub(super) fn add(&self, done: usize) {
        if self.is_on_terminal && self.bar.is_hidden() && self.bar.elapsed() > SHOW_AFTER {
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
        self.bar.inc(done as u64);
    }

    pub(super) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

/// A spinner that appears after a second.
pub(super) struct Spinner(ProgressBar);

impl Spinner {
    pub(super) fn start(io: &Io, what: impl Into<Cow<'static, str>>) -> Self {
        let spinner = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        spinner.set_style(ProgressStyle::default_spinner());
        spinner.set_message(what);
        if io.is_seen() {
            let shown = spinner.clone();
            // The awaited work reports no progress, so a thread shows the spinner; it ends with the spinner.
            std::thread::spawn(move || {
                std::thread::sleep(SHOW_AFTER);
                if !shown.is_finished() {
                    shown.set_draw_target(ProgressDrawTarget::stderr());
                    shown.enable_steady_tick(Duration::from_millis(100));
                }
            });
        }
        Self(spinner)
    }

    /// Says what it waits for now.
    pub(super) fn say(&self, what: String) {
        self.0.set_message(what);
    }

    pub(super) fn finish(&self) {
        self.0.finish_and_clear();
    }
}
