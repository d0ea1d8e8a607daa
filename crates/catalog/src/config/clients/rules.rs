//! Rules for servers and tools elsewhere in a client's settings, by names such as `mcp__server__tool`.

use serde_json::Value;

use super::entry::{SWITCHES, texts};
use super::file::ServerTable;
use super::format::OPENCODE;
use super::problem::EntryProblem;
use super::tools::plain_name;
use crate::config::tool_filter::ToolFilter;

/// Keys below which a client has a table for each of several projects, agents or profiles, and applies one of them.
const SCOPES: [&str; 5] = ["projects", "profiles", "modes", "agents", "agent"];

/// Beginnings of words in keys of lists that switch tools off.
const OFF: [&str; 7] = ["exclude", "deny", "denied", "disable", "disallow", "never", "block"];

/// Beginnings of words in keys that allow a server, or its tools without a question.
const ALLOW: [&str; 4] = ["allow", "approve", "trust", "enabledmcp"];

/// What a client's settings say elsewhere of the tools of one server, by names such as `mcp__server__tool`.
pub(super) struct Rules<'c> {
    server: &'c str,
    /// The same as clients put it before the names of tools.
    prefix: String,
    table: ServerTable<'c>,
    /// The project that they are read for; empty if the file belongs to none.
    project: &'c str,
    /// Tools that are switched off.
    denied: Vec<String>,
    /// The place of a rule that only the client can apply: it asks, or applies to one project, agent or profile.
    of_client: Option<String>,
    /// The places of rules that allow the server, or a tool of it, by its name.
    pub(super) allowed: Vec<String>,
}

/// A place in the settings.
#[derive(Clone, Default)]
struct RulePlace {
    keys: Vec<String>,
    /// The tool that the keys name; `*` for the whole server.
    tool: Option<String>,
    is_off: bool,
    asks: bool,
    allows: bool,
    /// Whether it is for a project, an agent or a profile that is not the active one.
    is_scoped: bool,
}

impl<'c> Rules<'c> {
    pub(super) fn new(server: &'c str, table: ServerTable<'c>, project: &'c str) -> Self {
        let (denied, allowed, of_client) = Default::default();
        Self { server, prefix: plain_name(server), table, project, denied, of_client, allowed }
    }

    pub(super) fn read(&mut self, document: &Value) {
        let active = ["/default_profile", "/agent/default_profile"];
        let active = active.iter().find_map(|pointer| document.pointer(pointer)?.as_str());
        self.walk(document, RulePlace::default(), active);
    }

    fn walk(&mut self, value: &Value, place: RulePlace, active: Option<&str>) {
        match value {
            Value::Object(fields) => {
                for (key, value) in fields {
                    let place = self.below(&place, key, active);
                    let at = format!("/{}", place.keys.join("/"));
                    // The servers have filters of their own, and so have the rules of opencode for all agents.
                    let is_read = at == self.table.pointer
                        || (self.is_opencode() && matches!(&*at, "/tools" | "/permission"));
                    // A list for the servers of a project's own file.
                    let is_of_others = key == "disabledMcpjsonServers" && self.project.is_empty();
                    if !is_read && !is_of_others {
                        self.walk(value, place, active);
                    }
                }
            }
            Value::Array(items) => {
                let is_of_all = matches!(&*place.keys.join("/"), "excludeTools" | "tools/exclude");
                for item in items {
                    let Some(text) = item.as_str() else {
                        self.walk(item, place.clone(), active);
                        continue;
                    };
                    let tool = self.named(text).or(is_of_all.then(|| text.to_string()));
                    if tool.is_some() {
                        self.note(RulePlace { tool, ..place.clone() }, true);
                    }
                }
            }
            Value::Bool(is_on) => self.note(place, *is_on),
            Value::String(text) => match text.as_str() {
                "deny" | "never" | "disabled" | "off" => self.note(RulePlace { is_off: true, ..place }, true),
                "allow" | "always" | "approve" => self.note(RulePlace { allows: true, ..place }, true),
                "ask" | "confirm" | "prompt" => self.note(RulePlace { asks: true, ..place }, true),
                _ => {}
            },
            _ => {}
        }
    }

    fn is_opencode(&self) -> bool {
        *self.table.format == OPENCODE
    }

    fn below(&self, place: &RulePlace, key: &str, active: Option<&str>) -> RulePlace {
        let mut below = place.clone();
        let parent = place.keys.last().map(String::as_str).unwrap_or_default();
        let lower = key.to_lowercase();
        below.is_off |= OFF.iter().any(|word| lower.contains(word));
        below.allows |= ALLOW.iter().any(|word| lower.contains(word));
        below.asks |= lower == "ask" || lower.starts_with("ask_");
        let is_scope = SCOPES.contains(&parent) && (parent != "agent" || self.is_opencode());
        below.is_scoped |=
            is_scope && Some(key) != active && (self.project.is_empty() || key != self.project);
        let of_server = || (parent == "tools" && place.tool.is_some()).then(|| key.to_string());
        below.tool = self.named(key).or_else(of_server).or(below.tool);
        below.keys.push(key.to_string());
        below
    }

    /// The tool of the server that a text names; `*` where it names the server.
    fn named(&self, text: &str) -> Option<String> {
        if text != self.server && self.table.servers.contains_key(text) {
            return None;
        }
        let rest = ["mcp__", "mcp:", "mcp_", "@"].iter().find_map(|begin| text.strip_prefix(begin));
        [Some(text), rest].into_iter().flatten().find_map(|text| {
            let rest = text.strip_prefix(self.server).or_else(|| text.strip_prefix(&self.prefix))?;
            let tool = rest.split('(').next().unwrap_or_default();
            match ["__", "_", ".", ":", "/"].iter().find_map(|between| tool.strip_prefix(between)) {
                Some(tool) => Some(tool.to_string()),
                None => tool.is_empty().then(|| "*".to_string()),
            }
        })
    }

    /// Notes what a place says, where it names a tool and its value is `is_on`.
    fn note(&mut self, place: RulePlace, is_on: bool) {
        let Some(tool) = place.tool else { return };
        let key = place.keys.last().map(|key| key.to_lowercase()).unwrap_or_default();
        let is_switch =
            tool != "*" || self.named(&key).is_some() || SWITCHES.iter().any(|(switch, _)| key == *switch);
        let allows = place.allows;
        let is_off = if place.is_off || place.asks { is_on } else { !is_on && is_switch };
        if !is_off {
            let place = place.keys.join(".");
            if is_on && allows && !self.allowed.contains(&place) {
                self.allowed.push(place);
            }
            return;
        }
        if place.asks || place.is_scoped {
            self.of_client = Some(place.keys.join("."));
        } else {
            self.denied.push(tool);
        }
    }

    /// Whether all tools of the server are switched off.
    pub(super) fn deny_all(&self) -> bool {
        self.denied.iter().any(|tool| tool == "*")
    }

    /// The filter of the entry with these rules.
    pub(super) fn added_to(self, filter: Option<ToolFilter>) -> Option<ToolFilter> {
        if self.denied.is_empty() && self.of_client.is_none() {
            return filter;
        }
        let mut filter = filter.unwrap_or_default();
        filter.denied.extend(self.denied);
        filter.of_client = self.of_client.or(filter.of_client);
        if filter.key.is_empty() {
            filter.key = "settings".into();
        }
        Some(filter)
    }
}

/// Whether a list of Gemini CLI switches a server off.
pub(super) fn is_excluded(document: &Value, name: &str) -> Result<bool, EntryProblem> {
    let lists = [
        ("/mcp/excluded", true),
        ("/mcp/allowed", false),
        ("/excludeMCPServers", true),
        ("/allowMCPServers", false),
    ];
    for (pointer, is_off) in lists {
        let Some(list) = document.pointer(pointer).filter(|list| !list.is_null()) else { continue };
        // A server of VS Code can have such a name.
        if list.is_object() && pointer.starts_with("/mcp/") {
            continue;
        }
        if texts(&pointer[1..], list)?.iter().any(|item| item == name) == is_off {
            return Ok(true);
        }
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    use serde_json::Map;

    use super::*;
    use crate::config::clients::format_of_table;

    #[test]
    fn rules_elsewhere_in_a_client_restrict_a_server() {
        let check = |map: &'static str, document: &str, is_off: bool, of_client: Option<&str>| {
            let document: Value = serde_json::from_str(document).unwrap();
            let servers = Map::from_iter(["boats", "boats_x"].map(|name| (name.to_string(), Value::Null)));
            let format = format_of_table(map).unwrap();
            let table = ServerTable { pointer: map, format, servers: &servers };
            let mut rules = Rules::new("boats", table, "");
            rules.read(&document);
            let filter = rules.added_to(None).unwrap_or_default();
            let found = (!filter.allows("sink_boat"), filter.of_client.as_deref());
            assert_eq!(found, (is_off, of_client), "{document}");
        };
        let gemini = "/mcpServers";
        check(gemini, r#"{"tools": {"exclude": ["sink_boat"]}}"#, true, None);
        check(gemini, r#"{"tools": {"exclude": ["boats__sink_boat", "run_shell_command(rm)"]}}"#, true, None);
        check(
            gemini,
            r#"{"excludeTools": ["sink_boat"], "mcpServers": {"boats": {"disabled": false}}}"#,
            true,
            None,
        );
        check(gemini, r#"{"tools": {"allowed": ["boats__sink_boat"]}}"#, false, None);
        check(gemini, r#"{"disabled": ["boats_x"]}"#, false, None);
        let zed = "/context_servers";
        let permission =
            r#"{"agent": {"tool_permissions": {"tools": {"mcp:boats:sink_boat": {"default": "deny"}}}}}"#;
        check(zed, permission, true, None);
        check(zed, &permission.replace("deny", "allow"), false, None);
        let place = "agent.tool_permissions.tools.mcp:boats:sink_boat.default";
        check(zed, &permission.replace("deny", "confirm"), false, Some(place));
        let profile = r#"{"agent": {"default_profile": "write", "profiles": {"write": {"context_servers": {"boats": {"tools": {"sink_boat": false}}}}}}}"#;
        check(zed, profile, true, None);
        let other = profile.replacen("write", "ask", 1);
        check(zed, &other, false, Some("agent.profiles.write.context_servers.boats.tools.sink_boat"));
        let opencode = "/mcp";
        check(
            opencode,
            r#"{"agent": {"plan": {"permission": {"boats_sink_boat": "deny"}}}}"#,
            false,
            Some("agent.plan.permission.boats_sink_boat"),
        );
        check(
            opencode,
            r#"{"agent": {"plan": {"tools": {"boats_*": false}}}}"#,
            false,
            Some("agent.plan.tools.boats_*"),
        );
        check(opencode, r#"{"agent": {"plan": {"tools": {"bash": false}}}}"#, false, None);
        let claude = "/mcpServers";
        check(
            claude,
            r#"{"permissions": {"deny": ["mcp__boats__sink_boat"], "allow": ["mcp__boats"]}}"#,
            true,
            None,
        );
        check(claude, r#"{"permissions": {"ask": ["mcp__boats"]}}"#, false, Some("permissions.ask"));
        check(
            claude,
            r#"{"projects": {"/a": {"disabledMcpServers": ["boats"]}}}"#,
            false,
            Some("projects./a.disabledMcpServers"),
        );
        check(claude, r#"{"disabledMcpjsonServers": ["boats"]}"#, false, None);
        check("/extensions", r#"{"user": {"never_allow": ["boats__sink_boat"]}}"#, true, None);
        check(
            "/extensions",
            r#"{"user": {"ask_before": ["boats__sink_boat"]}}"#,
            false,
            Some("user.ask_before"),
        );
    }
}
