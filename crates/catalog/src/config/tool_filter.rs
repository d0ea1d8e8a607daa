//! The tools of a server that a client uses, or that `tools` of a source picks.

use toolcrib_definition::matches_glob;

/// The tools of a server that a client uses. A `*` in a name stands for any text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolFilter {
    /// The setting in the client's file.
    pub key: String,
    /// Lists that must all have the tool.
    pub allowed: Vec<Vec<String>>,
    /// Tools that are switched off.
    pub denied: Vec<String>,
    /// Tools that are switched off by a name with a prefix: the prefix, and the whole name.
    pub denied_with_prefix: Vec<(String, String)>,
    /// The place of a rule that only the client can apply, since it asks a person, or knows its project or agent.
    pub of_client: Option<String>,
}

impl ToolFilter {
    /// The filter of a list in which `!` before a name leaves tools out; `None` for an empty list.
    pub(super) fn of_list(names: &[String]) -> Option<Self> {
        let (denied, allowed): (Vec<&String>, Vec<&String>) =
            names.iter().partition(|name| name.starts_with('!'));
        let allowed: Vec<String> = allowed.into_iter().cloned().collect();
        (!names.is_empty()).then(|| Self {
            key: "tools".into(),
            allowed: if allowed.is_empty() { Vec::new() } else { vec![allowed] },
            denied: denied.into_iter().map(|name| name[1..].to_string()).collect(),
            ..Self::default()
        })
    }

    /// The same as a list of that form for this server; `None` where no list says it.
    pub fn as_list(&self) -> Option<Vec<String>> {
        let mut names = match &self.allowed[..] {
            [] => Vec::new(),
            // Nothing is allowed.
            [only] if only.is_empty() => vec!["!*".to_string()],
            [only] => only.clone(),
            _ => return None,
        };
        names.extend(self.denied.iter().map(|name| format!("!{name}")));
        for (prefix, name) in &self.denied_with_prefix {
            names.push(format!("!{}", name.strip_prefix(prefix)?));
        }
        names.iter().all(|name| name.rfind('!').is_none_or(|at| at == 0)).then_some(names)
    }

    /// Its names, without their prefix, that match no tool of the server.
    pub fn unmatched<'f>(&'f self, tools: &[&str]) -> Vec<&'f str> {
        let with_prefix =
            self.denied_with_prefix.iter().filter_map(|(prefix, name)| name.strip_prefix(prefix.as_str()));
        let names = self.allowed.iter().flatten().chain(&self.denied).map(String::as_str).chain(with_prefix);
        names.filter(|name| *name != "*" && !tools.iter().any(|tool| matches_glob(name, tool))).collect()
    }

    /// Returns true if the client uses the tool with this name.
    pub fn allows(&self, tool: &str) -> bool {
        let has = |names: &[String]| names.iter().any(|name| matches_glob(name, tool));
        self.allowed.iter().all(|names| has(names))
            && !has(&self.denied)
            && !self
                .denied_with_prefix
                .iter()
                .any(|(prefix, name)| matches_glob(name, &format!("{prefix}{tool}")))
    }
}
