//! Settings of calls: the strongest effect allowed, docs to read before, limits of time and size.

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::tool::Effect;

/// Longest time of all calls of a batch together, in seconds.
pub const BATCH_SECONDS: u64 = 60;

/// Settings of calls.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(deny_unknown_fields)]
pub struct Exec {
    /// The strongest effect that a call may have: `read`, `write` or `destructive`. Profiles, tokens and sessions may
    /// allow less. When absent, `read`; but a tool of a live server that a client lists by its own name runs over stdio as if
    /// the client had started the server itself, since the client asks its person.
    pub allow: Option<Effect>,
    /// The calls for which the session must have read the doc of the tool before.
    pub require_doc: RequireDoc,
    /// The longest result that is returned whole, in bytes; the rest of a longer one is read with `read_result`.
    #[schemars(range(min = 256))]
    pub result_bytes: usize,
    /// Longest time of a call in seconds, whatever its server allows.
    #[schemars(range(min = 1, max = 86_400))]
    pub call_seconds: u64,
    /// Minutes that a call waits for a person before it expires.
    #[schemars(range(min = 1))]
    pub approval_minutes: u64,
    /// Whether to believe an untrusted source that claims a tool only reads, by the `server` of its `[[source]]`;
    /// `"*"` is all others.
    pub trust_hints: IndexMap<String, TrustHints>,
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

impl Default for Exec {
    fn default() -> Self {
        Self {
            allow: None,
            require_doc: RequireDoc::Never,
            result_bytes: 32 * 1024,
            call_seconds: 30,
            approval_minutes: 60,
            trust_hints: IndexMap::new(),
        }
    }
}

impl Exec {
    /// The strongest effect that a call may have, where no client has asked its person.
    pub fn allow(&self) -> Effect {
        self.allow.unwrap_or(Effect::Read)
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
