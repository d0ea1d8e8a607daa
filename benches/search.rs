//! Search at 100, 1,000 and 10,000 tools, on one core, beside a bare BM25 loop over the same tools and queries in the
//! same run: building the index, its memory, and what a query takes. A query is asked three times, and the median
//! counts; of these the table has the median and the 99th percentile.
//!
//! `cargo bench -p toolcrib-benches --bench search` takes large catalogs and labelled queries of others from `../shared/data` where that is
//! there, and otherwise recombines the tools of `examples/github` and asks the queries of our examples;
//! `cargo bench -p toolcrib-benches --bench search -- FILE...` takes catalogs of your own.
//!
//! Aims at 10,000 tools: 0.15 ms at the median, 1 ms at the 99th percentile, built in a second, 60 MB.

#[path = "search/bare.rs"]
mod bare;
mod generated;

use std::fs;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use bare::Bare;
use serde_json::Value;
use toolcrib::search::{Index, IndexEntry, SearchRequest};
use toolcrib::{catalog, config};

/// Queries taken of each set, evenly.
const QUERIES: usize = 1_500;
const ROUNDS: usize = 3;
/// Indexes built to see what one takes: the first few use memory that was there before.
const INDEXES: usize = 6;

/// As in the program.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() {
    let scratch = tempfile::tempdir().expect("a temporary folder");
    let queries = queries();
    println!("{} queries, the first 10 hits of each", queries.len());
    println!(
        "{:>7}  {:>9}  {:>9}  {:>20}  {:>20}  {:>12}",
        "tools", "build ms", "index MB", "ours us median / p99", "bare us median / p99", "ours / bare"
    );
    for file in catalogs(scratch.path()) {
        measure(&file, &queries);
    }
}

fn measure(file: &Path, queries: &[String]) {
    let tools = catalog::open(config::read(file)).catalog.tools;
    let entries: Vec<IndexEntry> = tools.iter().map(|tool| IndexEntry::from(&**tool)).collect();
    let mut bare =
        Bare::new(tools.iter().map(|tool| (tool.names.written.as_str(), tool.texts.description.as_str())));
    let mut builds = Vec::new();
    let mut sizes = Vec::new();
    let mut indexes = Vec::new();
    for _ in 0..INDEXES {
        let start = Instant::now();
        indexes.push(Index::new(black_box(&entries)));
        builds.push(start.elapsed());
        sizes.push(resident());
    }
    let half = INDEXES / 2;
    let size = sizes[INDEXES - 1].saturating_sub(sizes[half - 1]) as f64 / (INDEXES - half) as f64 / 1024.0;
    let Some(index) = indexes.pop() else { return };
    drop(indexes);

    let mut ours = Vec::new();
    let mut theirs = Vec::new();
    for query in queries {
        let request = SearchRequest { query, within: None, limit: 10 };
        ours.push(median((0..ROUNDS).map(|_| timed(|| drop(black_box(index.find(black_box(request))))))));
        theirs.push(median((0..ROUNDS).map(|_| timed(|| drop(black_box(bare.find(black_box(query))))))));
    }
    let (ours, theirs) = (spread(ours), spread(theirs));
    println!(
        "{:>7}  {:>9.1}  {:>9.1}  {:>20}  {:>20}  {:>11.1}x",
        tools.len(),
        median(builds.into_iter()).as_secs_f64() * 1e3,
        size,
        format!("{:.1} / {:.1}", ours.0, ours.1),
        format!("{:.1} / {:.1}", theirs.0, theirs.1),
        ours.0 / theirs.0
    );
}

/// Large catalogs, made of tools of many servers where those are there.
fn catalogs(folder: &Path) -> Vec<PathBuf> {
    let named: Vec<PathBuf> =
        std::env::args().skip(1).filter(|argument| !argument.starts_with("--")).map(PathBuf::from).collect();
    if !named.is_empty() {
        return named;
    }
    let made = |count: usize| {
        let maker = Command::new("python3")
            .arg(shared().join("make_catalog.py"))
            .args([&count.to_string(), "7"])
            .output();
        let made = maker.ok().filter(|made| made.status.success())?;
        let file = folder.join(format!("many-{count}.json"));
        fs::write(&file, made.stdout).ok()?;
        Some(file)
    };
    let many: Option<Vec<PathBuf>> = [100, 1_000, 10_000].into_iter().map(made).collect();
    many.unwrap_or_else(|| {
        println!("no shared catalogs here; the tools of examples/github recombined");
        generated::catalogs(folder)
    })
}

/// Real queries: of the labelled sets, or of our examples where those are not there.
fn queries() -> Vec<String> {
    let sets = ["bfcl", "livemcpbench", "metatool", "toolret-apibank"];
    let mut all: Vec<String> = sets
        .iter()
        .flat_map(|set| {
            let set = read(&shared().join("retrieval").join(set).join("queries.jsonl"));
            let step = set.len().div_ceil(QUERIES).max(1);
            set.into_iter().step_by(step)
        })
        .collect();
    if all.is_empty() {
        println!("no shared queries here; those of our examples");
        let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples");
        all = ["github", "buildos"]
            .iter()
            .flat_map(|name| read(&examples.join(name).join("queries.jsonl")))
            .collect();
    }
    all
}

fn read(file: &Path) -> Vec<String> {
    let text = fs::read_to_string(file).unwrap_or_default();
    let lines = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    lines.filter_map(|line| Some(line["query"].as_str()?.to_string())).collect()
}

fn shared() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data")
}

/// Memory of the process, in kB.
fn resident() -> usize {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmRSS"));
    line.and_then(|line| line.split_whitespace().nth(1)?.parse().ok()).unwrap_or(0)
}

fn timed(work: impl FnOnce()) -> Duration {
    let start = Instant::now();
    work();
    start.elapsed()
}

fn median(times: impl Iterator<Item = Duration>) -> Duration {
    let mut times: Vec<Duration> = times.collect();
    times.sort_unstable();
    times[times.len() / 2]
}

/// The median and the 99th percentile, in microseconds.
fn spread(mut times: Vec<Duration>) -> (f64, f64) {
    times.sort_unstable();
    let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize].as_secs_f64() * 1e6;
    (at(0.5), at(0.99))
}
