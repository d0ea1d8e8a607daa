//! Search by meaning, against a real server that speaks `/v1/embeddings` with vectors that can be foreseen.

mod failures;
mod transports;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use toolcrib::functions::{CatalogView, FunctionContext, SearchOutcome, SemanticSearch, Services};
use toolcrib::model::{EmbeddingModel, EmbeddingsApi};
use toolcrib::render::Templates;
use toolcrib::search::Verdict;
use toolcrib::search::semantic::{Options, Semantic, SemanticStatus};

use crate::fixture;

pub const KEY: &str = "sk-s3cret-0123456789";

pub const TOOLS: &str = r#"[
  {"name": "refund_payment", "aliases": ["chargeback"], "description": "Refund a customer.", "effect": "write", "parameters": {"type": "object", "properties": {"umbrella": {"type": "string"}}}},
  {"name": "get_forecast", "description": "Forecast for a city.", "effect": "read", "parameters": {"type": "object", "properties": {}}},
  {"name": "create_branch", "description": "Branch a repository.", "effect": "write", "parameters": {"type": "object", "properties": {}}}
]"#;

/// The server's next behaviour.
#[derive(Clone)]
pub enum Mode {
    Good,
    /// Nothing, for so long.
    Slow(Duration),
    /// A status, a header line and a body.
    Answers(u16, String, String),
    /// Good vectors, changed.
    Changed(fn(&mut Value)),
    /// An answer without end.
    Endless,
    /// No more than so many texts at once.
    AtMost(usize),
}

/// A server of vectors.
pub struct Vectors {
    pub url: String,
    mode: Arc<Mutex<Mode>>,
    asked: Arc<Mutex<Vec<String>>>,
    heads: Arc<Mutex<String>>,
}

impl Vectors {
    pub fn serve() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (mode, asked, heads) = (Arc::new(Mutex::new(Mode::Good)), Arc::default(), Arc::default());
        let server = Self { url, mode, asked, heads };
        let (mode, asked, heads) = (server.mode.clone(), server.asked.clone(), server.heads.clone());
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (mode, asked, heads) = (mode.lock().unwrap().clone(), asked.clone(), heads.clone());
                std::thread::spawn(move || answer(stream.unwrap(), &mode, &asked, &heads));
            }
        });
        server
    }

    pub fn set(&self, mode: Mode) {
        *self.mode.lock().unwrap() = mode;
    }

    /// The texts that it was asked for since the last time, without those that are about no tool.
    pub fn asked(&self) -> Vec<String> {
        let mut asked = std::mem::take(&mut *self.asked.lock().unwrap());
        asked.retain(|text| text.contains(':') || text.split(' ').count() < 4);
        asked
    }

    /// The heads of all requests.
    pub fn heads(&self) -> String {
        self.heads.lock().unwrap().clone()
    }
}

fn answer(mut stream: TcpStream, mode: &Mode, asked: &Mutex<Vec<String>>, heads: &Mutex<String>) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") && reader.read_line(&mut head).unwrap_or(0) > 0 {}
    let length =
        head.lines().find_map(|line| line.to_lowercase().strip_prefix("content-length: ")?.parse().ok());
    let mut body = vec![0; length.unwrap_or(0)];
    if reader.read_exact(&mut body).is_err() {
        return;
    }
    heads.lock().unwrap().push_str(&head);
    let body: Value = serde_json::from_slice(&body).unwrap();
    assert_eq!(body["model"], "small");
    let texts: Vec<String> = serde_json::from_value(body["input"].clone()).unwrap();
    asked.lock().unwrap().extend(texts.iter().cloned());
    // In any order, as servers may.
    let entry = |(index, text): (usize, &String)| json!({"index": index, "embedding": vector(text)});
    let mut good = json!({"data": texts.iter().enumerate().map(entry).rev().collect::<Vec<_>>()});
    let answer = match mode {
        Mode::Good => http(200, "", &good.to_string()),
        Mode::AtMost(most) if texts.len() <= *most => http(200, "", &good.to_string()),
        Mode::AtMost(_) => http(413, "", "{\"error\": \"batch too large\"}"),
        Mode::Slow(time) => {
            std::thread::sleep(*time);
            http(200, "", &good.to_string())
        }
        Mode::Answers(status, header, body) => http(*status, header, body),
        Mode::Changed(change) => {
            change(&mut good);
            http(200, "", &good.to_string())
        }
        Mode::Endless => {
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n");
            while stream.write_all(&[b' '; 65536]).is_ok() {}
            return;
        }
    };
    let _ = stream.write_all(answer.as_bytes());
}

fn http(status: u16, header: &str, body: &str) -> String {
    let length = body.len();
    format!("HTTP/1.1 {status} X\r\ncontent-length: {length}\r\nconnection: close\r\n{header}\r\n{body}")
}

/// Three meanings, and a direction of its own for each other word.
fn vector(text: &str) -> Vec<f32> {
    let mut vector = vec![0.0; 64];
    for word in text.to_lowercase().split(|c: char| !c.is_alphanumeric()) {
        match word {
            "" | "a" | "for" | "the" => {}
            "refund" | "payment" | "customer" | "vrombelix" => vector[0] += 2.0,
            "forecast" | "umbrella" | "quaxolotl" => vector[1] += 2.0,
            "branch" | "repository" | "plimthorg" => vector[2] += 2.0,
            other => vector[3 + other.bytes().map(usize::from).sum::<usize>() % 61] += 1.0,
        }
    }
    vector
}

pub fn view(tools: &str) -> Arc<CatalogView> {
    let checked = fixture::open_text("tools.json", tools);
    Arc::new(
        CatalogView::new(&checked.catalog, None, None, Arc::new(Templates::from(toolcrib::BUILT_IN)))
            .unwrap(),
    )
}

pub fn model(url: &str) -> Arc<dyn EmbeddingModel> {
    Arc::new(EmbeddingsApi::new(url, "small", Some(KEY.into())).unwrap())
}

/// Services that wait for the vectors of tools, as a command does.
pub fn services(url: &str, cache: Option<&Path>) -> Arc<Services> {
    let patience = Duration::from_secs(20);
    let options = Options { max_wait: patience, cache: cache.map(Path::to_path_buf), ..Options::default() };
    Arc::new(Services {
        semantic: SemanticSearch::On(Arc::new(Semantic::start(model(url), options))),
        llm: None,
        ..Services::default()
    })
}

pub fn search(view: &Arc<CatalogView>, services: &Arc<Services>, query: &str) -> SearchOutcome {
    let context = FunctionContext { services: Arc::clone(services), ..FunctionContext::of(Arc::clone(view)) };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(context.search(&[query], None, 5))
}

/// The names that were found, and whether anything fits.
pub fn found(view: &CatalogView, searched: &SearchOutcome) -> (Verdict, Vec<String>) {
    let found = &searched.found[0];
    let name = |hit: &toolcrib::search::Hit| view.catalog().tools[hit.entry].names.canonical.clone();
    (found.verdict, found.hits.iter().map(name).collect())
}

#[test]
fn what_words_do_not_say_is_found_by_meaning() {
    let server = Vectors::serve();
    let view = view(TOOLS);
    let services = services(&server.url, None);
    let off = search(&view, &Arc::default(), "quaxolotl coming?");
    assert_eq!((off.semantic.clone(), found(&view, &off)), (SemanticStatus::Off, (Verdict::NoMatch, vec![])));
    let on = search(&view, &services, "quaxolotl coming?");
    assert_eq!(on.semantic, SemanticStatus::On);
    assert_eq!(found(&view, &on), (Verdict::Match, vec!["get_forecast".into()]));
    let hit = &on.found[0].hits[0];
    assert!(hit.reason.contains("near in meaning"), "{hit:?}");
    assert!(hit.confidence > 0.4 && hit.confidence <= 1.0, "{hit:?}");
    // Parameters say nothing in vectors: `umbrella` is one of another tool.
    assert_eq!(found(&view, &search(&view, &services, "umbrella")).1[0], "get_forecast");
    // A query that neither words nor vectors know fits nothing.
    assert_eq!(found(&view, &search(&view, &services, "zzyzx")).0, Verdict::NoMatch);
    // Names stay first, whatever is near, alone and within words.
    for query in ["refund_payment", "chargeback", "use refund_payment for rain and umbrella forecast"] {
        assert_eq!(found(&view, &search(&view, &services, query)).1[0], "refund_payment", "{query}");
    }
    let heads = server.heads();
    assert!(heads.starts_with("POST /v1/embeddings HTTP/1.1\r\n"), "{heads}");
    assert!(heads.contains(&format!("authorization: Bearer {KEY}\r\n")), "{heads}");
}

#[test]
fn the_address_may_be_written_in_three_ways() {
    let server = Vectors::serve();
    for end in ["", "/", "/v1", "/v1/", "/v1/embeddings", "/v1/embeddings?version=2"] {
        let vectors = model(&format!("{}{end}", server.url)).embed(&["a b".into()], Duration::from_secs(9));
        assert_eq!(vectors.unwrap()[0], vector("a b"), "{end}");
    }
    assert_eq!(server.heads().matches("POST /v1/embeddings").count(), 6);
    assert_eq!(server.heads().matches("POST /v1/embeddings?version=2 ").count(), 1);
}

#[test]
fn several_queries_are_one_question_and_none_is_asked_twice() {
    let server = Vectors::serve();
    let view = view(TOOLS);
    let services = services(&server.url, None);
    search(&view, &services, "quaxolotl");
    server.asked();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let context = FunctionContext { services, ..FunctionContext::of(view) };
    let within: Vec<bool> = (0..context.view.catalog().tools.len()).map(|place| place != 1).collect();
    let heads = server.heads().matches("POST").count();
    let queries = ["quaxolotl", "vrombelix", "plimthorg"];
    let searched = runtime.block_on(context.search(&queries, Some(&within), 2));
    assert_eq!(server.heads().matches("POST").count(), heads + 1);
    assert_eq!(server.asked(), ["vrombelix", "plimthorg"]);
    let best: Vec<Option<usize>> =
        searched.found.iter().map(|found| found.hits.first().map(|hit| hit.entry)).collect();
    assert_eq!(best, [None, Some(0), Some(2)]);
}

#[test]
fn vectors_outlive_reloads_and_with_a_folder_restarts() {
    let server = Vectors::serve();
    let folder = tempfile::tempdir().unwrap();
    let cache = folder.path().join("kept");
    // As after a start: no vectors yet.
    let first = || view(TOOLS);
    let second = || view(&TOOLS.replace("Branch a repository.", "Fork a repository."));
    let running = services(&server.url, Some(&cache));
    assert_eq!(search(&first(), &running, "quaxolotl").semantic, SemanticStatus::On);
    assert_eq!(server.asked().len(), 3 + 1);
    assert_eq!(search(&second(), &running, "quaxolotl").semantic, SemanticStatus::On);
    assert_eq!(server.asked(), ["create branch: Fork a repository."]);
    drop(running);

    let restarted = services(&server.url, Some(&cache));
    assert_eq!(search(&second(), &restarted, "quaxolotl").semantic, SemanticStatus::On);
    assert_eq!(server.asked(), ["quaxolotl"], "only the query");

    // A file that somebody cut is as good as none, and is written anew.
    let file = std::fs::read_dir(&cache).unwrap().next().unwrap().unwrap().path();
    std::fs::write(&file, &std::fs::read(&file).unwrap()[..200]).unwrap();
    assert_eq!(
        search(&first(), &services(&server.url, Some(&cache)), "quaxolotl").semantic,
        SemanticStatus::On
    );
    assert_eq!(server.asked().len(), 3 + 1);
    assert_eq!(
        search(&first(), &services(&server.url, Some(&cache)), "quaxolotl").semantic,
        SemanticStatus::On
    );
    assert_eq!(server.asked(), ["quaxolotl"]);

    // A folder that cannot be written keeps nobody from searching.
    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    let unkept = services(&server.url, Some(&file.join("below")));
    assert_eq!(search(&first(), &unkept, "quaxolotl").semantic, SemanticStatus::On);
    let SemanticSearch::On(semantic) = &unkept.semantic else { unreachable!() };
    assert!(semantic.progress().save_error.unwrap().starts_with("cannot write "));
}

#[test]
fn servers_that_take_few_texts_at_once_get_few() {
    let server = Vectors::serve();
    server.set(Mode::AtMost(2));
    let view = view(TOOLS);
    assert_eq!(search(&view, &services(&server.url, None), "quaxolotl").semantic, SemanticStatus::On);
}

/// Waits until this holds.
#[track_caller]
pub fn soon(what: &str, holds: impl Fn() -> bool) {
    let started = Instant::now();
    while !holds() {
        assert!(started.elapsed() < Duration::from_secs(20), "not in time: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}
