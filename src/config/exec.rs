//! How calls are run: how far they may go, what has to be read before, how large a result may be.

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::tool::Effect;

/// How calls are run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(deny_unknown_fields)]
pub struct Exec {
    /// The most that a call may change: `read`, `write` or `destructive`. Profiles, tokens and sessions may say less.
    pub allow: Effect,
    /// Which calls need that their tool's doc was read before, in the session.
    pub require_doc: RequireDoc,
    /// The longest result that is returned whole; the rest of a longer one is read with `read_result`.
    #[schemars(range(min = 256))]
    pub result_bytes: usize,
    /// How long a call may take, whatever its server says.
    #[schemars(range(min = 1, max = 86_400))]
    pub call_seconds: u64,
    /// How long all calls of a batch may take together.
    #[schemars(range(min = 1, max = 86_400))]
    pub batch_seconds: u64,
    /// How long a call waits for a person before it is forgotten.
    #[schemars(range(min = 1))]
    pub approval_minutes: u64,
    /// Whether a read effect counts that an untrusted source claims, by the `server` of its `[[source]]`; `"*"` is all others.
    pub trust_hints: IndexMap<String, TrustHints>,
}

/// Whether a read effect counts that a definition, a live server or an HTTP method claims.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TrustHints {
    /// Unless the name or the request of the tool writes or deletes; then the stricter reading counts.
    #[default]
    Checked,
    /// Always.
    Always,
    /// Never; the name of the tool decides.
    Never,
}

/// Which calls need that their tool's doc was read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RequireDoc {
    /// None.
    #[default]
    Never,
    /// Those that change something.
    Write,
    /// Those that cannot be brought back.
    Destructive,
    /// All.
    Always,
}

impl Default for Exec {
    fn default() -> Self {
        Self {
            allow: Effect::Read,
            require_doc: RequireDoc::Never,
            result_bytes: 32 * 1024,
            call_seconds: 30,
            batch_seconds: 60,
            approval_minutes: 60,
            trust_hints: IndexMap::new(),
        }
    }
}

impl Exec {
    /// How far a read effect is believed of a tool that says to belong to the server `claimed`, from a source that the
    /// operator calls `named`. Only the operator's own name gives more than the default.
    pub fn trust_hints(&self, named: Option<&str>, claimed: Option<&str>) -> TrustHints {
        let of = |name: Option<&str>| name.and_then(|name| self.trust_hints.get(name)).copied();
        if of(claimed) == Some(TrustHints::Never) {
            return TrustHints::Never;
        }
        of(named).or_else(|| of(Some("*"))).unwrap_or_default()
    }
}

impl RequireDoc {
    /// Whether a call with this effect needs it.
    pub fn covers(self, effect: Effect) -> bool {
        match self {
            RequireDoc::Never => false,
            RequireDoc::Write => effect >= Effect::Write,
            RequireDoc::Destructive => effect >= Effect::Destructive,
            RequireDoc::Always => true,
        }
    }
}
