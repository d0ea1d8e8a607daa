//! Sign-ins of the operator, refreshed before they end: one process at a time, and on a thread that goes on without its caller.

use std::sync::Mutex;
use std::thread::{self, JoinHandle, sleep};
use std::time::{Duration, Instant};

use tokio::sync::oneshot;

use super::authorization_server::{Authorization, RefreshError};
use super::problem::{NotSignedIn, SignInProblem};
use super::sign_in_file::{Place, SignIn};
use super::token::{NO_TOKEN, SecretToken};
use toolcrib_catalog::config::{Server, ServerAuth};
use toolcrib_definition::guard::locked;

/// Refreshes that have begun. An authorization server that rotates refresh tokens has forgotten the old one as soon as it answers,
/// so a program that ended before the new one is stored would end the sign-in.
static REFRESHES: Mutex<Vec<JoinHandle<()>>> = Mutex::new(Vec::new());

/// Waits until no sign-in is being refreshed, at most this long.
pub fn wait_for_refreshes(limit: Duration) {
    let end = Instant::now() + limit;
    while locked(&REFRESHES).iter().any(|refresh| !refresh.is_finished()) && Instant::now() < end {
        sleep(Duration::from_millis(10));
    }
}

/// Refreshes a sign-in on a thread of its own, which goes on when its caller no longer waits or its runtime ends.
pub(super) async fn refresh(
    place: Place,
    server: &Server,
    used: SignIn,
) -> Result<SecretToken, SignInProblem> {
    let failed = || SignInProblem::Refused("the sign-in could not be refreshed".into());
    let auth = server.auth.clone().unwrap_or_default();
    let (sender, outcome) = oneshot::channel();
    let work = move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let refreshed = runtime.map(|runtime| runtime.block_on(refresh_once(&place, &auth, &used)));
        let _ = sender.send(refreshed.unwrap_or_else(|_| Err(failed())));
    };
    {
        let mut refreshes = locked(&REFRESHES);
        refreshes.retain(|refresh| !refresh.is_finished());
        refreshes.push(thread::Builder::new().name("refresh".into()).spawn(work).map_err(|_| failed())?);
    }
    outcome.await.unwrap_or_else(|_| Err(failed()))
}

/// Refreshes a sign-in while no other process does. Where one has done so, its token counts.
async fn refresh_once(place: &Place, auth: &ServerAuth, used: &SignIn) -> Result<SecretToken, SignInProblem> {
    let ended = || SignInProblem::SignIn(NotSignedIn::Ended);
    let _lock = place.lock().await?;
    let latest = place.read()?.ok_or_else(ended)?;
    let token = latest.token();
    if latest.tokens != used.tokens && !latest.is_due() {
        return token.ok_or_else(ended);
    }
    if !latest.is_refreshable() {
        let is_unused = latest.tokens != used.tokens || used.is_due();
        let is_usable = is_unused && latest.seconds_left() > 0;
        return if is_usable { token } else { None }.ok_or_else(ended);
    }
    let refreshed = match Authorization::discover(&latest.url, auth).await {
        Ok(authorization) => authorization.refresh(&latest, auth).await,
        Err(problem) => Err(RefreshError::Failed(problem)),
    };
    match refreshed {
        Ok(refreshed) => {
            place.write(&refreshed)?;
            refreshed.token().ok_or_else(|| SignInProblem::Refused(NO_TOKEN.into()))
        }
        Err(RefreshError::Ended) => {
            place.write(&SignIn { tokens: None, ..latest })?;
            Err(ended())
        }
        Err(RefreshError::Failed(_)) if token.is_some() && used.is_due() && latest.seconds_left() > 0 => {
            token.ok_or_else(ended)
        }
        Err(RefreshError::Failed(problem)) => {
            Err(problem.about("its authorization server gives no new token").into())
        }
    }
}
