//! Each difference to the direct connection is said, and nothing else is: a law over generated entries and settings.

use std::collections::BTreeSet;

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::super::keys::{KeyFate, fate_of};
use super::schemas::{SCHEMAS, sample};
use super::*;

/// What is used of an entry `a` in a client's file, and what is said of it; `None` where it stays with its client.
fn used(entry: &Map<String, Value>, settings: &Value) -> Option<(String, Vec<String>)> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("any.json");
    let mut document = settings.clone();
    document["mcpServers"] = json!({"a": entry, "b": {"command": "y"}});
    std::fs::write(&file, document.to_string()).unwrap();
    let sources = read(&file, folder.path()).unwrap().sources;
    let source = sources.into_iter().find(|source| source.server.as_deref() == Some("a"))?;
    let shown = format!("{:?} {:?}", source.mcp, source.filter);
    let said: BTreeSet<String> = source.differences.iter().map(ToString::to_string).collect();
    assert_eq!(said.len(), source.differences.len(), "nothing is said twice");
    Some((shown, said.into_iter().collect()))
}

fn entry(is_remote: bool, keys: &[(String, Value)]) -> Map<String, Value> {
    let start = if is_remote { ("url", "https://a.example") } else { ("command", "x") };
    let mut entry = Map::from_iter([(start.0.to_string(), json!(start.1))]);
    entry.extend(keys.iter().cloned());
    entry
}

/// Keys of all clients with values, without those that start a server, switch it off, or keep it with its client.
fn fields() -> Vec<(String, Value)> {
    let known = SCHEMAS.iter().flat_map(|(_, _, keys)| keys.split_whitespace());
    let unknown = ["frobnicate", "_comment"];
    let keys: BTreeSet<&str> = known.chain(unknown).collect();
    let mut fields: Vec<(String, Value)> =
        keys.into_iter().map(|key| (key.to_string(), sample(key))).collect();
    fields.push(("oauth".into(), json!({"scopes": ["a"], "callbackPort": 9})));
    fields.push(("env".into(), json!({"T": "${input:my-token}"})));
    fields.push(("requestOptions".into(), json!({"headers": {"A": "b"}, "timeout": 5})));
    let is_start = |key: &str| matches!(key, "command" | "cmd" | "url" | "uri" | "httpUrl" | "serverUrl");
    let is_read = |field: &(String, Value)| {
        let alone = std::slice::from_ref(field);
        [false, true].iter().all(|is_remote| used(&entry(*is_remote, alone), &json!({})).is_some())
    };
    fields.into_iter().filter(|(key, _)| !is_start(key)).filter(is_read).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    #[test]
    fn each_difference_of_an_entry_is_said(
        keys in prop::sample::subsequence(fields(), 0..8), is_remote in any::<bool>(),
    ) {
        let plain = json!({});
        let read = |keys: &[(String, Value)]| used(&entry(is_remote, keys), &plain);
        let Some((shown, said)) = read(&keys) else { return Ok(()) };
        let by_key: BTreeSet<&str> = keys.iter().map(|(key, _)| key.as_str()).collect();
        prop_assume!(by_key.len() == keys.len());
        let mut of_each = BTreeSet::new();
        for (index, field) in keys.iter().enumerate() {
            let alone = read(std::slice::from_ref(field)).unwrap().1;
            let mut others = keys.clone();
            others.remove(index);
            let Some((without, _)) = read(&others) else { continue };
            let is_nothing = fate_of(&field.0) == KeyFate::Nothing;
            // A second key for the same setting of a server changes nothing by itself.
            let is_alone = read(std::slice::from_ref(field)).unwrap().0 != read(&[]).unwrap().0;
            prop_assert!(
                without != shown || is_alone || is_nothing || !alone.is_empty() || field.1 == json!("") || is_of_other_kind(&field.0, is_remote),
                "{} is lost in silence: {shown}", field.0
            );
            of_each.extend(alone);
        }
        prop_assert_eq!(said, of_each.into_iter().collect::<Vec<_>>());
    }

    #[test]
    fn a_time_that_is_not_exact_is_said(milliseconds in 1_000_u64..400_000) {
        let keys = [("timeout".to_string(), json!(milliseconds))];
        let (_, said) = used(&entry(false, &keys), &json!({})).unwrap();
        prop_assert_eq!(said.len(), usize::from(milliseconds % 1_000 != 0), "{:?}", said);
    }

    #[test]
    fn settings_that_allow_a_server_by_its_name_are_said(
        place in prop::sample::select(vec![
            ("permissions.allow", true), ("mcp.allowed", true), ("tools.allowed", true), ("user.always_allow", true),
            ("enabledMcpjsonServers", true), ("permissions.deny", false), ("tools.exclude", false),
            ("permissions.ask", false), ("favourites", false),
        ]),
        names in prop::collection::vec("mcp__(a|b)__(read|sink)|a|b|a__read|Bash", 1..4),
    ) {
        let (place, allows) = place;
        let mut settings = json!(names);
        for key in place.rsplit('.') {
            settings = json!({ key: settings });
        }
        let is_own = |name: &String| name == "a" || name.starts_with("a__") || name.starts_with("mcp__a");
        let Some((_, said)) = used(&entry(false, &[]), &settings) else { return Ok(()) };
        let expect = allows && names.iter().any(is_own);
        prop_assert_eq!(said.len(), usize::from(expect), "{}: {:?}", settings, said);
    }
}

/// Whether a key is about a program in an entry with an address, or the other way round.
fn is_of_other_kind(key: &str, is_remote: bool) -> bool {
    let [own, other] = [is_remote, !is_remote].map(|is_remote| {
        let alone = [(key.to_string(), sample(key))];
        used(&entry(is_remote, &alone), &json!({})).map(|used| used.0)
            != used(&entry(is_remote, &[]), &json!({})).map(|used| used.0)
    });
    !own && other
}
