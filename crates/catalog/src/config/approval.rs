//! Settings of approvals: where people approve calls, and how they learn of them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::address::is_safe_address;

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
