//! Fits the weights of `src/search/confidence.rs`: two logistic models, of whether a hit is right and of whether any
//! fits. Prints the log loss and the calibration error of the weights in the source and of fitted ones, also where a
//! set is left out of its own fit, and the fitted terms in the form of the source, each with its present weight.
//!
//! `cargo run --release --example fit_confidence [DIR]` reads the labelled queries that `benches/retrieval.py` reads. Queries of
//! one set that are asked of the catalog of another count as unanswerable. Some of them are answerable after all, and the sizes of
//! catalogs tell the sets apart: the weights in the source were fitted to the same queries in catalogs of many sizes, and stay
//! unless every set of `benches/retrieval.py` is at least as good with others.

use std::path::{Path, PathBuf};

use toolcrib::report::retrieval::LabelFile;
use toolcrib::search::{Index, IndexEntry, Term};
use toolcrib::{catalog, config};

/// Folder, file of queries, and whether its queries are asked of other catalogs too.
const SETS: [(&str, &str, bool); 6] = [
    ("metatool", "queries.jsonl", true),
    ("bfcl", "queries.jsonl", true),
    ("livemcpbench", "queries.jsonl", true),
    ("toolret-apibank", "queries.jsonl", true),
    ("metatool", "queries-multi.jsonl", false),
    ("toolret-apibank", "queries-inst.jsonl", false),
];
/// Most queries of a set, taken evenly.
const QUERIES: usize = 500;
/// Strength of the penalty on large weights, in queries: values that say the same share their weight.
const RIDGE: f64 = 1.0;
/// Newton steps; the loss changes no more after about ten.
const STEPS: usize = 15;

/// One case of a model.
struct Case {
    set: usize,
    terms: Vec<Term>,
    is_right: bool,
    /// Share of its set and answer: each counts the same, however many queries it has.
    share: f64,
}

fn main() {
    let folder = std::env::args().nth(1).map_or_else(|| "../shared/data/retrieval".into(), PathBuf::from);
    if !folder.is_dir() {
        return println!("skipped: there is no folder {}", folder.display());
    }
    let (mut hits, mut queries) = (Vec::new(), Vec::new());
    for (set, (name, _, is_main)) in SETS.into_iter().enumerate() {
        let tools = catalog::open(config::read(&folder.join(name).join("catalog.json"))).catalog;
        let entries: Vec<IndexEntry> = tools.tools.iter().map(|tool| IndexEntry::from(&**tool)).collect();
        let index = Index::new(&entries);
        for (other, (from, file, is_other_main)) in SETS.into_iter().enumerate() {
            let is_foreign = from != name && is_main && is_other_main;
            if other != set && !is_foreign {
                continue;
            }
            for (query, gold) in labelled(&folder.join(from).join(file), &tools, is_foreign) {
                let Some(seen) = index.observe(&query) else { continue };
                queries.push(Case { set, terms: seen.query, is_right: !gold.is_empty(), share: 1.0 });
                for (entry, terms) in seen.hits.into_iter().filter(|_| !gold.is_empty()) {
                    hits.push(Case { set, terms, is_right: gold.contains(&entry), share: 1.0 });
                }
            }
        }
    }
    // A hit is right or wrong as often as it is; a query is answerable as often as not.
    weigh(&mut hits, |case, other| case.set == other.set);
    weigh(&mut queries, |case, other| (case.set, case.is_right) == (other.set, other.is_right));
    report("a hit is right", &hits);
    report("any hit fits", &queries);
}

/// Queries of a file with the tools that serve them.
fn labelled(path: &Path, tools: &catalog::Catalog, is_unanswerable: bool) -> Vec<(String, Vec<usize>)> {
    let shown = path.display().to_string();
    let labels = LabelFile { path: path.into(), shown, is_unanswerable, named_at: None }.read(tools).queries;
    let step = labels.len().div_ceil(QUERIES).max(1);
    labels.into_iter().step_by(step).map(|label| (label.query, label.gold)).collect()
}

/// Gives each group of cases the same total.
fn weigh(cases: &mut [Case], is_alike: fn(&Case, &Case) -> bool) {
    let counts: Vec<usize> =
        cases.iter().map(|case| cases.iter().filter(|other| is_alike(case, other)).count()).collect();
    let mean = cases.len() as f64 / SETS.len() as f64;
    cases.iter_mut().zip(counts).for_each(|(case, count)| case.share = mean / count as f64);
}

fn report(model: &str, cases: &[Case]) {
    let terms = &cases[0].terms;
    let present: Vec<f64> = terms.iter().map(|term| f64::from(term.weight)).collect();
    let fitted = fit(cases, None);
    println!("{model}: {} cases", cases.len());
    println!("  {:<22}{:>9}{:>9}", "weights", "log loss", "ECE");
    let row = |name: &str, weights: &dyn Fn(&Case) -> f64| {
        let (loss, error) = measured(cases, weights);
        println!("  {name:<22}{loss:>9.4}{error:>9.4}");
    };
    row("of the source", &|case| likelihood(case, &present));
    row("fitted", &|case| likelihood(case, &fitted));
    let others: Vec<Vec<f64>> = (0..SETS.len()).map(|set| fit(cases, Some(set))).collect();
    row("fitted to other sets", &|case| likelihood(case, &others[case.set]));
    for (term, weight) in terms.iter().zip(fitted) {
        println!("            {} => {weight:.3}, // {:.3}", term.name, term.weight);
    }
    println!();
}

fn values(case: &Case) -> impl Iterator<Item = f64> + '_ {
    case.terms.iter().map(|term| f64::from(term.value))
}

fn likelihood(case: &Case, weights: &[f64]) -> f64 {
    let sum: f64 = values(case).zip(weights).map(|(value, weight)| value * weight).sum();
    1.0 / (1.0 + (-sum).exp())
}

/// Log loss, and the calibration error over ten equally wide bins.
fn measured(cases: &[Case], likelihood: &dyn Fn(&Case) -> f64) -> (f64, f64) {
    let (mut loss, mut all, mut bins) = (0.0, 0.0, [0.0; 10]);
    for case in cases {
        let told = likelihood(case).clamp(1e-9, 1.0 - 1e-9);
        let right = f64::from(u8::from(case.is_right));
        loss -= case.share * if case.is_right { told } else { 1.0 - told }.ln();
        bins[((told * 10.0) as usize).min(9)] += case.share * (right - told);
        all += case.share;
    }
    (loss / all, bins.iter().map(|bin: &f64| bin.abs()).sum::<f64>() / all)
}

/// The weights with the least penalised log loss, without the cases of one set (Newton's method).
fn fit(cases: &[Case], without: Option<usize>) -> Vec<f64> {
    let size = cases[0].terms.len();
    let mut weights = vec![0.0; size];
    for _ in 0..STEPS {
        // The last column is the gradient; the constant value, which is the first, has no penalty.
        let mut system = vec![vec![0.0; size + 1]; size];
        for row in 1..size {
            system[row][row] = RIDGE;
            system[row][size] = -RIDGE * weights[row];
        }
        for case in cases.iter().filter(|case| Some(case.set) != without) {
            let told = likelihood(case, &weights);
            let (slope, miss) = (told * (1.0 - told), f64::from(u8::from(case.is_right)) - told);
            let values: Vec<f64> = values(case).collect();
            for (row, value) in system.iter_mut().zip(&values) {
                let part = case.share * value;
                row.iter_mut().zip(&values).for_each(|(cell, other)| *cell += part * slope * other);
                row[size] += part * miss;
            }
        }
        solved(system).iter().zip(&mut weights).for_each(|(step, weight)| *weight += step);
    }
    weights
}

/// Solves a positive definite system by elimination; the last column is the right side.
fn solved(mut system: Vec<Vec<f64>>) -> Vec<f64> {
    let size = system.len();
    for pivot in 0..size {
        let row = system[pivot].iter().map(|cell| cell / system[pivot][pivot]).collect::<Vec<f64>>();
        for cells in &mut system {
            let factor = cells[pivot];
            cells.iter_mut().zip(&row).for_each(|(cell, part)| *cell -= factor * part);
        }
        system[pivot] = row;
    }
    system.into_iter().map(|row| row[size]).collect()
}
