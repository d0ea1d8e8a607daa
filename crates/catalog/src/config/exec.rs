//! Settings of calls: the strongest effect allowed, approvals, docs to read before, limits of time and size.

use std::time::Duration;

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::address::is_safe_address;
use toolcrib_definition::Effect;

/// Settings of calls.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(deny_unknown_fields)]
pub struct Exec {
    /// The strongest effect that a call may have: `read`, `write` or `destructive`. Profiles, tokens and sessions may
    /// allow less. When absent, `read`; but a tool of a live server that a client lists by its own name runs over stdio as if
    /// the client had started the server itself, since the client asks its person.
    pub allow: Option<Effect>,
    /// Where a person approves calls first: in the client, if it can ask, or on the command line alone. When absent, in a client
    /// that has started toolcrib over stdio, and for others on the command line.
    pub approve_in: Option<ApprovalPlace>,
    /// The calls for which the session must have read the doc of the tool before.
    pub require_doc: RequireDoc,
    /// The longest result that is returned whole, in bytes; the rest of a longer one is read with `read_result`.
    #[schemars(range(min = 256))]
    pub result_bytes: usize,
    /// Longest silence during a call in seconds, unless its server or program sets a limit. None when absent.
    #[schemars(range(min = 1, max = 86_400))]
    pub call_seconds: Option<u64>,
    /// Whether to believe an untrusted source that claims a tool only reads, by the `server` of its `[[source]]`;
    /// `"*"` is all others.
    pub trust_hints: IndexMap<String, TrustHints>,
}

impl Default for Exec {
    fn default() -> Self {
        Self {
            allow: None,
            approve_in: None,
            require_doc: RequireDoc::Never,
            result_bytes: 32 * 1024,
            call_seconds: None,
            trust_hints: IndexMap::new(),
        }
    }
}

impl Exec {
    /// The strongest effect that a call may have, where no client has asked its person.
    pub fn allow(&self) -> Effect {
        self.allow.unwrap_or(Effect::Read)
    }

    /// Longest silence during a call; `MAX` without a limit.
    pub fn longest_silence(&self) -> Duration {
        self.call_seconds.map_or(Duration::MAX, Duration::from_secs)
    }

    /// Whether to believe a read effect of a tool that claims the server `claimed`, from a source that the operator
    /// calls `named`. Only the operator's own name gives more than the default.
    pub fn trust_hints(&self, named: Option<&str>, claimed: Option<&str>) -> TrustHints {
        let of = |name: Option<&str>| name.and_then(|name| self.trust_hints.get(name)).copied();
        if of(claimed) == Some(TrustHints::Never) {
            return TrustHints::Never;
        }
        of(named).or_else(|| of(Some("*"))).unwrap_or_default()
    }
}

/// Whether to believe a definition, a live server or an HTTP method that claims a tool only reads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TrustHints {
    /// Yes, unless the name or the request of the tool writes or deletes; then the stricter reading counts.
    #[default]
    Checked,
    /// Always.
    Always,
    /// Never; the name of the tool decides.
    Never,
}

/// The calls for which the doc of the tool must have been read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RequireDoc {
    /// No calls.
    #[default]
    Never,
    /// Calls that change something.
    Write,
    /// Calls that cannot be undone.
    Destructive,
    /// All.
    Always,
}

impl RequireDoc {
    /// Whether a call with this effect needs the doc read.
    pub fn covers(self, effect: Effect) -> bool {
        match self {
            RequireDoc::Never => false,
            RequireDoc::Write => effect >= Effect::Write,
            RequireDoc::Destructive => effect >= Effect::Destructive,
            RequireDoc::Always => true,
        }
    }
}

/// The place where a person approves calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ApprovalPlace {
    /// The client, by MCP elicitation, and then the command line.
    Client,
    /// The command line: `toolcrib approvals`.
    Command,
}

/// Notices about calls that wait for a person, for people who are elsewhere.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(deny_unknown_fields)]
pub struct ApprovalNotice {
    /// The address that gets a POST with each new call that waits, without its arguments.
    pub webhook: Option<String>,
    /// The secret that signs each POST with HMAC-SHA256, in the headers of Standard Webhooks; `${NAME}` stands for the
    /// environment variable `NAME`.
    pub secret: Option<String>,
}

impl ApprovalNotice {
    /// The first mistake in these settings, with its field; `None` without a mistake.
    pub(super) fn problem(&self) -> Option<(String, &'static str)> {
        match (&self.webhook, &self.secret) {
            (Some(url), _) if !is_safe_address(url) => {
                Some(("webhook".into(), "this should be an https address, or an http one of this machine"))
            }
            (Some(_), None) => Some(("secret".into(), "set `secret`, so that the receiver knows the sender")),
            _ => None,
        }
    }
}
