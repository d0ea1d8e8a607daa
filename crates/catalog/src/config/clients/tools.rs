//! The tools of a server that a client uses, by the lists of its entry.

use serde_json::{Map, Value};

use super::problem::EntryProblem;
use crate::config::difference::Difference;
use crate::config::tool_filter::ToolFilter;

/// Lists of the only tools of a server that a client uses. An empty list of the last one stands for all.
const ALLOWED: [&str; 5] = ["includeTools", "enabled_tools", "enabledTools", "tools", "available_tools"];
/// Lists of the tools that a client does not use.
const DENIED: [&str; 3] = ["excludeTools", "disabledTools", "disabled_tools"];

/// The name of a server as clients put it before those of its tools.
pub(super) fn plain_name(server: &str) -> String {
    server.replace(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '_' | '-'), "_")
}

/// The tools that a client uses of a server: the lists of its entry, and opencode's `tools` and `permission` with names such as
/// `server_*`.
pub(super) fn filter(
    entry: &Value,
    server: &str,
    global: [Option<&Value>; 2],
    differences: &mut Vec<Difference>,
) -> Result<Option<ToolFilter>, EntryProblem> {
    let mut filter = ToolFilter::default();
    add_lists(&mut filter, entry)?;
    let prefix = format!("{}_", plain_name(server));
    for (key, rules) in ["tools", "permission"].into_iter().zip(global) {
        let rules = match rules {
            None | Some(Value::Null) => continue,
            Some(Value::Object(rules)) => rules.clone(),
            Some(rule) => Map::from_iter([("*".to_string(), rule.clone())]),
        };
        for (name, rule) in rules {
            if let Some(rule) = add_rule(&mut filter, &prefix, key, name, &rule)? {
                differences.push(Difference::Wider { rule });
            }
        }
    }
    Ok((!filter.key.is_empty()).then_some(filter))
}

/// Adds the lists and switches of a server's entry.
fn add_lists(filter: &mut ToolFilter, entry: &Value) -> Result<(), EntryProblem> {
    let set = |key: &'static str| Some((key, entry.get(key).filter(|value| !value.is_null())?));
    for (key, value) in ALLOWED.into_iter().filter_map(set) {
        let Some(names) = names(key, value)? else { continue };
        if names.iter().any(|name| name == "*") || (key == "available_tools" && names.is_empty()) {
            continue;
        }
        filter.key = key.to_string();
        filter.allowed.push(names);
    }
    for (key, value) in DENIED.into_iter().filter_map(set) {
        let names = names(key, value)?.unwrap_or_default();
        if !names.is_empty() {
            filter.key = key.to_string();
            filter.denied.extend(names);
        }
    }
    let switches = entry.get("tools").and_then(Value::as_object).into_iter().flatten();
    for (name, _) in switches.filter(|(_, is_on)| **is_on == false) {
        filter.key = "tools".into();
        filter.denied.push(name.clone());
    }
    Ok(())
}

/// The names of a list; `None` for switches, which are read by themselves.
fn names(key: &str, value: &Value) -> Result<Option<Vec<String>>, EntryProblem> {
    match value {
        Value::Object(tools) if key == "tools" && tools.values().all(Value::is_boolean) => Ok(None),
        Value::Array(items) if items.iter().all(Value::is_string) => {
            Ok(Some(items.iter().filter_map(Value::as_str).map(str::to_string).collect()))
        }
        Value::Object(_) => Err(EntryProblem::wrong(
            key,
            "holds settings of tools that only the client applies; expected a list of names, or true or false for each",
        )),
        _ => Err(EntryProblem::wrong(key, "must be a list of tool names")),
    }
}

/// Adds a rule for all servers, where its name may be that of a tool of this one. Returns the rule if it switches off more here.
fn add_rule(
    filter: &mut ToolFilter,
    prefix: &str,
    key: &'static str,
    name: String,
    rule: &Value,
) -> Result<Option<String>, EntryProblem> {
    let begin = name.split(['*', '?']).next().unwrap_or_default();
    let is_of_server = if begin == name {
        name.starts_with(prefix)
    } else {
        begin.starts_with(prefix) || prefix.starts_with(begin)
    };
    if !is_of_server {
        return Ok(None);
    }
    // Rules for arguments; those of a server match `*` alone.
    let rule = rule.get("*").or_else(|| rule.as_object().map(|_| &Value::Bool(true))).unwrap_or(rule);
    let is_on = match rule.as_str() {
        Some("ask") => {
            filter.key = key.into();
            filter.of_client = Some(format!("{key}.{name}"));
            true
        }
        Some("allow") => true,
        Some("deny") => false,
        _ => {
            let wrong = || EntryProblem::Rule { key, name: name.clone(), rule: rule.clone() };
            rule.as_bool().ok_or_else(wrong)?
        }
    };
    let is_wider = !is_on && name.contains('?');
    let wider = is_wider.then(|| format!("{key}.{name}"));
    if !is_on {
        filter.key = key.into();
        // `?` is any letter: too much is denied rather than too little.
        let name = name.replace('?', "*");
        match name.strip_suffix('*').filter(|begin| prefix.starts_with(begin)) {
            Some(_) => filter.denied.push("*".into()),
            None => filter.denied_with_prefix.push((prefix.to_string(), name)),
        }
    }
    Ok(wider)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_tools_restrict_a_server() {
        let filter_of =
            |entry: Value, tools: Option<Value>| filter(&entry, "a", [tools.as_ref(), None], &mut Vec::new());
        let allows =
            |entry: Value| filter_of(entry, None).unwrap().is_none_or(|filter| filter.allows("sink_boat"));
        for entry in [
            serde_json::json!({"excludeTools": ["sink_boat"]}),
            serde_json::json!({"disabledTools": ["sink_*"]}),
            serde_json::json!({"disabled_tools": ["*"]}),
            serde_json::json!({"includeTools": ["list_boats"]}),
            serde_json::json!({"enabled_tools": []}),
            serde_json::json!({"tools": ["list_boats"]}),
            serde_json::json!({"tools": {"sink_boat": false}}),
            serde_json::json!({"tools": ["sink_boat"], "excludeTools": ["sink_boat"]}),
        ] {
            assert!(!allows(entry.clone()), "{entry}");
        }
        for entry in [
            serde_json::json!({}),
            serde_json::json!({"tools": ["*"], "disabledTools": [], "available_tools": []}),
            serde_json::json!({"includeTools": ["sink_boat"]}),
        ] {
            assert!(allows(entry.clone()), "{entry}");
        }
        assert!(filter_of(serde_json::json!({"excludeTools": "sink_boat"}), None).is_err());
        let of_opencode =
            filter_of(serde_json::json!({}), Some(serde_json::json!({"a_sink*": false, "b": true})));
        let of_opencode = of_opencode.unwrap().unwrap();
        assert!(!of_opencode.allows("sink_boat") && of_opencode.allows("list_boats"));
        for rules in
            [r#"{"a_sink_boat": "deny"}"#, r#"{"a_*": "deny"}"#, r#"{"*": {"*": "deny"}}"#, "\"deny\""]
        {
            let rules: Value = serde_json::from_str(rules).unwrap();
            let filter = filter(&Value::Null, "a", [None, Some(&rules)], &mut Vec::new()).unwrap().unwrap();
            assert!(!filter.allows("sink_boat") && filter.as_list().is_some(), "{rules}");
        }
        let others = serde_json::json!({"bash": "deny", "b_*": false});
        assert!(filter(&Value::Null, "a", [None, Some(&others)], &mut Vec::new()).unwrap().is_none());
        let asks = serde_json::json!({"a_sink_boat": "ask"});
        let asks = filter(&Value::Null, "a", [None, Some(&asks)], &mut Vec::new()).unwrap().unwrap();
        assert!(asks.allows("sink_boat") && asks.as_list().is_some() && asks.of_client.is_some());
        assert!(
            filter(&Value::Null, "a", [Some(&serde_json::json!({"a_x": "off"})), None], &mut Vec::new())
                .is_err()
        );
    }
}
