//! Laws of search over all tools of real catalogs, with generated requests.

use std::path::Path;
use std::sync::{Arc, LazyLock};

use toolcrib_catalog::{Tool, config, open};
use toolcrib_definition::{Effect, words};
use toolcrib_search::{Index, IndexEntry, SearchRequest, SearchResult, Verdict};

/// Verbs, each with what undoes it.
const CONTRARIES: [(&str, &str); 22] = [
    ("block", "unblock"),
    ("archive", "unarchive"),
    ("archive", "restore"),
    ("lock", "unlock"),
    ("pause", "resume"),
    ("enable", "disable"),
    ("add", "remove"),
    ("subscribe", "unsubscribe"),
    ("follow", "unfollow"),
    ("accept", "decline"),
    ("approve", "reject"),
    ("install", "uninstall"),
    ("start", "stop"),
    ("mute", "unmute"),
    ("pin", "unpin"),
    ("grant", "revoke"),
    ("publish", "unpublish"),
    ("activate", "deactivate"),
    ("delete", "restore"),
    ("ban", "unban"),
    ("upload", "download"),
    ("join", "leave"),
];

/// Requests about a thing that do not ask to delete it.
const NOT_DESTRUCTIVE: [&str; 5] = [
    "take ana out of the THING",
    "remove the old label from the THING",
    "restore the THING i deleted yesterday",
    "show me the THING that somebody deleted from the board last week by mistake",
    "can you tell me whether the THING that we wanted to delete is still there",
];

/// Words of names that are no thing.
const NO_THING: [&str; 17] = [
    "api", "for", "to", "from", "of", "a", "by", "on", "in", "get", "create", "update", "list", "all",
    "delete", "my", "set",
];

struct Real {
    file: String,
    tools: Vec<Arc<Tool>>,
    index: Index,
}

impl Real {
    fn find(&self, query: &str) -> SearchResult {
        self.index.find(SearchRequest { query, within: None, limit: 5 })
    }

    /// The first hit, if the verdict is sure.
    fn sure(&self, query: &str) -> Option<&Tool> {
        let found = self.find(query);
        let first = found.hits.first().filter(|_| found.verdict == Verdict::Match)?;
        Some(&self.tools[first.entry])
    }
}

static CATALOGS: LazyLock<Vec<Real>> = LazyLock::new(|| {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/catalogs");
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    let read = |file: std::path::PathBuf| {
        let tools = open(config::read(&file)).catalog.tools.clone();
        let entries: Vec<IndexEntry> = tools.iter().map(|tool| IndexEntry::from(&**tool)).collect();
        let index = Index::new(&entries);
        Real { file: file.file_name().unwrap_or_default().to_string_lossy().into_owned(), tools, index }
    };
    let all: Vec<Real> = files.into_iter().map(read).collect();
    assert!(all.iter().all(|real| real.tools.len() > 20));
    all
});

/// The thing in a name that begins or ends with a verb.
fn thing(name: &str, verb: &str) -> Option<Vec<String>> {
    let said = words(name);
    let has_verb = [said.first()?, said.last()?].iter().any(|word| *word == verb);
    let thing: Vec<String> = said.into_iter().filter(|word| word != verb).collect();
    let is_thing = thing.iter().all(|word| !NO_THING.contains(&word.as_str()));
    (has_verb && is_thing && (1..=3).contains(&thing.len())).then_some(thing)
}

#[test]
#[ignore = "slow"]
fn a_tool_for_the_contrary_is_not_sure() {
    let (mut asked, mut wrong) = (0, Vec::new());
    for real in &*CATALOGS {
        let all: Vec<Vec<String>> = real.tools.iter().map(|tool| words(&tool.names.written)).collect();
        for (one, other) in CONTRARIES.iter().flat_map(|(one, other)| [(one, other), (other, one)]) {
            for tool in &real.tools {
                let Some(thing) = thing(&tool.names.written, one) else { continue };
                let undoes = |said: &Vec<String>| {
                    said.iter().any(|word| word == other) && thing.iter().all(|word| said.contains(word))
                };
                let query = format!("{other} the {}", thing.join(" "));
                if !all.iter().any(undoes) {
                    asked += 1;
                    let sure = real.sure(&query).map(|sure| &sure.names.written);
                    if sure == Some(&tool.names.written) {
                        wrong.push(format!("{}: {query} -> {}", real.file, tool.names.written));
                    }
                }
            }
        }
    }
    assert!(asked > 80 && wrong.len() * 100 < asked, "{asked} {wrong:#?}");
}

#[test]
#[ignore = "slow"]
fn a_destructive_tool_is_sure_only_for_requests_to_delete_just_that() {
    let mut asked = 0;
    for real in &*CATALOGS {
        for tool in real.tools.iter().filter(|tool| tool.rules.effect == Effect::Destructive) {
            let things =
                ["delete", "remove", "revoke"].iter().find_map(|verb| thing(&tool.names.written, verb));
            let Some(thing) = things.map(|thing| thing.join(" ")) else { continue };
            for request in NOT_DESTRUCTIVE {
                asked += 1;
                let query = request.replace("THING", &thing);
                let is_wrong = |sure: &Tool| {
                    sure.rules.effect == Effect::Destructive
                        && words(&sure.names.written).join(" ").ends_with(&thing)
                };
                assert!(!real.sure(&query).is_some_and(is_wrong), "{}: {query}", real.file);
            }
        }
    }
    assert!(asked > 300, "{asked}");
}

#[test]
#[ignore = "slow"]
fn all_tools_that_a_query_names_are_found_in_each_form_of_their_names() {
    let forms: [fn(&str) -> String; 5] = [
        |name| name.into(),
        |name| format!("mcp__files__{name}"),
        |name| format!("functions.{name}"),
        |name| format!("select:{name}"),
        |name| name.to_uppercase(),
    ];
    let mut asked = 0;
    for real in &*CATALOGS {
        let names: Vec<&str> = real.tools.iter().map(|tool| tool.names.written.as_str()).collect();
        let is_alone = |name: &&&str| {
            let same = |other: &&&str| words(other).concat() == words(name).concat();
            name.contains('_') && names.iter().filter(same).count() == 1
        };
        let known: Vec<&str> = names.iter().take(300).filter(is_alone).copied().collect();
        for (number, eight) in known.chunks_exact(8).enumerate() {
            let said = eight.iter().enumerate().map(|(place, name)| forms[(place + number) % 5](name));
            let query = said.collect::<Vec<_>>().join(", ");
            let found = real.find(&query);
            let first = found.hits.iter().take(8).map(|hit| real.tools[hit.entry].names.written.as_str());
            assert_eq!(first.collect::<Vec<_>>(), eight, "{}: {query}", real.file);
            asked += 1;
        }
    }
    assert!(asked > 40, "{asked}");
}

#[test]
#[ignore = "slow"]
fn a_slip_in_a_name_is_mended_and_another_verb_is_another_name() {
    let (mut asked, mut first) = (0, 0);
    for real in &*CATALOGS {
        for tool in real.tools.iter().step_by(7) {
            let name = tool.names.written.as_str();
            if !name.is_ascii() || name.len() < 12 || !name.contains('_') {
                continue;
            }
            let mut slipped = name.as_bytes().to_vec();
            slipped.swap(3, 4);
            let slipped = String::from_utf8(slipped).unwrap_or_default();
            let found = real.find(&format!("call {slipped} for me"));
            asked += 1;
            first +=
                u32::from(found.hits.first().is_some_and(|hit| real.tools[hit.entry].names.written == name));
        }
    }
    assert!(asked > 100 && first * 100 >= asked * 95, "{first} of {asked}");
}
