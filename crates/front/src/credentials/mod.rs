//! Tokens for servers: who signs in to them, where tokens lie, and how they stay valid.
//!
//! 1. [`Credentials`] answers one question: the token of a server, for the operator or for a caller ([`tokens`]).
//! 2. A server is called as the operator who has signed in ([`person`], [`refresh`]), as a [`service`] (client credentials), or
//!    with the caller's own token ([`mod@identity`]).
//! 3. The operator signs in ([`sign_in`], [`offered`]) and out ([`sign_out`]): [`redirect_listener`] is the address that the
//!    browser comes back to, [`authorization_server`] is found and asked, and [`sign_in_file`] keeps the tokens.
//! 4. Requests go over [`http`]; [`mod@issuer_metadata`] and each [`challenge`] of a server are read from their answers.
//! 5. A [`SecretToken`] shows its value to a request alone. A [`SignInProblem`] explains a missing token, with [`reasons`] of
//!    the authorization server.

mod authorization_server;
mod challenge;
mod http;
mod identity;
mod issuer_metadata;
mod offered;
mod person;
mod problem;
mod reasons;
mod redirect_listener;
mod refresh;
mod service;
mod sign_in;
mod sign_in_file;
mod sign_out;
mod token;
mod tokens;

pub use challenge::Refused;
pub use http::document;
pub use identity::{acts_as, identity, wants_caller_token};
pub use issuer_metadata::issuer_metadata;
pub use offered::OfferedSignIn;
pub use problem::{NotSignedIn, SignInProblem};
pub use reasons::SignInError;
pub use refresh::wait_for_refreshes;
pub use sign_in::PendingSignIn;
pub use sign_in_file::SignIn;
pub(crate) use sign_in_file::SignInVersion;
pub use token::{CallerToken, SecretToken};
pub use tokens::Credentials;
