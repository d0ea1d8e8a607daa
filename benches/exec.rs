//! A call of a tool through `tool_exec`, all that we do about it and nothing that a backend does: its content stands in the
//! catalog. Beside it, in the same run, what no caller could do without: the arguments validated and the content cloned.
//! Once with the trace in memory, once in a file of SQLite. Figures are medians of several rounds.

#[path = "generated/mod.rs"]
mod generated;

use std::hint::black_box;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::runtime::Runtime;
use toolcrib::catalog::Tool;
use toolcrib::functions::{CatalogView, Function, FunctionContext, Services};
use toolcrib::render::Templates;
use toolcrib::state::StateStore;
use toolcrib::{catalog, config};

const ROUNDS: usize = 15;
const CALLS: usize = 2_000;

/// As in the program.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() {
    let folder = tempfile::tempdir().expect("a folder");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    println!("{:<34}  {:>9}  {:>9}  {:>7}", "calls", "ours µs", "floor µs", "ratio");
    for file in generated::catalogs(folder.path()) {
        let name = file.file_stem().and_then(|name| name.to_str()).unwrap_or_default().to_string();
        let at = folder.path().join(&name);
        let overlay =
            "[[overlay]]\nmatch = [\"*\"]\nbackend = { type = \"static\", content = { id = \"task_1\" } }\n";
        let text =
            format!("[exec]\nallow = \"destructive\"\n[[source]]\npath = \"../{name}.json\"\n{overlay}");
        std::fs::create_dir_all(&at).expect("a folder");
        std::fs::write(at.join("toolcrib.toml"), text).expect("a file");
        for (what, state) in [
            ("trace in memory", StateStore::in_memory()),
            ("trace in a file", StateStore::open(&folder.path().join(format!("{name}.db"))).expect("a file")),
        ] {
            measure(&runtime, &at, what, state);
        }
    }
}

fn measure(runtime: &Runtime, at: &Path, what: &str, state: StateStore) {
    let checked = catalog::open(config::read(at));
    let templates = Arc::new(Templates::from(toolcrib::BUILT_IN));
    let view = CatalogView::new(&checked.catalog, None, None, templates).expect("a catalog view");
    let services = Services { state: Arc::new(state), ..Services::default() };
    let context = FunctionContext { services: Arc::new(services), ..FunctionContext::of(Arc::new(view)) };
    let tools: Vec<Arc<Tool>> = context
        .view
        .catalog()
        .tools
        .iter()
        .filter(|tool| tool.input.call.is_some())
        .take(100)
        .cloned()
        .collect();
    let inputs: Vec<Value> =
        tools.iter().map(|tool| json!({"op": tool.names.op, "args": tool.input.call})).collect();
    let arguments: Vec<Value> = tools.iter().map(|tool| json!(tool.input.call)).collect();
    let content = json!({"id": "task_1"});
    let exec = Function::named("tool_exec").expect("the function");
    let mut rounds = Vec::new();
    for _ in 0..ROUNDS {
        let ours = timed(|index| {
            let answer = runtime.block_on(exec.call(&context, inputs[index % inputs.len()].clone()));
            assert!(black_box(answer).is_ok());
        });
        runtime.block_on(context.services.state.flush()).expect("written");
        let floor = timed(|index| {
            let place = index % arguments.len();
            let given = arguments[place].clone();
            assert!(tools[place].input.parameters.accepts(black_box(&given)));
            black_box(content.clone());
        });
        rounds.push((ours, floor));
    }
    let ours = median(rounds.iter().map(|round| round.0));
    let floor = median(rounds.iter().map(|round| round.1));
    let micros = |time: Duration| time.as_secs_f64() * 1e6 / CALLS as f64;
    let count = checked.catalog.tools.len();
    let what = format!("{count} tools, {what}");
    let ratio = ours.as_secs_f64() / floor.as_secs_f64();
    println!("{what:<34}  {:>9.2}  {:>9.2}  {ratio:>7.1}", micros(ours), micros(floor));
}

fn timed(mut work: impl FnMut(usize)) -> Duration {
    let start = Instant::now();
    (0..CALLS).for_each(&mut work);
    start.elapsed()
}

fn median(times: impl Iterator<Item = Duration>) -> Duration {
    let mut times: Vec<Duration> = times.collect();
    times.sort();
    times[times.len() / 2]
}
