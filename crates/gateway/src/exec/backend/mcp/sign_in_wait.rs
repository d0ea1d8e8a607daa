//! A call that waits for a sign-in: its client is asked to open an address, and the call goes on afterwards.

use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{CustomNotification, ElicitRequestParams, ServerNotification};
use tokio::time::timeout;

use crate::caller::Caller;
use toolcrib_catalog::config::Server;
use toolcrib_front::credentials::{Credentials, OfferedSignIn};
use toolcrib_front::mcp::{Question, RequestOrigin, ask, bound};

/// Whether the sign-in of the operator is for this caller: one without a name, or any caller if the sign-in is shared.
pub(super) fn may_share(server: &Server, caller: &Caller) -> bool {
    caller.name.is_empty() || server.auth.as_ref().is_some_and(|auth| auth.shared)
}

/// The state of our question in the newer version of MCP.
const STATE: &str = "toolcrib/sign-in";

/// The name of the question.
const QUESTION: &str = "sign-in";

/// The outcome of asking a person.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asked {
    /// Nobody can be asked, or the person has not signed in.
    No,
    /// The question is the answer to the client, which sends the call again.
    Question,
    /// The person has signed in.
    SignedIn,
}

/// The person behind one call of a server's tool.
pub(super) struct Person<'c> {
    credentials: &'c Credentials,
    server: (&'c str, &'c Server),
    origin: Option<&'c Arc<RequestOrigin>>,
    /// Whether it was asked already.
    was_asked: bool,
}

impl<'c> Person<'c> {
    /// The person at the client of this caller, where the operator's sign-in is for it. Callers with a name of their own are
    /// elsewhere: the browser comes back to this machine.
    pub(super) fn of(
        credentials: &'c Credentials,
        server: (&'c str, &'c Server),
        caller: &'c Caller,
    ) -> Self {
        let is_here = caller.name.is_empty() && may_share(server.1, caller);
        let origin = if is_here { caller.origin.as_ref() } else { None };
        Self { credentials, server, origin, was_asked: false }
    }

    /// Waits for a sign-in that an earlier answer to this call has asked for.
    pub(super) async fn answered(&mut self) {
        let Some(responses) = self.origin.and_then(|origin| origin.take_own_input(self.server.0, STATE))
        else {
            return;
        };
        self.was_asked = true;
        let action = responses.get(QUESTION).and_then(|response| response.get("action"));
        if action.and_then(|action| action.as_str()) == Some("accept") {
            self.credentials.offered_sign_in_ended(self.server).await;
        }
    }

    /// Asks the person to sign in. The authorization server gets this time for its offer.
    pub async fn ask(&mut self, time: Duration) -> Asked {
        let Some(origin) = self.origin.filter(|origin| origin.takes_addresses()) else { return Asked::No };
        if std::mem::replace(&mut self.was_asked, true) {
            return Asked::No;
        }
        let is_older = origin.session().is_some();
        if !is_older && !origin.may_require_input() {
            return Asked::No;
        }
        let Ok(Ok(offered)) = timeout(time, self.credentials.offer_sign_in(self.server)).await else {
            return Asked::No;
        };
        let question = self.question(offered.address());
        let id = elicitation_id(offered.address());
        if !is_older {
            let state = bound(self.server.0, Some(STATE.into()));
            origin.require_input(question.required(QUESTION, state));
            return Asked::Question;
        }
        tokio::spawn(tell_end(Arc::clone(origin), offered.clone(), id));
        let agrees = ask(origin, question).await.is_ok_and(|answer| answer["action"] == "accept");
        if agrees && offered.ended().await { Asked::SignedIn } else { Asked::No }
    }

    fn question(&self, address: &str) -> Question {
        let message = format!("The server `{}` needs you to sign in. Open this address.", self.server.0);
        Question::elicitation(ElicitRequestParams::UrlElicitationParams {
            meta: None,
            message,
            url: address.into(),
            elicitation_id: elicitation_id(address),
        })
    }
}

/// The id of the question to open an address.
fn elicitation_id(address: &str) -> String {
    blake3::hash(address.as_bytes()).to_hex()[..32].into()
}

/// Tells the client of the older version of MCP when its person has signed in, also after the call has ended.
async fn tell_end(origin: Arc<RequestOrigin>, offered: OfferedSignIn, id: String) {
    if offered.ended().await {
        let params = serde_json::json!({ "elicitationId": id });
        let end = CustomNotification::new("notifications/elicitation/complete", Some(params));
        origin.tell(ServerNotification::CustomNotification(end)).await;
    }
}
