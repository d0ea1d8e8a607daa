//! A fleet: three replicas on one PostgreSQL and one static server of bundles. No request on a living replica fails, and no
//! answer mixes versions, while bundles are published, torn and tampered with, and replicas and the server go away.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex, RwLock};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::host::Host;
use super::{Bundled, build};
use crate::fixture::{folder, run, text};
use crate::serve::{Server, client};
use crate::skipped::skipped;

const VERSIONS: usize = 6;
const REPLICAS: usize = 3;

/// A published version: its files, and the registry version in all its answers.
struct Version {
    bundle: Vec<u8>,
    signature: Vec<u8>,
    registry: String,
}

struct Fleet {
    host: Host,
    versions: Vec<Version>,
    key: String,
    state: String,
    work: Bundled,
    replicas: [RwLock<Option<Server>>; REPLICAS],
}

/// The catalog of a version: each text of it has the number.
fn catalog(number: usize) -> tempfile::TempDir {
    let tool = |name: &str| {
        json!({
            "name": name, "op": format!("notes.{name}"), "description": format!("Says number{number} of all notes."),
            "effect": "read", "category": format!("Notes{number}"),
            "parameters": {"type": "object", "properties": {"id": {"type": "integer"}}},
            "backend": {"type": "static", "content": {"said": format!("number{number}")}},
        })
    };
    let tools = json!([tool("read_note"), tool("list_notes"), tool(&format!("only_{number}"))]);
    folder(&[("tools.json", &tools.to_string())])
}

impl Fleet {
    fn new(state: String) -> Self {
        let work = Bundled::of(catalog(0).path());
        let key = work.signed("key");
        let versions = (0..VERSIONS).map(|number| {
            build(catalog(number).path(), &work.file);
            work.sign("key");
            let facts: Value =
                serde_json::from_str(&run(&["bundle", "show", text(&work.file), "--json"]).stdout).unwrap();
            let signature = std::fs::read(work.beside("tools.crib.minisig")).unwrap();
            let registry = facts["registry_version"].as_str().unwrap().to_string();
            Version { bundle: work.bytes(), signature, registry }
        });
        let versions = versions.collect();
        let fleet = Self { host: Host::start(), versions, key, state, work, replicas: Default::default() };
        fleet.publish(0);
        (0..REPLICAS).for_each(|replica| fleet.start(replica));
        fleet
    }

    /// Starts a replica; two of them share a cache.
    fn start(&self, replica: usize) {
        let cache = self.work.beside(if replica == 2 { "own" } else { "shared" });
        let (url, state, key) = (self.host.url("tools.crib"), &*self.state, &*self.key);
        let options = ["--bundle-poll", "1", "--state", state, "--key", key, "--log-level", "warn"];
        let server = Server::start(&url, &options, &[("XDG_CACHE_HOME", text(&cache))]);
        *self.replicas[replica].write().unwrap() = Some(server);
    }

    fn kill(&self, replica: usize) {
        drop(self.replicas[replica].write().unwrap().take());
    }

    fn publish(&self, number: usize) {
        let Version { bundle, signature, .. } = &self.versions[number];
        self.host.put("tools.crib.minisig", &signature[..]);
        self.host.put("tools.crib", &bundle[..]);
    }

    /// The address of a replica, if it lives.
    fn address(&self, replica: usize) -> Option<String> {
        self.replicas[replica].read().unwrap().as_ref().map(|server| server.address.clone())
    }

    fn nudge(&self, replica: usize) {
        let server = self.replicas[replica].read().unwrap();
        let nudged = server.as_ref().map(|server| server.posting("/v1/reload", "").send().unwrap().status());
        assert!(nudged.is_none_or(|status| status == 202));
    }

    /// Waits until all replicas that live serve a version.
    #[track_caller]
    fn converges(&self, number: usize) {
        let end = Instant::now() + Duration::from_secs(30);
        for replica in &self.replicas {
            let replica = replica.read().unwrap();
            let Some(server) = &*replica else { continue };
            while server.json("/readyz?verbose")["registry_version"] != *self.versions[number].registry {
                assert!(Instant::now() < end, "{}", server.log.lock().unwrap());
                std::thread::sleep(Duration::from_millis(20));
            }
        }
    }
}

/// Requests of all clients.
#[derive(Default)]
struct Load {
    is_over: AtomicBool,
    answered: AtomicUsize,
    wrong: Mutex<Vec<String>>,
    seen: Mutex<BTreeSet<usize>>,
}

impl Load {
    /// Asks one replica after the other, until it is over.
    fn ask(&self, fleet: &Fleet, first: usize) {
        let numbers: BTreeMap<&str, usize> =
            fleet.versions.iter().enumerate().map(|(number, version)| (&*version.registry, number)).collect();
        for turn in first.. {
            if self.is_over.load(SeqCst) {
                return;
            }
            let replica = turn % REPLICAS;
            let Some(address) = fleet.address(replica) else { continue };
            match answer(&address, turn / REPLICAS) {
                Ok((registry, text)) => self.check(&numbers, &registry, &text),
                // A client goes to another replica when one has died, and only then.
                Err(_) if fleet.address(replica) != Some(address) => {}
                Err(problem) => self.wrong.lock().unwrap().push(problem),
            }
        }
    }

    /// Checks that an answer has texts of its own version alone.
    fn check(&self, numbers: &BTreeMap<&str, usize>, registry: &str, text: &str) {
        self.answered.fetch_add(1, SeqCst);
        let Some(number) = numbers.get(registry) else {
            return self.wrong.lock().unwrap().push(format!("there is no version {registry}: {text}"));
        };
        let said =
            text.match_indices("number").filter_map(|(at, _)| text[at + 6..].chars().next()?.to_digit(10));
        let said: BTreeSet<usize> = said.map(|digit| digit as usize).collect();
        if said != BTreeSet::from([*number]) {
            self.wrong.lock().unwrap().push(format!("version {number} says {said:?}: {text}"));
        }
        self.seen.lock().unwrap().insert(*number);
    }
}

/// An answer, with the registry version in it.
fn answer(address: &str, kind: usize) -> Result<(String, String), String> {
    let url = |path: &str| format!("http://{address}{path}");
    let posting = |path: &str, body: Value| {
        client().post(url(path)).header("content-type", "application/json").body(body.to_string())
    };
    let request = match kind % 5 {
        0 => client().get(url("/tools/README.md")),
        1 => posting("/v1/tool_exec", json!({"op": "notes.read_note", "args": {"id": 1}})),
        2 => posting("/v1/tool_search", json!({"query": "say a note", "limit": 3})),
        3 => client().get(url("/registry.json")),
        _ => posting("/v1/read_tool_doc", json!({"name": "list_notes"})),
    };
    let response = request.send().map_err(|error| error.to_string())?;
    let (status, text) = (response.status(), response.text().map_err(|error| error.to_string())?);
    if status != 200 {
        return Err(format!("{status}: {text}"));
    }
    let registry = match kind % 5 {
        0 => text.rsplit("Registry ").next().map(|version| version.trim().to_string()),
        kind => {
            let json: Value = serde_json::from_str(&text).map_err(|error| format!("{error}: {text}"))?;
            let version =
                if kind == 3 { &json["registry_version"] } else { &json["meta"]["registry_version"] };
            version.as_str().map(str::to_string)
        }
    };
    Ok((registry.unwrap_or_default(), text))
}

/// Everything that happens to the fleet while it is asked.
fn happens(fleet: &Fleet) {
    for round in 1..=2 * VERSIONS {
        let number = round % VERSIONS;
        let good = &fleet.versions[number].bundle;
        match round % 4 {
            // Torn, and told at once.
            0 => fleet.host.put("tools.crib", &good[..good.len() / 2]),
            // Tampered with.
            1 => {
                let mut bad = good.clone();
                *bad.last_mut().unwrap() ^= 1;
                fleet.host.put("tools.crib", bad);
            }
            // The bundle of one version with the signature of another.
            2 => fleet.host.put("tools.crib", &good[..]),
            _ => {}
        }
        (0..REPLICAS).for_each(|replica| fleet.nudge(replica));
        std::thread::sleep(Duration::from_millis(200));
        match round {
            3 => fleet.kill(1),
            4 => fleet.start(1),
            6 => {
                fleet.host.set_away(true);
                fleet.kill(2);
                fleet.start(2);
            }
            7 => fleet.host.set_away(false),
            _ => {}
        }
        if round != 6 {
            fleet.publish(number);
            fleet.nudge(round % REPLICAS);
            fleet.converges(number);
        }
    }
}

#[test]
fn a_fleet_serves_on_whatever_is_published_and_whoever_dies() {
    let Some(postgres) = crate::state::postgres::Server::start() else {
        return skipped("a fleet of replicas", "there is no PostgreSQL server");
    };
    let fleet = Fleet::new(postgres.url("postgres"));
    let load = Arc::new(Load::default());
    std::thread::scope(|scope| {
        for first in 0..REPLICAS {
            let (fleet, load) = (&fleet, Arc::clone(&load));
            scope.spawn(move || load.ask(fleet, first));
        }
        let happened = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| happens(&fleet)));
        load.is_over.store(true, SeqCst);
        happened.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    });
    let wrong = load.wrong.lock().unwrap();
    assert!(
        wrong.is_empty(),
        "{} of {}: {:#?}",
        wrong.len(),
        load.answered.load(SeqCst),
        &wrong[..wrong.len().min(5)]
    );
    assert!(load.answered.load(SeqCst) > 500, "{}", load.answered.load(SeqCst));
    assert_eq!(load.seen.lock().unwrap().len(), VERSIONS);
    for replica in 0..REPLICAS {
        let server = fleet.replicas[replica].read().unwrap();
        let state = server.as_ref().unwrap().json("/readyz?verbose");
        assert_eq!((&state["state"], &state["current"]), (&json!("on"), &json!(true)), "{state:#}");
    }
}
