//! Counters and times for metrics, by name and labels. A series begins when it is first counted.

use std::collections::HashMap;
use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

/// Upper bounds of times, in microseconds.
const BOUNDS: [u64; 9] = [100, 500, 2_500, 10_000, 50_000, 250_000, 1_000_000, 5_000_000, 60_000_000];

/// Most series of a name: a catalog that is edited for years has had more tools.
const MOST: usize = 20_000;

/// The counters.
#[derive(Debug, Default)]
pub struct Counters {
    counts: Series<AtomicU64>,
    times: Series<Histogram>,
}

#[derive(Debug, Default)]
struct Histogram {
    by_bound: [AtomicU64; BOUNDS.len() + 1],
    micros: AtomicU64,
}

/// A name, and its series by labels.
type Family<T> = (&'static str, Vec<(String, Arc<T>)>);

#[derive(Debug)]
struct Series<T>(RwLock<HashMap<&'static str, HashMap<String, Arc<T>>>>);

impl<T> Default for Series<T> {
    fn default() -> Self {
        Self(RwLock::default())
    }
}

impl<T: Default> Series<T> {
    fn of(&self, name: &'static str, labels: &str) -> Arc<T> {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(series) = known.get(name).and_then(|family| family.get(labels)) {
            return Arc::clone(series);
        }
        drop(known);
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let family = known.entry(name).or_default();
        if family.len() >= MOST {
            return Arc::default();
        }
        Arc::clone(family.entry(labels.into()).or_default())
    }

    /// The families by name, each with its series by labels.
    fn all(&self) -> Vec<Family<T>> {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let family = |(name, family): (&&'static str, &HashMap<String, Arc<T>>)| {
            let mut series: Vec<_> =
                family.iter().map(|(labels, of)| (labels.clone(), Arc::clone(of))).collect();
            series.sort_by(|one, other| one.0.cmp(&other.0));
            (*name, series)
        };
        let mut all: Vec<_> = known.iter().map(family).collect();
        all.sort_by_key(|(name, _)| *name);
        all
    }
}

impl Counters {
    /// Adds to a counter. The labels are as Prometheus writes them: `outcome="ok"`.
    pub fn add(&self, name: &'static str, labels: &str, count: u64) {
        self.counts.of(name, labels).fetch_add(count, Relaxed);
    }

    /// Records the time that something took.
    pub fn took(&self, name: &'static str, labels: &str, time: Duration) {
        let histogram = self.times.of(name, labels);
        let micros = u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        let bound = BOUNDS.iter().position(|&bound| micros <= bound).unwrap_or(BOUNDS.len());
        histogram.by_bound[bound].fetch_add(1, Relaxed);
        histogram.micros.fetch_add(micros, Relaxed);
    }

    /// Writes all series in the text format of Prometheus.
    pub fn write(&self, to: &mut String) {
        for (name, series) in self.counts.all() {
            let _ = writeln!(to, "# TYPE {name} counter");
            for (labels, count) in series {
                let _ = writeln!(to, "{name}{} {}", braced(&labels), count.load(Relaxed));
            }
        }
        for (name, series) in self.times.all() {
            let _ = writeln!(to, "# TYPE {name} histogram");
            for (labels, histogram) in series {
                let (comma, mut total) = (if labels.is_empty() { "" } else { "," }, 0);
                for (index, count) in histogram.by_bound.iter().enumerate() {
                    total += count.load(Relaxed);
                    let bound =
                        BOUNDS.get(index).map_or("+Inf".into(), |&bound| (bound as f64 / 1e6).to_string());
                    let _ = writeln!(to, "{name}_bucket{{{labels}{comma}le=\"{bound}\"}} {total}");
                }
                let (labels, seconds) = (braced(&labels), histogram.micros.load(Relaxed) as f64 / 1e6);
                let _ = writeln!(to, "{name}_sum{labels} {seconds}\n{name}_count{labels} {total}");
            }
        }
    }
}

fn braced(labels: &str) -> String {
    if labels.is_empty() { String::new() } else { format!("{{{labels}}}") }
}
