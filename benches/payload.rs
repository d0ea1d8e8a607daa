//! Payloads at 100, 1,000 and 10,000 tools, full and hybrid, once the catalog is loaded: each beside cloning and writing
//! the same schemas as they are, which is the least that any payload costs. Medians of several rounds, one thread.
//!
//! `cargo bench -p toolcrib-benches --bench payload`

mod generated;

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use toolcrib::config::Mode;
use toolcrib::providers::{PayloadRequest, Provider, payload};
use toolcrib::{catalog, config};

const ROUNDS: usize = 9;

/// As in the program.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() {
    let scratch = tempfile::tempdir().expect("a temporary folder");
    println!(
        "{:>7}  {:>20}  {:>12}  {:>12}  {:>12}  {:>6}",
        "tools", "provider", "full ms", "hybrid ms", "bare ms", "ratio"
    );
    for file in generated::catalogs(scratch.path()) {
        let checked = catalog::open(config::read(&file));
        let catalog = &checked.catalog;
        let profile = catalog.profile(None).expect("the whole catalog");
        let bare = median(|| {
            let tools = catalog.tools.iter().map(|tool| {
                json!({"name": tool.names.safe, "description": tool.texts.description, "input_schema": tool.input.parameters.schema()})
            });
            drop(Value::Array(tools.collect()).to_string());
        });
        for &provider in Provider::ALL {
            let of = |mode| {
                let options = catalog.config.payload;
                let request = PayloadRequest { catalog, profile: &profile, provider, mode, options };
                // Over the provider's limit the work is done all the same.
                median(|| drop(payload(request).map(|payload| payload.body.to_string())))
            };
            let (full, hybrid) = (of(Mode::Full), of(Mode::Hybrid));
            println!(
                "{:>7}  {:>20}  {:>12.2}  {:>12.2}  {:>12.2}  {:>5.1}x",
                catalog.tools.len(),
                provider.as_str(),
                ms(full),
                ms(hybrid),
                ms(bare),
                ms(full) / ms(bare)
            );
        }
    }
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

fn median(mut work: impl FnMut()) -> Duration {
    let mut times: Vec<Duration> = (0..ROUNDS)
        .map(|_| {
            let start = Instant::now();
            work();
            start.elapsed()
        })
        .collect();
    times.sort_unstable();
    times[ROUNDS / 2]
}
