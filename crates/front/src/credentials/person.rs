//! The operator as the one who calls servers: the token of a sign-in, and another one where a server refuses it.

use std::path::PathBuf;

use super::challenge::{MAX_SCOPES, Refused, scopes_of};
use super::identity::is_for_caller;
use super::problem::{NotSignedIn, SignInProblem};
use super::refresh::refresh;
use super::sign_in_file::{Place, SignIn};
use super::token::{CallerToken, SecretToken};
use toolcrib_catalog::config::Server;

/// The sign-ins of the operator.
#[derive(Debug, Default)]
pub(super) struct Person {
    /// The folder of their files.
    pub(super) folder: Option<PathBuf>,
}

impl Person {
    /// The token of the operator, refreshed where it is soon to end; `None` where nobody has signed in, and for callers
    /// that it is not for.
    pub(super) async fn token(
        &self,
        server: (&str, &Server),
        caller: Option<&CallerToken>,
    ) -> Result<Option<SecretToken>, SignInProblem> {
        let Some(place) = self.place(server) else { return Ok(None) };
        if !is_for_caller(server.1, caller) {
            return Ok(None);
        }
        match self.current(&place, server) {
            Some(sign_in) if sign_in.is_due() => refresh(place, server.1, sign_in).await.map(Some),
            sign_in => Ok(sign_in.and_then(|sign_in| sign_in.token())),
        }
    }

    /// A new token in place of a rejected one, or why there is no new token.
    pub(super) async fn rejected(
        &self,
        server: (&str, &Server),
        caller: Option<&CallerToken>,
        refused: Refused<'_>,
    ) -> Result<Option<SecretToken>, SignInProblem> {
        if !is_for_caller(server.1, caller) {
            return Err(SignInProblem::NotShared);
        }
        let scopes = refused.challenge.map(scopes_of).unwrap_or_default();
        let place = self.place(server).ok_or(NotSignedIn::Never)?;
        let Some(current) = self.current(&place, server) else {
            let ended = place.read().ok().flatten().is_some();
            return Err(if ended { NotSignedIn::Ended } else { NotSignedIn::Never }.into());
        };
        if refused.status == 403 {
            want(&place, &scopes).await;
            return Err(NotSignedIn::NotEnough(scopes).into());
        }
        match current.token() {
            Some(token) if refused.token != Some(&token) => Ok(Some(token)),
            _ => refresh(place, server.1, current).await.map(Some),
        }
    }

    /// Whether the operator is signed in to a server.
    pub(super) fn is_signed_in(&self, server: (&str, &Server)) -> bool {
        self.place(server).is_some_and(|place| self.current(&place, server).is_some())
    }

    pub(super) fn place(&self, (name, server): (&str, &Server)) -> Option<Place> {
        Some(Place::new(self.folder.as_ref()?, (name, server.url.as_deref()?)))
    }

    /// The sign-in to a server, unless it has ended or was made with another client.
    fn current(&self, place: &Place, (_, server): (&str, &Server)) -> Option<SignIn> {
        let read = place.read();
        let found = read.map_err(|problem| tracing::warn!(%problem, "a sign-in does not count")).ok()??;
        let client = server.auth.as_ref().and_then(|auth| auth.client_id.as_deref());
        let is_ours = client.is_none_or(|id| id == found.client_id);
        let is_there = Some(&found.url) == server.url.as_ref();
        (is_ours && is_there && found.tokens.is_some()).then_some(found)
    }
}

/// Notes the scopes that the next sign-in asks for.
async fn want(place: &Place, scopes: &[String]) {
    let Ok(_lock) = place.lock().await else { return };
    let Ok(Some(mut sign_in)) = place.read() else { return };
    let new: Vec<String> = scopes.iter().filter(|scope| !sign_in.wanted.contains(scope)).cloned().collect();
    if new.is_empty() {
        return;
    }
    sign_in.wanted.extend(new);
    // A server may ask for others each time.
    let surplus = sign_in.wanted.len().saturating_sub(MAX_SCOPES);
    sign_in.wanted.drain(..surplus);
    if let Err(problem) = place.write(&sign_in) {
        tracing::warn!(%problem, "the scopes of the next sign-in are not noted");
    }
}
