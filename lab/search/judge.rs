//! What judges search, and teaches nothing: no vector, weight or threshold is chosen with it (`sets.toml`).
//!
//! Each line is a share of requests with its 95 % interval. No single request is printed, so that nobody fits on one.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;
use toolcrib::catalog::{Tool, open};
use toolcrib::config;
use toolcrib::definition::words;
use toolcrib::search::{Index, IndexEntry, SearchRequest, SearchResult, Verdict};

/// Requests in other languages over English tools: language, catalog, expected tools, query.
const LANGUAGES: &str = include_str!("judge.tsv");

/// Tools that are described in another language, and a request for each: language, name, description, query.
const DESCRIBED: &str = include_str!("foreign.tsv");

/// Verbs with their contraries, as the data's `opposites.py` has them.
const CONTRARIES: &str = "block unblock, archive unarchive, archive restore, lock unlock, pause resume, enable disable, add remove, \
    subscribe unsubscribe, follow unfollow, accept decline, approve reject, install uninstall, start stop, mute unmute, pin unpin, \
    attach detach, grant revoke, assign unassign, publish unpublish, activate deactivate, suspend unsuspend, delete restore, \
    like unlike, star unstar, ban unban, upload download, invite uninvite, join leave, merge split, withdraw deposit, \
    promote demote, snooze unsnooze, hide unhide, cancel reopen";
/// Words of names that are no thing.
const NO_THING: &str =
    "api bulk batch for to from of a by on in get create update list find delete add remove set post";

/// Requests that must not have a destructive tool for this thing first and sure.
const NOT_DESTRUCTIVE: [&str; 6] = [
    "take ana out of the THING",
    "remove the old label from the THING",
    "please take bob off the THING before the meeting of the whole team starts tomorrow morning",
    "restore the THING i deleted yesterday",
    "show me the THING that somebody deleted from the board last week by mistake",
    "can you tell me whether the THING that we wanted to delete is still there",
];

/// Tools of a catalog with their index.
struct Judged {
    tools: Vec<Arc<Tool>>,
    index: Index,
}

impl Judged {
    fn open(path: &Path) -> Self {
        let tools = open(config::read(path)).catalog.tools.clone();
        let entries: Vec<IndexEntry> = tools.iter().map(|tool| IndexEntry::from(&**tool)).collect();
        Self { tools, index: Index::new(&entries) }
    }

    fn find(&self, query: &str) -> SearchResult {
        self.index.find(SearchRequest { query, within: None, limit: 5 })
    }

    /// The first of these hits, if the verdict is sure.
    fn sure<'t>(&'t self, found: &SearchResult) -> Option<&'t Tool> {
        let first = found.hits.first().filter(|_| found.verdict == Verdict::Match)?;
        Some(&self.tools[first.entry])
    }
}

/// Shares of requests by what is counted, in the order of their first request.
#[derive(Default)]
struct Shares(Vec<(String, Vec<bool>)>);

impl Shares {
    fn count(&mut self, what: impl Into<String>, holds: bool) {
        let what = what.into();
        match self.0.iter_mut().find(|(known, _)| *known == what) {
            Some((_, all)) => all.push(holds),
            None => self.0.push((what, vec![holds])),
        }
    }

    /// Prints each share with its 95 % interval by Wilson, which is honest at 0 and at 100 %.
    fn print(&self, set: &str) {
        for (what, all) in &self.0 {
            let number = all.len() as f64;
            let share = all.iter().filter(|holds| **holds).count() as f64 / number;
            let square = 1.96_f64.powi(2) / number;
            let middle = (share + square / 2.0) / (1.0 + square);
            let half = (share * (1.0 - share) * square + square.powi(2) / 4.0).sqrt() / (1.0 + square);
            let [share, low, high] = [share, middle - half, middle + half].map(|share| 100.0 * share);
            println!("{set}: {what:38} n {:5}  {share:5.1}  [{low:.1}, {high:.1}]", all.len());
        }
    }
}

/// Judges search with the data of a folder and with the catalogs of another.
pub fn judge(data: &Path, catalogs: &Path) {
    fresh(&data.join("everyday/fresh"));
    languages(catalogs);
    described(catalogs);
    let mut files: Vec<PathBuf> = std::fs::read_dir(catalogs)
        .unwrap()
        .map(|file| file.unwrap().path())
        .filter(|path| path.extension().is_some_and(|kind| kind != "md"))
        .collect();
    let own = ["chrome-devtools-mcp.json", "xero-openapi.yaml", "digitalocean-openapi.json"];
    files.extend(own.map(|file| data.join("everyday/fresh").join(file)));
    files.sort();
    let mut shares = Shares::default();
    for file in files {
        let judged = Judged::open(&file);
        names(&judged, &mut shares);
        opposites(&judged, &mut shares);
        removals(&judged, &mut shares);
    }
    shares.print("generated");
}

fn fresh(folder: &Path) {
    let mut known: BTreeMap<String, Judged> = BTreeMap::new();
    let mut shares = Shares::default();
    let text = std::fs::read_to_string(folder.join("queries.jsonl")).unwrap();
    for row in text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()) {
        let file = row["catalog"].as_str().unwrap();
        let judged = known.entry(file.into()).or_insert_with(|| Judged::open(&folder.join(file)));
        let gold: Vec<&str> = row["gold"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
        let found = judged.find(row["query"].as_str().unwrap());
        let is_none = found.verdict == Verdict::NoMatch;
        let is_doubted = judged.sure(&found).is_none();
        if row["kind"] == "far" {
            shares.count("far, no_match", is_none);
            shares.count("far, not a match", is_doubted);
        } else if gold.is_empty() {
            shares.count("near misses, not a match", is_doubted);
        } else {
            let is_right = |tool: &Tool| gold.contains(&tool.names.written.as_str());
            count_hits(&mut shares, judged, &found, is_right);
        }
        let off = found.hits.first().map_or(0.0, |first| {
            let is_right = gold.contains(&judged.tools[first.entry].names.written.as_str());
            f64::from(u8::from(is_right)) - f64::from(first.confidence)
        });
        shares.count("first hit surer than 0.45 and wrong", off < -0.45);
    }
    shares.print("fresh");
}

/// Counts the hits of a request that some tool serves.
fn count_hits(shares: &mut Shares, judged: &Judged, found: &SearchResult, is_right: impl Fn(&Tool) -> bool) {
    let is_none = found.verdict == Verdict::NoMatch;
    let is_among = |most: usize| found.hits.iter().take(most).any(|hit| is_right(&judged.tools[hit.entry]));
    shares.count("right tool first", is_among(1));
    shares.count("right tool among five", is_among(5));
    shares.count("right tool among five, answered", is_among(5) && !is_none);
    shares.count("answerable, no_match", is_none);
    shares.count("answerable, unsure", !is_none && judged.sure(found).is_none());
    shares.count("answerable, match and wrong", judged.sure(found).is_some_and(|tool| !is_right(tool)));
}

fn languages(catalogs: &Path) {
    let mut known: BTreeMap<&str, Judged> = BTreeMap::new();
    let (mut shares, mut each) = (Shares::default(), Shares::default());
    for line in LANGUAGES.lines() {
        let [language, file, gold, query] = line.split('\t').collect::<Vec<_>>()[..] else { continue };
        let judged = known.entry(file).or_insert_with(|| Judged::open(&catalogs.join(file)));
        let found = judged.find(query);
        let is_right = |tool: &Tool| gold.split(',').any(|gold| same(gold) == same(&tool.names.written));
        assert!(judged.tools.iter().any(|tool| is_right(tool)), "{gold}");
        count_hits(&mut shares, judged, &found, is_right);
        let is_among = found.hits.iter().any(|hit| is_right(&judged.tools[hit.entry]));
        each.count(format!("{language}, right tool among five"), is_among);
    }
    shares.print("languages");
    each.print("languages");
}

/// The letters and digits of a name.
fn same(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Asks for tools that are described in other languages, among the English tools of a catalog.
fn described(catalogs: &Path) {
    let mut tools = String::from("{\"tools\": [");
    for line in DESCRIBED.lines() {
        let [_, name, text, _] = line.split('\t').collect::<Vec<_>>()[..] else { continue };
        let comma = if tools.ends_with('[') { "" } else { "," };
        tools.push_str(comma);
        tools
            .push_str(&serde_json::json!({"name": name, "description": text, "inputSchema": {}}).to_string());
    }
    let folder = std::env::temp_dir().join(format!("judge-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("tools.json"), tools + "]}").unwrap();
    let own = open(config::read(&folder.join("tools.json"))).catalog;
    std::fs::remove_dir_all(&folder).unwrap();
    let english = open(config::read(&catalogs.join("github-mcp-server.json"))).catalog;
    let tools: Vec<Arc<Tool>> = own.tools.iter().chain(&english.tools).cloned().collect();
    let entries: Vec<IndexEntry> = tools.iter().map(|tool| IndexEntry::from(&**tool)).collect();
    let mixed = Judged { tools, index: Index::new(&entries) };
    let english = Judged::open(&catalogs.join("github-mcp-server.json"));
    let (mut shares, mut each) = (Shares::default(), Shares::default());
    for line in DESCRIBED.lines() {
        let [language, name, _, query] = line.split('\t').collect::<Vec<_>>()[..] else { continue };
        let found = mixed.find(query);
        count_hits(&mut shares, &mixed, &found, |tool| tool.names.written == name);
        let is_first = found.hits.first().is_some_and(|hit| mixed.tools[hit.entry].names.written == name);
        each.count(format!("{language}, right tool first"), is_first);
        // None of the English tools does what is asked for.
        let found = english.find(query);
        shares.count("of English tools only: not a match", english.sure(&found).is_none());
    }
    shares.print("described");
    each.print("described");
}

/// Queries that name six tools, in the ways in which clients write names.
fn names(judged: &Judged, shares: &mut Shares) {
    let forms: [fn(&str) -> String; 6] = [
        |name| name.into(),
        |name| format!("mcp__files__{name}"),
        |name| format!("functions.{name}"),
        |name| format!("select:{name}"),
        |name| name.to_uppercase(),
        |name| name.replace('_', "-"),
    ];
    let is_plain = |name: &str| !name.chars().skip(1).any(|c| !c.is_lowercase());
    let all: Vec<&str> = judged.tools.iter().map(|tool| tool.names.written.as_str()).collect();
    let is_alone = |name: &&&str| all.iter().filter(|other| same(other) == same(name)).count() == 1;
    let known: Vec<&str> =
        all.iter().take(600).filter(|name| !is_plain(name)).filter(is_alone).copied().collect();
    for (number, six) in known.chunks_exact(6).enumerate() {
        let said: Vec<String> = six.iter().zip(forms).map(|(name, form)| form(name)).collect();
        let found = judged.find(&said.join(" "));
        let has = |name: &&str| {
            found.hits.iter().any(|hit| judged.tools[hit.entry].names.written.as_str() == *name)
        };
        shares.count("six names: all of them found", six.iter().all(has));
        let first = |query: &str| {
            let found = judged.find(query);
            found.hits.first().map(|hit| judged.tools[hit.entry].names.written.as_str())
        };
        let place = number % 6;
        shares.count("one name: it is first", first(&said[place]) == Some(six[place]));
        if six[place].is_ascii() && six[place].len() >= 9 {
            let mut slipped = six[place].as_bytes().to_vec();
            slipped.swap(3, 4);
            let slipped = String::from_utf8(slipped).unwrap_or_default();
            shares.count("one name with a slip: it is first", first(&slipped) == Some(six[place]));
            let mut said = words(six[place]);
            if let Some(word) = said.iter_mut().max_by_key(|word| word.len()).filter(|word| word.len() > 4) {
                let mut letters: Vec<char> = word.chars().collect();
                letters.swap(2, 3);
                *word = letters.into_iter().collect();
            }
            let is_first = first(&format!("please {}", said.join(" "))) == Some(six[place]);
            shares.count("words of a name with a slip: it is first", is_first);
            let among = format!("call {slipped} for me");
            shares.count("a name with a slip in a sentence: first", first(&among) == Some(six[place]));
        }
    }
}

/// The verb with a contrary that a name begins or ends with, and the words beside it.
fn verb_and_thing(name: &str, is_verb: impl Fn(&str) -> bool) -> Option<(String, Vec<String>)> {
    let said = words(name);
    let verb = [said.first()?, said.last()?].into_iter().find(|word| is_verb(word))?.clone();
    let thing: Vec<String> = said.into_iter().filter(|word| *word != verb).collect();
    let is_thing = thing.iter().all(|word| !NO_THING.split(' ').any(|other| other == word));
    ((1..=3).contains(&thing.len()) && is_thing).then_some((verb, thing))
}

/// Asks for the contrary of what tools do.
fn opposites(judged: &Judged, shares: &mut Shares) {
    let pairs: Vec<(&str, &str)> =
        CONTRARIES.split(',').filter_map(|pair| pair.trim().split_once(' ')).collect();
    let mut asked = std::collections::BTreeSet::new();
    for tool in &judged.tools {
        let is_verb = |word: &str| pairs.iter().any(|(one, other)| [*one, *other].contains(&word));
        let Some((verb, thing)) = verb_and_thing(&tool.names.written, is_verb) else { continue };
        for (one, other) in &pairs {
            let contrary = match () {
                () if *one == verb => *other,
                () if *other == verb => *one,
                () => continue,
            };
            let query = format!("{contrary} the {}", thing.join(" "));
            if !asked.insert(query.clone()) {
                continue;
            }
            let is_wanted = |tool: &Tool| {
                let said = words(&tool.names.written);
                said.iter().any(|word| word == contrary) && thing.iter().all(|word| said.contains(word))
            };
            let found = judged.find(&query);
            if judged.tools.iter().any(|tool| is_wanted(tool)) {
                let first = found.hits.first().map(|hit| &judged.tools[hit.entry]);
                shares.count("contrary exists: it is first", first.is_some_and(|tool| is_wanted(tool)));
            } else {
                let sure = judged.sure(&found).map(|tool| &tool.names.written);
                shares.count("contrary is missing: the tool is a match", sure == Some(&tool.names.written));
            }
        }
    }
}

/// Asks for something else of things that destructive tools delete.
fn removals(judged: &Judged, shares: &mut Shares) {
    for tool in judged.tools.iter().filter(|tool| tool.rules.effect.as_str() == "destructive") {
        let Some((_, thing)) = verb_and_thing(&tool.names.written, |word| {
            ["delete", "remove", "destroy", "drop", "revoke", "cancel"].contains(&word)
        }) else {
            continue;
        };
        for request in NOT_DESTRUCTIVE {
            let query = request.replace("THING", &thing.join(" "));
            let found = judged.find(&query);
            let sure = judged.sure(&found);
            let is_wrong = sure.is_some_and(|sure| {
                sure.rules.effect.as_str() == "destructive" && words(&sure.names.written).ends_with(&thing)
            });
            shares.count("other wish: a destructive tool is a match", is_wrong);
        }
    }
}
