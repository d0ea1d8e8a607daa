//! Counters and times for metrics, by name and labels. A series begins when it is first counted. The registries of the field want
//! every metric declared with its help and its buckets, which is longer than this file.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Mutex;
use std::time::Duration;

use toolcrib_definition::guard::locked;

/// Upper bounds of times, in microseconds.
const BOUNDS: [u64; 9] = [100, 500, 2_500, 10_000, 50_000, 250_000, 1_000_000, 5_000_000, 60_000_000];

#[derive(Debug, Default)]
pub struct Counters {
    counts: Families<u64>,
    times: Families<Histogram>,
}

/// Series by name and labels.
type Families<T> = Mutex<BTreeMap<&'static str, BTreeMap<String, T>>>;

#[derive(Debug, Default)]
struct Histogram {
    by_bound: [u64; BOUNDS.len() + 1],
    micros: u64,
}

impl Counters {
    /// Adds to a counter. The labels are as Prometheus writes them: `outcome="ok"`, of few values.
    pub fn add(&self, name: &'static str, labels: &str, count: u64) {
        *locked(&self.counts).entry(name).or_default().entry(labels.into()).or_default() += count;
    }

    /// Records the time that something took.
    pub fn took(&self, name: &'static str, labels: &str, time: Duration) {
        let micros = u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        let bound = BOUNDS.iter().position(|&bound| micros <= bound).unwrap_or(BOUNDS.len());
        let mut times = locked(&self.times);
        let histogram = times.entry(name).or_default().entry(labels.into()).or_default();
        histogram.by_bound[bound] += 1;
        histogram.micros = histogram.micros.saturating_add(micros);
    }

    /// Writes all series in the text format of Prometheus.
    pub fn write(&self, to: &mut String) {
        for (name, series) in &*locked(&self.counts) {
            let _ = writeln!(to, "# TYPE {name} counter");
            for (labels, count) in series {
                let _ = writeln!(to, "{name}{} {count}", braced(labels));
            }
        }
        for (name, series) in &*locked(&self.times) {
            let _ = writeln!(to, "# TYPE {name} histogram");
            for (labels, histogram) in series {
                let comma = if labels.is_empty() { "" } else { "," };
                let mut total = 0;
                for (index, count) in histogram.by_bound.iter().enumerate() {
                    total += count;
                    let bound =
                        BOUNDS.get(index).map_or("+Inf".into(), |&bound| (bound as f64 / 1e6).to_string());
                    let _ = writeln!(to, "{name}_bucket{{{labels}{comma}le=\"{bound}\"}} {total}");
                }
                let labels = braced(labels);
                let seconds = histogram.micros as f64 / 1e6;
                let _ = writeln!(to, "{name}_sum{labels} {seconds}\n{name}_count{labels} {total}");
            }
        }
    }
}

fn braced(labels: &str) -> String {
    if labels.is_empty() { String::new() } else { format!("{{{labels}}}") }
}
