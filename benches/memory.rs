//! Memory of a catalog, step by step: `cargo bench -p toolcrib-benches --bench memory -- CATALOG`.
use std::sync::Arc;
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;
fn rss(what: &str) {
    std::thread::sleep(std::time::Duration::from_millis(300));
    let s = std::fs::read_to_string("/proc/self/status").unwrap();
    let g = |k: &str| {
        s.lines()
            .find(|l| l.starts_with(k))
            .unwrap()
            .split_whitespace()
            .nth(1)
            .unwrap()
            .parse::<usize>()
            .unwrap()
            / 1024
    };
    eprintln!("{what}: rss {} MB, peak {} MB", g("VmRSS"), g("VmHWM"));
}
fn main() {
    let path = std::env::args().nth(1).unwrap();
    rss("start");
    let t = std::time::Instant::now();
    let checked = toolcrib::catalog::open(toolcrib::config::read(path.as_ref()));
    eprintln!("open {:?}", t.elapsed());
    rss("open");
    let toolcrib::catalog::Checked { catalog, findings, documents, .. } = checked;
    eprintln!("findings {}", findings.len());
    drop(documents);
    rss("without documents");
    drop(findings);
    rss("without findings");
    let templates = Arc::new(toolcrib::render::Templates::from(toolcrib::BUILT_IN));
    let t = std::time::Instant::now();
    let view = toolcrib::functions::CatalogView::new(&catalog, None, None, templates).unwrap();
    eprintln!("view {:?}", t.elapsed());
    drop(catalog);
    rss("catalog view");
    let t = std::time::Instant::now();
    let f = toolcrib::functions::Function::named("read_tool_doc").unwrap();
    let _ = f;
    let _ = view.resolve("nothing_like_this");
    eprintln!("nearest {:?}", t.elapsed());
    let t = std::time::Instant::now();
    for i in 0..view.catalog().tools.len() {
        view.page(i).unwrap().as_ref().unwrap();
    }
    eprintln!("all docs {:?}", t.elapsed());
    rss("all docs");
    let n = view.catalog().tools.iter().filter(|t| t.input.parameters.validator().is_some()).count();
    eprintln!("{n} validators");
    rss("all validators");
}
