//! Request headers that a provider needs for what was bound (docs/reference/wires.md, Headers).

use serde::Serialize;

/// A header to send with a payload.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct RequestHeader {
    /// Its name.
    pub name: &'static str,
    /// Its value.
    pub value: &'static str,
    /// The parts of the payload that need it.
    pub reason: String,
}

impl RequestHeader {
    /// The header, if any of its reasons holds.
    pub(super) fn needed(
        name: &'static str,
        value: &'static str,
        reasons: &[(&'static str, bool)],
    ) -> Option<Self> {
        let holding: Vec<&str> =
            reasons.iter().filter(|(_, holds)| *holds).map(|(reason, _)| *reason).collect();
        (!holding.is_empty()).then(|| Self { name, value, reason: holding.join(", ") })
    }
}
