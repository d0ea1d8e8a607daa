//! Measures search on labelled sets: those of other authors, and everyday requests. `lab/search/sets.toml` says what each set is
//! for.
//!
//! `cargo run --release -p toolcrib-lab --bin measure -- RETRIEVAL CATALOGS [hits|features]`
//!
//! `hits` also prints the first hits of each query, and `features` the values that `lab/search/fit.py` fits weights to.

mod judge;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Instant;

use serde_json::Value;
use toolcrib::catalog::{Tool, open};
use toolcrib::config;
use toolcrib::search::{Index, IndexEntry, SearchRequest, Verdict};

/// Most queries of a set, taken evenly.
const QUERIES: usize = 2_500;

/// What a request says to name a product.
const PRODUCTS: [(&str, &str); 4] =
    [("github", " on GitHub"), ("notion", " in Notion"), ("box", " in Box"), ("discord", " on Discord")];

/// The server of a catalog file.
fn server(file: &str) -> &str {
    file.split(['-', '.']).next().unwrap_or(file)
}

/// Requests that no everyday catalog serves.
const FAR: &str = include_str!("far.txt");

/// Requests in other languages: language, server, expected tools, query.
const LANGUAGES: &str = include_str!("languages.tsv");

/// Requests over catalogs with everyday requests, and over others: catalog, expected tools, query.
const LISTS: [(&str, &str); 3] = [
    ("plain", include_str!("plain.tsv")),
    ("sixty", include_str!("sixty.tsv")),
    ("spoken", include_str!("spoken.tsv")),
];

const SETS: [(&str, &str); 6] = [
    ("metatool", "queries.jsonl"),
    ("bfcl", "queries.jsonl"),
    ("livemcpbench", "queries.jsonl"),
    ("toolret-apibank", "queries.jsonl"),
    ("metatool", "queries-multi.jsonl"),
    ("toolret-apibank", "queries-inst.jsonl"),
];

#[derive(Default)]
struct Sums {
    answerable: f64,
    first: f64,
    five: f64,
    recall_first: f64,
    recall_five: f64,
    ndcg: f64,
    no_match: f64,
    unsure: f64,
    unanswerable: f64,
    refused: f64,
    doubted: f64,
    wrong: f64,
    wrong_confidence: f64,
    destructive: f64,
    micros: Vec<u128>,
    firsts: Vec<(f32, bool)>,
}

struct Catalog {
    names: Vec<String>,
    destructive: Vec<bool>,
    index: Index,
}

fn catalog(tools: &[&Tool]) -> Catalog {
    let entries: Vec<IndexEntry> = tools.iter().map(|tool| IndexEntry::from(*tool)).collect();
    Catalog {
        names: tools.iter().map(|tool| tool.names.written.clone()).collect(),
        destructive: tools.iter().map(|tool| tool.rules.effect.as_str() == "destructive").collect(),
        index: Index::new(&entries),
    }
}

fn lines(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn gold(row: &Value) -> Vec<&str> {
    row["gold"].as_array().unwrap().iter().filter_map(Value::as_str).collect()
}

fn ask(catalog: &Catalog, query: &str, gold: &[usize], sums: &mut Sums, set: Option<&str>) {
    let start = Instant::now();
    let found = catalog.index.find(SearchRequest { query, within: None, limit: 10 });
    sums.micros.push(start.elapsed().as_micros());
    let is_right = |place: usize| found.hits.get(place).is_some_and(|hit| gold.contains(&hit.entry));
    let rights = |most: usize| (0..most).filter(|&place| is_right(place)).count() as f64;
    let refused = found.verdict == Verdict::NoMatch;
    let unsure = format!("{:?}", found.verdict) == "Unsure";
    if gold.is_empty() {
        sums.unanswerable += 1.0;
        sums.refused += f64::from(u8::from(refused));
        sums.doubted += f64::from(u8::from(refused || unsure));
    } else {
        sums.answerable += 1.0;
        sums.first += f64::from(u8::from(is_right(0)));
        sums.five += rights(5).min(1.0);
        sums.recall_first += rights(1) / gold.len() as f64;
        sums.recall_five += rights(5) / gold.len() as f64;
        let gain = |place: usize| 1.0 / (place as f64 + 2.0).log2();
        let best: f64 = (0..gold.len().min(10)).map(gain).sum();
        sums.ndcg += (0..10).filter(|&place| is_right(place)).map(gain).sum::<f64>() / best;
        sums.no_match += f64::from(u8::from(refused));
        sums.unsure += f64::from(u8::from(unsure));
    }
    if let Some(first) = found.hits.first() {
        sums.firsts.push((first.confidence, is_right(0)));
        if !is_right(0) && !refused {
            sums.wrong += 1.0;
            sums.wrong_confidence += f64::from(first.confidence);
            sums.destructive += f64::from(u8::from(catalog.destructive[first.entry]));
        }
    }
    let mode = std::env::args().nth(3).unwrap_or_default();
    if let Some(set) = set.filter(|set| {
        mode == "features" && !set.starts_with("everyday merged") && !set.starts_with("everyday language")
    }) && let Some(seen) = catalog.index.observe(query)
    {
        let terms =
            |terms: &[toolcrib::search::Term]| terms.iter().map(|term| term.value).collect::<Vec<f32>>();
        println!(
            "{}",
            serde_json::json!({"features": {
                "set": set, "query": query, "gold": gold.len(),
                "names": seen.query.iter().map(|term| term.name).collect::<Vec<_>>(),
                "fits": terms(&seen.query),
                "hit_names": seen.hits.first().map(|hit| hit.1.iter().map(|term| term.name).collect::<Vec<_>>()),
                "hits": seen.hits.iter().map(|(entry, all)| (gold.contains(entry), terms(all))).collect::<Vec<_>>(),
                "order": seen.order.iter().take(60).map(|(entry, all)| (gold.contains(entry), all)).collect::<Vec<_>>(),
            }})
        );
    }
    if let Some(set) = set.filter(|set| mode == "hits" && set.starts_with("everyday")) {
        let hits: Vec<String> = found
            .hits
            .iter()
            .take(5)
            .map(|hit| {
                format!(
                    "{}{} {:.2} [{}]",
                    if gold.contains(&hit.entry) { "*" } else { "" },
                    catalog.names[hit.entry],
                    hit.confidence,
                    hit.reason
                )
            })
            .collect();
        let rank = found.hits.iter().position(|hit| gold.contains(&hit.entry));
        let names: Vec<&str> = gold.iter().map(|&gold| catalog.names[gold].as_str()).collect();
        println!(
            "@ {set} | {query} | {:?} rank {rank:?} | gold {} | {}",
            found.verdict,
            names.join(","),
            hits.join("; ")
        );
    }
}

/// Asks the requests of [`LISTS`].
fn ask_lists(folders: &[PathBuf]) {
    let same = |name: &str| name.chars().filter(|c| c.is_alphanumeric()).collect::<String>().to_lowercase();
    let mut known: BTreeMap<&str, (Vec<String>, Catalog)> = BTreeMap::new();
    for (list, text) in LISTS {
        let mut sums = Sums::default();
        for line in text.lines() {
            let [file, wanted, query] = line.split('\t').collect::<Vec<_>>()[..] else { panic!("{line}") };
            let (names, catalog) = known.entry(file).or_insert_with(|| {
                let (file, server) = file.split_once('/').unwrap_or((file, ""));
                let path = folders.iter().map(|folder| folder.join(file)).find(|path| path.exists()).unwrap();
                let checked = open(config::read(&path)).catalog;
                let is_own =
                    |tool: &&Tool| server.is_empty() || tool.origin.server.as_deref() == Some(server);
                let tools: Vec<&Tool> = checked.tools.iter().map(|tool| &**tool).filter(is_own).collect();
                (tools.iter().map(|tool| same(&tool.names.written)).collect(), catalog(&tools))
            });
            let is_gold = |tool: &usize| wanted.split(',').any(|gold| same(gold) == names[*tool]);
            let gold: Vec<usize> = (0..names.len()).filter(is_gold).collect();
            assert_eq!(gold.is_empty(), wanted.is_empty(), "{line}: {names:?}");
            ask(catalog, query, &gold, &mut sums, Some(&format!("everyday {list} {file}")));
        }
        report(list, &mut sums);
    }
}

fn report(name: &str, sums: &mut Sums) {
    let of = |part: f64, whole: f64| 100.0 * part / whole.max(1.0);
    let all = sums.answerable;
    sums.micros.sort_unstable();
    let middle = sums.micros.get(sums.micros.len() / 2).copied().unwrap_or_default();
    let mut bins = [(0.0_f64, 0.0_f64); 10];
    for (confidence, right) in &sums.firsts {
        let bin = &mut bins[((confidence * 10.0) as usize).min(9)];
        bin.0 += f64::from(u8::from(*right)) - f64::from(*confidence);
        bin.1 += 1.0;
    }
    let error = bins.iter().map(|bin| bin.0.abs()).sum::<f64>() / sums.firsts.len().max(1) as f64;
    println!(
        "{name:34} n {:5} R1 {:5.1} R5 {:5.1} r1 {:5.1} r5 {:5.1} NDCG {:5.1} | no {:5.1} unsure {:5.1} | un {:5} no {:5.1} no+unsure {:5.1} | wrong conf {:.2} ECE {:4.1} destr {:3} | {middle} us",
        all,
        of(sums.first, all),
        of(sums.five, all),
        of(sums.recall_first, all),
        of(sums.recall_five, all),
        of(sums.ndcg, all),
        of(sums.no_match, all),
        of(sums.unsure, all),
        sums.unanswerable,
        of(sums.refused, sums.unanswerable),
        of(sums.doubted, sums.unanswerable),
        sums.wrong_confidence / sums.wrong.max(1.0),
        100.0 * error,
        sums.destructive,
    );
}

/// Time of the processor that this thread took, on Linux.
fn processor_micros() -> u128 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    text.split(' ').next().and_then(|nanos| nanos.parse::<u128>().ok()).unwrap_or_default() / 1000
}

/// Time of the processor to build an index of many tools, made of those of a set under other names, and time to search it.
fn scale(tools: &[IndexEntry], rows: &[Value]) {
    for size in [1_000, 10_000] {
        let mut entries: Vec<IndexEntry> = tools.iter().cycle().take(size).cloned().collect();
        for (place, entry) in entries.iter_mut().enumerate() {
            entry
                .texts
                .push((toolcrib::search::Field::Long, format!("variant {} {}", place / 7, place * 31)));
        }
        let start = processor_micros();
        let index = Index::new(&entries);
        let built = (processor_micros() - start) / 1000;
        let mut micros: Vec<u128> = Vec::new();
        for row in rows {
            let query = row["query"].as_str().unwrap();
            // The least of five times: other programs take part of the rest.
            let time = |_| {
                let start = Instant::now();
                index.find(SearchRequest { query, within: None, limit: 5 });
                start.elapsed().as_micros()
            };
            micros.extend((0..5).map(time).min());
        }
        micros.sort_unstable();
        println!(
            "{size} tools: index {built} ms, search p50 {} us, p99 {} us",
            micros[micros.len() / 2],
            micros[micros.len() * 99 / 100]
        );
    }
}

fn main() {
    let folders: Vec<PathBuf> = std::env::args().skip(1).take(2).map(PathBuf::from).collect();
    let [data, catalogs] = &folders[..] else { return println!("two folders are needed") };
    let (mut mean, mut far) = (0.0, Sums::default());
    let mode = std::env::args().nth(3).unwrap_or_default();
    for (number, (set, file)) in SETS.iter().enumerate().filter(|_| mode != "scale") {
        let checked = open(config::read(&data.join(set).join("catalog.json"))).catalog;
        let tools: Vec<&Tool> = checked.tools.iter().map(|tool| &**tool).collect();
        let start = Instant::now();
        let catalog = catalog(&tools);
        let built = start.elapsed().as_millis();
        let place = |name: &str| catalog.names.iter().position(|known| known == name);
        let rows = lines(&data.join(set).join(file));
        let step = rows.len().div_ceil(QUERIES).max(1);
        let mut sums = Sums::default();
        for row in rows.iter().step_by(step) {
            let gold: Vec<usize> = gold(row).into_iter().filter_map(place).collect();
            ask(&catalog, row["query"].as_str().unwrap(), &gold, &mut sums, Some(&format!("{set} {file}")));
        }
        mean += if number < 4 { sums.ndcg / sums.answerable / 4.0 * 100.0 } else { 0.0 };
        report(&format!("{set} {file} ({built} ms)"), &mut sums);
        for (other, from) in
            [("bfcl", "metatool"), ("metatool", "toolret-apibank"), ("toolret-apibank", "bfcl")]
        {
            if other == *set && number < 4 {
                let rows = lines(&data.join(from).join("queries.jsonl"));
                let step = rows.len().div_ceil(150).max(1);
                for row in rows.iter().step_by(step) {
                    let set = format!("far {from}");
                    ask(&catalog, row["query"].as_str().unwrap(), &[], &mut far, Some(&set));
                }
            }
        }
    }
    println!("mean NDCG@10 of the first four: {mean:.2}");
    let rows = lines(&data.join("everyday/queries.jsonl"));
    let mut groups: BTreeMap<&str, Vec<&Value>> = BTreeMap::new();
    for row in &rows {
        groups.entry(row["catalog"].as_str().unwrap()).or_default().push(row);
    }
    let (mut entries, mut all_tools): (Vec<IndexEntry>, Vec<[String; 3]>) = (Vec::new(), Vec::new());
    let mut destructive = Vec::new();
    let mut languages: BTreeMap<&str, Sums> = BTreeMap::new();
    let mut apart = Sums::default();
    let mut all = Sums::default();
    for (file, rows) in &groups {
        let near = [catalogs.join(file), data.join("everyday").join(file)];
        let path = near.iter().find(|path| path.exists()).unwrap();
        let checked = open(config::read(path)).catalog;
        let tools: Vec<&Tool> = checked.tools.iter().map(|tool| &**tool).collect();
        let catalog = catalog(&tools);
        for tool in &tools {
            let mut entry = IndexEntry::from(*tool);
            entry.texts.push((toolcrib::search::Field::Label, server(file).into()));
            entry.server = Some(server(file).into());
            entries.push(entry);
            all_tools.push([tool.names.canonical.clone(), tool.names.written.clone(), server(file).into()]);
            destructive.push(tool.rules.effect.as_str() == "destructive");
        }
        let mut sums = Sums::default();
        for row in rows {
            let query = row["query"].as_str().unwrap();
            let wanted = gold(row);
            let gold: Vec<usize> = (0..tools.len())
                .filter(|&tool| {
                    wanted.contains(&tools[tool].names.written.as_str())
                        || wanted.contains(&tools[tool].names.canonical.as_str())
                })
                .collect();
            assert_eq!(gold.is_empty(), wanted.is_empty(), "{query} {wanted:?}");
            let name = format!("everyday {file}");
            ask(&catalog, query, &gold, &mut sums, Some(&name));
            ask(&catalog, query, &gold, &mut all, None);
        }
        report(file, &mut sums);
        let own = LANGUAGES
            .lines()
            .map(|line| line.split('\t').collect::<Vec<_>>())
            .filter(|row| row[1] == server(file));
        for row in own {
            let is_gold = |name: &String| row[2].split(',').any(|gold| gold == name);
            let gold: Vec<usize> = (0..tools.len()).filter(|&tool| is_gold(&catalog.names[tool])).collect();
            ask(
                &catalog,
                row[3],
                &gold,
                languages.entry(row[0]).or_default(),
                Some(&format!("everyday language {}", row[0])),
            );
        }
        for row in lines(&data.join("metatool/queries.jsonl")).iter().step_by(140) {
            ask(&catalog, row["query"].as_str().unwrap(), &[], &mut far, Some("far metatool"));
        }
        for query in FAR.lines() {
            ask(&catalog, query, &[], &mut apart, Some("apart"));
        }
    }
    let names = all_tools.iter().map(|[name, ..]| name.clone()).collect();
    let merged = Catalog { names, destructive, index: Index::new(&entries) };
    let (mut plain, mut named) = (Sums::default(), Sums::default());
    for row in &rows {
        let (query, wanted) = (row["query"].as_str().unwrap(), gold(row));
        let own = server(row["catalog"].as_str().unwrap());
        let is_gold = |[name, defined, server]: &[String; 3]| {
            server == own && (wanted.contains(&name.as_str()) || wanted.contains(&defined.as_str()))
        };
        let gold: Vec<usize> = (0..entries.len()).filter(|&tool| is_gold(&all_tools[tool])).collect();
        ask(&merged, query, &gold, &mut plain, None);
        let product = PRODUCTS.iter().find(|(product, _)| *product == own).map_or("", |(_, words)| words);
        ask(&merged, &format!("{query}{product}"), &gold, &mut named, Some("everyday merged"));
    }
    report(&format!("{} tools merged", entries.len()), &mut plain);
    report("merged, product named", &mut named);
    ask_lists(&[catalogs.clone(), data.join("everyday")]);
    judge::judge(data, catalogs);
    scale(&entries, &rows);
    languages.iter_mut().for_each(|(language, sums)| report(language, sums));
    report("everyday", &mut all);
    report("far requests (other sets)", &mut far);
    report("far requests of everyday", &mut apart);
}
