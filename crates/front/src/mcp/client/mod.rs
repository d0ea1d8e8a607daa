//! Clients that servers may ask, and whose requests are behind ours.
//!
//! 1. A [`ClientSession`] is a client that servers can ask; a [`ServerMessage`] goes to it.
//! 2. A [`RequestOrigin`] is the client's request behind one of ours: its metadata, its answers to earlier questions, and the
//!    way back to the client.
//!    A question of a server passes through [`question`] first.
//! 3. [`RequestRoutes`] finds the client of each message of a server, and the [`Handler`] of a connection asks it.

mod client_session;
mod handler;
mod question;
mod request_origin;
mod routes;

pub use client_session::{ClientSession, ServerMessage, to_client};
pub(super) use client_session::{CurrentClient, until_client};
pub(super) use handler::{Handler, follow_client};
pub use question::Question;
pub(super) use question::{Asker, cleaned};
pub(super) use request_origin::Answers;
pub use request_origin::{ClientInput, RequestOrigin, ask, bound};
pub(super) use routes::{Heard, RequestRoutes, RoutedTransport};
