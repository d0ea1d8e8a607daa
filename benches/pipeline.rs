//! Load, render and render again, at 100, 1,000 and 10,000 tools, each beside a bare loop over the same bytes in the
//! same run: what parsing alone, writing alone and walking alone cost. Figures are medians of several rounds.
//!
//! `cargo bench -p toolcrib-benches --bench pipeline` recombines the tools of `examples/github`; `cargo bench -p toolcrib-benches --bench pipeline -- FILE...`
//! takes catalogs of your own.

mod generated;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::Value;
use toolcrib::{catalog, config, render};
use walkdir::WalkDir;

const ROUNDS: usize = 5;

/// As in the program.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() {
    let scratch = tempfile::tempdir().expect("a temporary folder");
    let named: Vec<PathBuf> =
        std::env::args().skip(1).filter(|arg| !arg.starts_with("--")).map(PathBuf::from).collect();
    let catalogs = if named.is_empty() { generated::catalogs(scratch.path()) } else { named };
    println!(
        "{:>7}  {:>22}  {:>28}  {:>28}  {:>8}",
        "tools", "load / bare parse", "render / bare write", "again / bare walk", "peak MB"
    );
    for file in catalogs {
        measure(&file, scratch.path());
    }
}

fn measure(file: &Path, scratch: &Path) {
    let load = median(|| drop(catalog::open(config::read(file))));
    let text = fs::read_to_string(file).expect("the catalog");
    let parse = median(|| drop(serde_json::from_str::<Value>(&text)));

    let checked = catalog::open(config::read(file));
    let templates = render::Templates::from(toolcrib::BUILT_IN);
    let profile = || checked.catalog.profile(None).expect("the whole catalog");
    let docs = render::Docs::new(&checked.catalog, profile(), &templates);
    // Each round has folders of its own: a file system that has just deleted ten thousand files is slow to make new ones.
    let folder = |what: &str, round: usize| scratch.join(format!("{what}-{}-{round}", docs.tools().len()));
    let fresh = median_of(|round| drop(docs.write(&folder("docs", round), &|_| {}).expect("a folder")));
    let out = folder("docs", 0);
    let contents: Vec<(PathBuf, Vec<u8>)> =
        files(&out).map(|path| (path.clone(), fs::read(&path).expect("a doc"))).collect();
    let again = median(|| drop(docs.write(&out, &|_| {}).expect("a folder")));
    let walk = median(|| {
        let size: u64 = files(&out).map(|path| fs::metadata(path).map_or(0, |data| data.len())).sum();
        assert!(size > 0);
    });

    let below = |path: &Path| path.strip_prefix(&out).expect("below out").to_path_buf();
    let copies: Vec<(PathBuf, &[u8])> =
        contents.iter().map(|(path, bytes)| (below(path), bytes.as_slice())).collect();
    let folders: std::collections::BTreeSet<&Path> =
        copies.iter().filter_map(|(path, _)| path.parent()).collect();
    let write = median_of(|round| {
        let bare = folder("bare", round);
        folders.iter().for_each(|folder| fs::create_dir_all(bare.join(folder)).expect("a folder"));
        copies.iter().for_each(|(path, bytes)| fs::write(bare.join(path), bytes).expect("a file"));
    });
    println!(
        "{:>7}  {}  {}  {}  {:>8}",
        checked.catalog.tools.len(),
        ratio(load, parse),
        ratio(fresh, write),
        ratio(again, walk),
        peak_megabytes()
    );
}

fn ratio(ours: Duration, bare: Duration) -> String {
    let ms = |time: Duration| time.as_secs_f64() * 1000.0;
    format!("{:>7.1} / {:>6.1} ms {:>4.1}x", ms(ours), ms(bare), ms(ours) / ms(bare))
}

fn median(mut work: impl FnMut()) -> Duration {
    median_of(|_| work())
}

fn median_of(mut work: impl FnMut(usize)) -> Duration {
    let mut times: Vec<Duration> = (0..ROUNDS)
        .map(|round| {
            let start = Instant::now();
            work(round);
            start.elapsed()
        })
        .collect();
    times.sort_unstable();
    times[ROUNDS / 2]
}

fn files(folder: &Path) -> impl Iterator<Item = PathBuf> {
    let walk = WalkDir::new(folder).into_iter().filter_map(Result::ok);
    walk.filter(|entry| entry.file_type().is_file()).map(walkdir::DirEntry::into_path)
}

/// The most memory the process has held, as Linux tells it; 0 elsewhere.
fn peak_megabytes() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|rest| rest.trim().trim_end_matches(" kB").parse::<u64>().ok()).unwrap_or(0) / 1024
}
