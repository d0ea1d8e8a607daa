//! The one answer to "is this secret?". Dry runs, traces, errors, examples and approvals all ask here.
//!
//! 1. [`applied`](crate::schema::applied) reads the marks of a JSON Schema: `format: password`, `writeOnly`, `x-secret`.
//! 2. Words in a name show that its value is secret ([`secret_names`]); [`credentials`] are hidden within texts.
//! 3. [`Echo`] finds a secret that a server repeats, however it was encoded on its way.
//! 4. [`SecretPolicy`] is all of that, with the operator's rules, applied to a value ([`redacted`]), to a [`command_line`],
//!    and to messages ([`concealed`]).

mod command_line;
mod concealed;
mod credentials;
mod echo;
mod policy;
mod redacted;
mod secret_names;
#[cfg(test)]
mod tests;

pub use credentials::{REDACTED, holds_credential};
pub use echo::Echo;
pub use policy::SecretPolicy;
pub use redacted::Hidden;

pub use crate::schema::applied::declared_names;
