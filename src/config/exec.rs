//! How calls are run: how far they may go, what has to be read before, how large a result may be.

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
        }
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
