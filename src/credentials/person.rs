//! Sign-ins of the operator: read when they change, refreshed before they end, one process at a time.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use super::authorization::{Authorization, RefreshError};
use super::http::{MAX_SCOPES, scopes_of};
use super::sign_in_file::{Place, SignIn, Stamp};
use super::{CallerToken, Refused, SecretToken, SignInProblem, is_unknown_client};
use crate::config::{Server, ServerAuth};

/// The reason before the first sign-in.
const NOBODY: &str = "nobody has signed in to it";

/// The sign-ins of the operator.
#[derive(Debug, Default)]
pub(super) struct Person {
    /// The folder of their files.
    pub(super) folder: Option<PathBuf>,
    /// Files as they were read last.
    known: Mutex<HashMap<Place, (Stamp, Arc<SignIn>)>>,
}

impl Person {
    pub(super) fn stored_in(folder: PathBuf) -> Self {
        Self { folder: Some(folder), known: Mutex::default() }
    }

    /// The token of the operator, refreshed where it is soon to end; `None` where nobody has signed in, and for callers
    /// that it is not for.
    pub(super) async fn token(
        &self,
        server: (&str, &Server),
        caller: Option<&CallerToken>,
    ) -> Result<Option<SecretToken>, SignInProblem> {
        let place = self.place(server).filter(|_| is_for(server.1, caller));
        let Some(place) = place else { return Ok(None) };
        match self.current(&place, server) {
            Some(sign_in) if sign_in.is_due() => refresh(place, server.1, sign_in).await.map(Some),
            sign_in => Ok(sign_in.and_then(|sign_in| sign_in.token())),
        }
    }

    /// A new token in place of a refused one, and the reason where there is none.
    pub(super) async fn rejected(
        &self,
        server: (&str, &Server),
        caller: Option<&CallerToken>,
        refused: Refused<'_>,
    ) -> Result<Option<SecretToken>, SignInProblem> {
        if !is_for(server.1, caller) {
            return Err(SignInProblem::NotShared);
        }
        let scopes = refused.challenge.map(scopes_of).unwrap_or_default();
        let place = self.place(server).ok_or_else(|| sign_in(NOBODY, scopes.clone()))?;
        let Some(current) = self.current(&place, server) else {
            let ended = place.read().ok().flatten().is_some();
            let reason = if ended { "the sign-in to it has ended" } else { NOBODY };
            return Err(sign_in(reason, scopes));
        };
        if refused.status == 403 {
            want(&place, &scopes).await;
            let reason = format!("the sign-in to it does not cover this: it asks for {}", scopes.join(" "));
            return Err(sign_in(&reason, scopes));
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
    fn current(&self, place: &Place, (_, server): (&str, &Server)) -> Option<Arc<SignIn>> {
        let stamp = place.stamp()?;
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let found = match known.get(place) {
            Some((read, sign_in)) if *read == stamp => Arc::clone(sign_in),
            _ => {
                let read =
                    place.read().map_err(|problem| tracing::warn!(problem, "a sign-in does not count"));
                let sign_in = Arc::new(read.ok()??);
                known.insert(place.clone(), (stamp, Arc::clone(&sign_in)));
                sign_in
            }
        };
        drop(known);
        let client = server.auth.as_ref().and_then(|auth| auth.client_id.as_deref());
        let is_ours = client.is_none_or(|id| id == found.client_id);
        let is_there = Some(&found.url) == server.url.as_ref();
        (is_ours && is_there && found.tokens.is_some()).then_some(found)
    }
}

/// Whether the operator's sign-in is for a caller.
fn is_for(server: &Server, caller: Option<&CallerToken>) -> bool {
    caller.is_none() || server.auth.as_ref().is_some_and(|auth| auth.shared)
}

fn sign_in(reason: &str, scopes: Vec<String>) -> SignInProblem {
    SignInProblem::SignIn { reason: reason.into(), is_first: reason == NOBODY, scopes }
}

/// Refreshes a sign-in in a task of its own: a caller that no longer waits must not lose the new refresh token.
async fn refresh(place: Place, server: &Server, used: Arc<SignIn>) -> Result<SecretToken, SignInProblem> {
    let auth = server.auth.clone().unwrap_or_default();
    let task = tokio::spawn(async move { refresh_alone(&place, &auth, &used).await });
    task.await.unwrap_or_else(|_| Err(SignInProblem::Refused("the sign-in could not be refreshed".into())))
}

/// Refreshes a sign-in while no other process does. Where one has done so, its token counts.
async fn refresh_alone(
    place: &Place,
    auth: &ServerAuth,
    used: &SignIn,
) -> Result<SecretToken, SignInProblem> {
    let refused = SignInProblem::Refused;
    let _lock = place.lock().await.map_err(refused)?;
    let ended = || sign_in("the sign-in to it has ended", used.scopes.clone());
    let latest = place.read().map_err(refused)?.ok_or_else(ended)?;
    let token = latest.token().ok_or_else(ended)?;
    if latest.tokens != used.tokens && !latest.is_due() {
        return Ok(token);
    }
    if !latest.is_refreshable() {
        let is_unused = latest.tokens != used.tokens || used.is_due();
        return if is_unused && latest.seconds_left() > 0 { Ok(token) } else { Err(ended()) };
    }
    let refreshed = match Authorization::discover(&latest.url, auth).await {
        Ok(authorization) => authorization.refresh(&latest).await,
        Err(problem) => Err(RefreshError::Failed(problem)),
    };
    // Where the authorization server has forgotten the client that registered itself, the next sign-in registers another one.
    let is_forgotten = |problem: &str| auth.client_id.is_none() && is_unknown_client(problem);
    let has_ended = match &refreshed {
        Err(RefreshError::Failed(problem)) => is_forgotten(problem),
        Err(RefreshError::Ended) => true,
        Ok(_) => false,
    };
    if has_ended {
        place.write(&SignIn { tokens: None, ..latest }).map_err(refused)?;
        return Err(ended());
    }
    match refreshed {
        Ok(refreshed) => {
            place.write(&refreshed).map_err(refused)?;
            refreshed.token().ok_or_else(ended)
        }
        Err(RefreshError::Ended) => Err(ended()),
        Err(RefreshError::Failed(_)) if used.is_due() && latest.seconds_left() > 0 => Ok(token),
        Err(RefreshError::Failed(problem)) => {
            let reason = format!("its authorization server gives no new token: {problem}");
            Err(SignInProblem::of_authorization_server(reason))
        }
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
        tracing::warn!(problem, "the scopes of the next sign-in are not noted");
    }
}
