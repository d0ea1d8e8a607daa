//! The audience of a tool is the set of callers who may see it. A tool's name never depends on tools that some of these
//! callers cannot see.
//!
//! Tools with the same audience form a group, and names are settled within it ([`groups`]). If two groups claim a name,
//! that is an error ([`separate`]): the tool with the smaller audience is left out, so that everybody who loses it sees
//! the other tool. If neither audience contains the other, each audience keeps its tool, and a caller in both gets
//! neither tool.

use std::collections::HashMap;
use std::sync::Arc;

use indexmap::IndexMap;

use crate::tool::Tool;
use toolcrib_definition::finding::{Code, Finding};
use toolcrib_definition::{Definition, WhenForbidden};

/// The callers who may see that a tool exists.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Audience {
    /// Every caller.
    Everybody,
    /// Callers with one of these roles, sorted.
    Roles(Vec<String>),
}

impl Audience {
    /// Audience of a tool with this definition.
    pub(super) fn of(definition: &Definition) -> Self {
        Self::new(&definition.allowed_roles, definition.when_forbidden)
    }

    pub(super) fn of_tool(tool: &Tool) -> Self {
        Self::new(&tool.rules.roles, tool.rules.when_forbidden)
    }

    fn new(roles: &[String], when_forbidden: Option<WhenForbidden>) -> Self {
        if roles.is_empty() || when_forbidden == Some(WhenForbidden::Visible) {
            return Self::Everybody;
        }
        let mut roles = roles.to_vec();
        roles.sort_unstable();
        roles.dedup();
        Self::Roles(roles)
    }

    /// Whether an overlay that sets these fields changes the audience of a tool.
    pub(super) fn is_changed_by(set: &Definition) -> bool {
        !set.allowed_roles.is_empty() || set.when_forbidden.is_some()
    }

    /// Whether this audience is a proper subset of the other.
    fn is_narrower_than(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Everybody, _) => false,
            (Self::Roles(_), Self::Everybody) => true,
            (Self::Roles(own), Self::Roles(others)) => {
                own.len() < others.len() && own.iter().all(|role| others.contains(role))
            }
        }
    }

    /// Sort key: the widest audience first, the narrowest last.
    fn breadth(&self) -> std::cmp::Reverse<usize> {
        std::cmp::Reverse(match self {
            Self::Everybody => usize::MAX,
            Self::Roles(roles) => roles.len(),
        })
    }

    pub fn in_words(&self) -> String {
        match self {
            Self::Everybody => "everybody".into(),
            Self::Roles(roles) => {
                let roles: Vec<String> =
                    roles.iter().map(|role| format!("`{}`", toolcrib_definition::clean_line(role))).collect();
                format!("callers with the role {}", roles.join(" or "))
            }
        }
    }
}

/// Positions of the tools with the same audience, group by group, in the order of their first tools.
pub(super) fn groups(audiences: impl IntoIterator<Item = Audience>) -> Vec<Vec<usize>> {
    let mut groups: IndexMap<Audience, Vec<usize>> = IndexMap::new();
    for (index, audience) in audiences.into_iter().enumerate() {
        groups.entry(audience).or_default().push(index);
    }
    groups.into_values().collect()
}

/// A tool that a caller gets only when no other visible tool shares one of its names.
#[derive(Clone, Debug)]
pub(super) struct Contested {
    /// Number of catalog tools before it.
    pub(super) position: usize,
    pub(super) tool: Arc<Tool>,
    pub(super) claims: Vec<String>,
}

/// The tools that everybody in their audience gets, and the contested ones. All other tools are left out.
pub(super) fn separate(
    tools: Vec<Arc<Tool>>,
    findings: &mut Vec<Finding>,
) -> (Vec<Arc<Tool>>, Vec<Contested>) {
    let outcomes = name_outcomes(&tools, findings);
    let mut kept = Vec::with_capacity(tools.len());
    let mut contested = Vec::new();
    for (tool, fate) in tools.into_iter().zip(outcomes) {
        match fate {
            NameOutcome::Kept => kept.push(tool),
            NameOutcome::Contested => {
                let claims = claims(&tool);
                contested.push(Contested { position: kept.len(), tool, claims });
            }
            NameOutcome::LeftOut => {}
        }
    }
    (kept, contested)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum NameOutcome {
    Kept,
    Contested,
    LeftOut,
}

fn name_outcomes(tools: &[Arc<Tool>], findings: &mut Vec<Finding>) -> Vec<NameOutcome> {
    let mut outcomes = vec![NameOutcome::Kept; tools.len()];
    let audiences: Vec<Audience> = tools.iter().map(|tool| Audience::of_tool(tool)).collect();
    if audiences.iter().all(|audience| *audience == audiences[0]) {
        return outcomes;
    }
    let mut from_widest: Vec<usize> = (0..tools.len()).collect();
    from_widest.sort_by_key(|&index| audiences[index].breadth());
    let mut claimed: HashMap<String, Vec<usize>> = HashMap::with_capacity(tools.len() * 3);
    for index in from_widest {
        let tool = &tools[index];
        let audience = &audiences[index];
        let claims = claims(tool);
        let rivals = claims.iter().flat_map(|claim| Some((claim, claimed.get(claim)?)));
        let rivals = rivals.flat_map(|(claim, holders)| holders.iter().map(move |&rival| (claim, rival)));
        let rivals: Vec<(&String, usize)> =
            rivals.filter(|&(_, rival)| audiences[rival] != *audience).collect();
        let wider = rivals.iter().find(|&&(_, rival)| audience.is_narrower_than(&audiences[rival]));
        if let Some(&(claim, rival)) = wider.or(rivals.first()) {
            findings.push(collision(tool, &tools[rival], claim, wider.is_some()));
        }
        if wider.is_some() {
            outcomes[index] = NameOutcome::LeftOut;
            continue;
        }
        for &(_, rival) in &rivals {
            outcomes[rival] = NameOutcome::Contested;
            outcomes[index] = NameOutcome::Contested;
        }
        for claim in claims {
            claimed.entry(claim).or_default().push(index);
        }
    }
    outcomes
}

/// All names that lead to a tool, in lower case, since some file systems ignore letter case.
fn claims(tool: &Tool) -> Vec<String> {
    let own = [&tool.names.canonical, &tool.names.safe, &tool.names.op, &tool.names.written];
    let mut claims: Vec<String> =
        own.into_iter().chain(&tool.names.aliases).map(|name| name.to_lowercase()).collect();
    claims.sort_unstable();
    claims.dedup();
    claims
}

fn collision(tool: &Tool, other: &Tool, claim: &str, is_left_out: bool) -> Finding {
    let audience = |tool: &Tool| Audience::of_tool(tool).in_words();
    let outcome = if is_left_out { "it is left out" } else { "a caller who may see both gets neither" };
    let message = format!(
        "`{}`, for {}, shares the name `{claim}` with `{}`, for {}; {outcome}",
        tool.names.canonical,
        audience(tool),
        other.names.canonical,
        audience(other),
    );
    let help = "give one tool another name, op or alias, or give both the same `allowed_roles`";
    tool.finding(Code::NameCollision, message).help(help)
}

/// Reports a tool that gets its roles from an overlay for its qualified name. The tool has that name only because other
/// tools share its written name.
pub(super) fn late(tool: &Tool) -> Finding {
    let message = format!(
        "an overlay sets the roles of `{}` by its qualified name, but that name depends on the roles; the tool is left out",
        tool.names.canonical
    );
    let help =
        "give the tool a unique name, or select it by its written name, its `server:` or its `source:`";
    tool.finding(Code::NameCollision, message).help(help)
}

/// Keeps the contested tools that share no name with another contested tool that the same caller sees.
pub(super) fn uncontested(seen: Vec<&Contested>) -> Vec<&Contested> {
    let mut holders: HashMap<&str, Vec<Audience>> = HashMap::new();
    for contested in &seen {
        for claim in &contested.claims {
            let audience = Audience::of_tool(&contested.tool);
            let holders = holders.entry(claim).or_default();
            if !holders.contains(&audience) {
                holders.push(audience);
            }
        }
    }
    let is_alone = |contested: &&Contested| {
        contested.claims.iter().all(|claim| holders.get(claim.as_str()).is_none_or(|all| all.len() == 1))
    };
    seen.into_iter().filter(is_alone).collect()
}
