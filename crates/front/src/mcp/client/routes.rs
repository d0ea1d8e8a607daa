//! The client whose request is in progress, for each message of a server; and a transport that routes messages in their order.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use indexmap::IndexMap;
use rmcp::RoleClient;
use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ClientRequest, GetExtensions, GetMeta, ProgressToken,
    RequestId, ServerJsonRpcMessage, ServerNotification,
};
use rmcp::transport::Transport;
use tokio::sync::Notify;
use tokio::time::timeout;

use super::super::pace::{MAX_NOTIFICATIONS, Pace};
use super::client_session::{ClientSession, CurrentClient, ServerMessage, ToClient};
use super::request_origin::RequestOrigin;
use toolcrib_definition::guard::locked;

/// Most requests in progress that are known; a server may leave cancelled ones without an answer.
const MAX_ROUTES: usize = 4_096;

/// The requests in progress, with the clients that they were made for.
pub(in crate::mcp) struct RequestRoutes {
    routes: Mutex<Routes>,
    /// The client of the whole connection, where there is one.
    pub(super) client: CurrentClient,
    /// The client whose capabilities were declared.
    pub(in crate::mcp) declared: Option<Arc<ClientSession>>,
    /// Has the tools of the server listed again.
    pub(in crate::mcp) changed: Notify,
}

#[derive(Default)]
struct Routes {
    in_progress: IndexMap<RequestId, Route>,
    /// All requests that wait for an answer, also our own.
    unanswered: Vec<RequestId>,
    /// The server's requests whose answers it has not taken yet.
    untaken: Vec<RequestId>,
    /// The first two callers who have used the connection.
    callers: Vec<Arc<str>>,
    /// The reason why the connection was ended here.
    end: Option<String>,
}

struct Route {
    token: Option<ProgressToken>,
    /// `None` where no client waits for messages.
    to_client: Option<ToClient>,
    heard: Option<Arc<Heard>>,
}

/// Notified whenever the server sends something about one request.
#[derive(Debug, Default)]
pub(in crate::mcp) struct Heard(Notify);

impl RequestRoutes {
    pub(super) fn new(client: CurrentClient) -> Self {
        let declared = client.borrow().clone();
        Self { routes: Mutex::default(), client, declared, changed: Notify::new() }
    }

    /// The reason why the connection was ended here.
    pub(in crate::mcp) fn end(&self) -> Option<String> {
        locked(&self.routes).end.clone()
    }

    /// Ends the connection for this reason: nothing more is read from it.
    pub(in crate::mcp) fn end_for(&self, reason: String) {
        locked(&self.routes).end.get_or_insert(reason);
    }

    /// Waits until the server says nothing about a request for this long, and no request of its own waits for an answer.
    pub(in crate::mcp) async fn silent(&self, heard: &Heard, time: Duration) {
        while timeout(time, heard.0.notified()).await.is_ok() || !locked(&self.routes).untaken.is_empty() {}
    }

    /// Notes a request of the server; false where too many have no answer yet.
    fn takes_request(&self, message: &ServerJsonRpcMessage) -> bool {
        let untaken = &mut locked(&self.routes).untaken;
        match message {
            ServerJsonRpcMessage::Request(request) => untaken.push(request.id.clone()),
            ServerJsonRpcMessage::Notification(message) => {
                if let ServerNotification::CancelledNotification(cancelled) = &message.notification {
                    forget_one(untaken, cancelled.params.request_id.as_ref());
                }
            }
            _ => {}
        }
        untaken.len() <= MAX_UNANSWERED
    }

    /// The client of this request, else of the latest one.
    pub(super) fn to_client(&self, request: Option<&RequestId>) -> Option<ToClient> {
        let routes = &locked(&self.routes).in_progress;
        let named = request.and_then(|id| routes.get(id)?.to_client.clone());
        named.or_else(|| routes.values().rev().find_map(|route| route.to_client.clone()))
    }

    /// The request that waits for an answer, if there is just one.
    pub(in crate::mcp) fn only_unanswered(&self) -> Option<RequestId> {
        match &locked(&self.routes).unanswered[..] {
            [only] => Some(only.clone()),
            _ => None,
        }
    }

    fn sent(&self, message: &ClientJsonRpcMessage) {
        let sent = match message {
            ClientJsonRpcMessage::Request(sent) => sent,
            ClientJsonRpcMessage::Notification(message) => {
                if let ClientNotification::CancelledNotification(cancelled) = &message.notification {
                    forget_one(&mut locked(&self.routes).unanswered, cancelled.params.request_id.as_ref());
                }
                return;
            }
            _ => return,
        };
        let Routes { in_progress, callers, unanswered, .. } = &mut *locked(&self.routes);
        // A subscription is answered at its end.
        let is_listening = matches!(sent.request, ClientRequest::SubscriptionsListenRequest(_));
        if !is_listening && unanswered.len() < MAX_ROUTES {
            unanswered.push(sent.id.clone());
        }
        let origin = sent.request.extensions().get::<Arc<RequestOrigin>>();
        // Other requests of our own, such as lists and subscriptions, cause no messages.
        if origin.is_none() && !matches!(sent.request, ClientRequest::CallToolRequest(_)) {
            return;
        }
        let caller = origin.map(|origin| Arc::clone(&origin.caller)).unwrap_or_default();
        if callers.len() < 2 && !callers.contains(&caller) {
            callers.push(caller);
        }
        if in_progress.len() >= MAX_ROUTES {
            in_progress.shift_remove_index(0);
        }
        let token = sent.request.get_meta().get_progress_token();
        let to_client = origin.map(|origin| origin.messages.clone());
        let heard = sent.request.extensions().get::<Arc<Heard>>().cloned();
        in_progress.insert(sent.id.clone(), Route { token, to_client, heard });
    }

    /// Routes progress, which names its request. A log message names none: it is for the client of the connection, or for
    /// the only request in progress. It may be late, and so goes to nobody once several callers have used the connection.
    fn received(&self, message: &ServerJsonRpcMessage) {
        let ended = match message {
            ServerJsonRpcMessage::Response(response) => Some(&response.id),
            ServerJsonRpcMessage::Error(error) => error.id.as_ref(),
            _ => None,
        };
        let Routes { in_progress: routes, callers, unanswered, .. } = &mut *locked(&self.routes);
        forget_one(unanswered, ended);
        if let Some(id) = ended {
            routes.shift_remove(id);
        }
        let ServerJsonRpcMessage::Notification(message) = message else { return };
        let client = self.client.borrow();
        let mut of_client = None;
        let route = match &message.notification {
            ServerNotification::ProgressNotification(progress) => {
                let token = Some(&progress.params.progress_token);
                routes.values().find(|route| route.token.as_ref() == token)
            }
            ServerNotification::LoggingMessageNotification(_) | ServerNotification::CustomNotification(_) => {
                of_client = client.as_ref().map(|client| &client.messages);
                let is_certain = of_client.is_some() || (routes.len() == 1 && callers.len() < 2);
                let latest = routes.values().rfind(|route| route.to_client.is_some());
                if is_certain { latest } else { None }
            }
            _ => return,
        };
        if let Some(heard) = route.and_then(|route| route.heard.as_ref()) {
            heard.0.notify_one();
        }
        if let Some(to_client) = route.and_then(|route| route.to_client.as_ref()).or(of_client) {
            let _ = to_client.try_send(ServerMessage::Notification(Box::new(message.notification.clone())));
        }
    }

    /// Ends the route of a request that nobody waits for. The server may work on it still: it stays among the requests in
    /// progress, so that no log message of it goes to another client.
    pub(in crate::mcp) fn forget(&self, id: &RequestId) {
        if let Some(route) = locked(&self.routes).in_progress.get_mut(id) {
            route.to_client = None;
        }
    }
}

fn forget_one(unanswered: &mut Vec<RequestId>, id: Option<&RequestId>) {
    if let Some(at) = unanswered.iter().position(|known| Some(known) == id) {
        unanswered.swap_remove(at);
    }
}

/// Most requests of a server whose answers it has not taken.
const MAX_UNANSWERED: usize = 256;

/// A transport with its routes.
pub(in crate::mcp) struct RoutedTransport<T> {
    inner: T,
    routes: Arc<RequestRoutes>,
    notifications: Pace,
}

impl<T> RoutedTransport<T> {
    pub(in crate::mcp) fn new(inner: T, routes: &Arc<RequestRoutes>) -> Self {
        Self { inner, routes: Arc::clone(routes), notifications: Pace::new(MAX_NOTIFICATIONS) }
    }
}

impl<T: Transport<RoleClient>> Transport<RoleClient> for RoutedTransport<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        message: ClientJsonRpcMessage,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        self.routes.sent(&message);
        let answered = match &message {
            ClientJsonRpcMessage::Response(response) => Some(response.id.clone()),
            ClientJsonRpcMessage::Error(error) => error.id.clone(),
            _ => None,
        };
        let sending = self.inner.send(message);
        let routes = Arc::clone(&self.routes);
        async move {
            let sent = sending.await;
            forget_one(&mut locked(&routes.routes).untaken, answered.as_ref());
            sent
        }
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        self.notifications.wait().await;
        let message = self.inner.receive().await?;
        self.notifications.count(usize::from(matches!(message, ServerJsonRpcMessage::Notification(_))));
        if !self.routes.takes_request(&message) {
            self.routes.end_for(format!("it sent over {MAX_UNANSWERED} requests and took no answer"));
            return None;
        }
        self.routes.received(&message);
        Some(message)
    }

    fn close(&mut self) -> impl Future<Output = Result<(), Self::Error>> + Send {
        self.inner.close()
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;
    use rmcp::model::{
        CallToolRequest, CallToolRequestParams, ClientResult, NumberOrString, RequestMetaObject,
    };
    use serde_json::json;
    use tokio::sync::watch;

    use super::super::to_client;
    use super::*;

    /// A call of this caller, sent and answered.
    fn called(
        routes: &RequestRoutes,
        id: i64,
        caller: &Arc<str>,
    ) -> tokio::sync::mpsc::Receiver<ServerMessage> {
        let (messages, received) = to_client();
        let mut call = CallToolRequest::new(CallToolRequestParams::new("read"));
        let origin = RequestOrigin::new(RequestMetaObject::new(), None, messages).of_caller(caller);
        call.extensions.insert(Arc::new(origin));
        let id = NumberOrString::Number(id);
        routes.sent(&ClientJsonRpcMessage::request(ClientRequest::CallToolRequest(call), id));
        received
    }

    fn log(routes: &RequestRoutes) {
        let message = json!({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "late"}});
        routes.received(&serde_json::from_value(message).unwrap());
    }

    fn answered(routes: &RequestRoutes, id: i64) {
        let message = json!({"jsonrpc": "2.0", "id": id, "result": {"content": []}});
        routes.received(&serde_json::from_value(message).unwrap());
    }

    #[test]
    fn a_late_log_message_reaches_no_other_caller() {
        let routes = RequestRoutes::new(watch::channel(None).1);
        let amy = Arc::from("amy");
        let bob = Arc::from("bob");
        let mut first = called(&routes, 1, &amy);
        log(&routes);
        assert!(first.try_recv().is_ok());
        answered(&routes, 1);
        let mut second = called(&routes, 2, &amy);
        log(&routes);
        assert!(second.try_recv().is_ok(), "all is for one caller");
        answered(&routes, 2);
        let mut other = called(&routes, 3, &bob);
        log(&routes);
        assert!(other.try_recv().is_err(), "it may be about a call of the first caller");
        answered(&routes, 3);
        let mut again = called(&routes, 4, &amy);
        log(&routes);
        assert!(again.try_recv().is_err());
    }

    #[test]
    fn a_request_is_silent_without_progress_and_questions_of_its_server() {
        const TIME: Duration = Duration::from_millis(20);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let routes = RequestRoutes::new(watch::channel(None).1);
            let heard = Arc::<Heard>::default();
            let mut call = CallToolRequest::new(CallToolRequestParams::new("read"));
            call.extensions.insert(Arc::clone(&heard));
            let mut call = ClientRequest::CallToolRequest(call);
            call.get_meta_mut().set_progress_token(ProgressToken(NumberOrString::Number(7)));
            routes.sent(&ClientJsonRpcMessage::request(call, NumberOrString::Number(1)));
            let progress = |token: i64| {
                let params = json!({"progressToken": token, "progress": 1});
                let note = json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": params});
                routes.received(&serde_json::from_value(note).unwrap());
            };
            let is_silent =
                async || tokio::time::timeout(50 * TIME, routes.silent(&heard, TIME)).await.is_ok();
            progress(7);
            assert!(
                heard.0.notified().now_or_never().is_some(),
                "progress is heard without a client that wants it"
            );
            progress(8);
            assert!(heard.0.notified().now_or_never().is_none(), "other progress is not");
            assert!(is_silent().await);
            let question = json!({"jsonrpc": "2.0", "id": 5, "method": "roots/list"});
            assert!(routes.takes_request(&serde_json::from_value(question).unwrap()));
            assert!(!is_silent().await, "it waits for the answer");
            forget_one(&mut locked(&routes.routes).untaken, Some(&NumberOrString::Number(5)));
            assert!(is_silent().await);
        });
    }

    /// A server that sends the same request without an end, and takes no answer.
    struct Flood;

    impl Transport<RoleClient> for Flood {
        type Error = std::convert::Infallible;

        fn send(
            &mut self,
            _: ClientJsonRpcMessage,
        ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
            std::future::pending()
        }

        async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
            serde_json::from_value(json!({"jsonrpc": "2.0", "id": 1, "method": "ping"})).ok()
        }

        async fn close(&mut self) -> Result<(), Self::Error> {
            Ok(())
        }
    }

    #[test]
    fn a_server_that_takes_no_answer_is_read_no_further() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let routes = Arc::new(RequestRoutes::new(watch::channel(None).1));
            let mut transport = RoutedTransport::new(Flood, &routes);
            let mut received = 0;
            while transport.receive().await.is_some() {
                received += 1;
                let answer =
                    ClientJsonRpcMessage::response(ClientResult::empty(()), NumberOrString::Number(1));
                drop(transport.send(answer));
            }
            assert_eq!(received, MAX_UNANSWERED);
            assert!(routes.end().is_some_and(|reason| reason.contains("took no answer")));
        });
    }

    #[test]
    fn requests_that_are_answered_or_cancelled_do_not_count() {
        let routes = RequestRoutes::new(watch::channel(None).1);
        let message = |message| serde_json::from_value(message).unwrap();
        for id in 0..MAX_UNANSWERED as i64 * 2 {
            assert!(routes.takes_request(&message(json!({"jsonrpc": "2.0", "id": id, "method": "ping"}))));
            match id % 2 {
                0 => forget_one(&mut locked(&routes.routes).untaken, Some(&NumberOrString::Number(id))),
                _ => assert!(routes.takes_request(&message(
                    json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}})
                ))),
            }
        }
        assert!(locked(&routes.routes).untaken.is_empty());
    }
}
