//! Messages of servers find the client whose request is in progress.

use futures_util::FutureExt;
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, ClientJsonRpcMessage, GetMeta, NumberOrString, ProgressToken,
    ServerJsonRpcMessage,
};
use rmcp::transport::Transport;
use serde_json::json;

use super::*;

/// A call of this caller, sent and answered.
fn called(routes: &RequestRoutes, id: i64, caller: &Arc<str>) -> tokio::sync::mpsc::Receiver<ServerMessage> {
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
        let is_silent = async || tokio::time::timeout(50 * TIME, routes.silent(&heard, TIME)).await.is_ok();
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
        forget_one(&mut locked(&routes.unanswered), Some(&NumberOrString::Number(5)));
        assert!(is_silent().await);
    });
}

fn with_answers() -> RequestOrigin {
    let state = bound("sky", Some("state".into()));
    let input = ClientInput::read(Some(&InputResponses::new()), Some(&state)).unwrap();
    RequestOrigin::new(RequestMetaObject::new(), None, to_client().0).with_input(input)
}

#[test]
fn answers_of_a_client_go_to_the_server_that_asked_alone() {
    let origin = with_answers();
    assert_eq!(origin.input("sea"), (None, None));
    assert_eq!(origin.input("sky"), (Some(InputResponses::new()), Some("state".into())));
    for changed in ["", "state", "[]", "[\"sky\"]", "{}"] {
        assert!(ClientInput::read(None, Some(changed)).is_err(), "{changed}");
    }
}

#[test]
fn a_call_after_another_does_not_ask() {
    let origin = with_answers();
    origin.begin_call();
    assert!(origin.may_require_input());
    // Asking would run the first call twice.
    origin.begin_call();
    assert!(!origin.may_require_input());
}

#[test]
fn no_call_of_a_batch_asks_or_gets_answers() {
    let origin = with_answers();
    origin.refuse_input();
    origin.begin_call();
    assert_eq!(origin.input("sky"), (None, None));
    assert!(!origin.may_require_input());
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
            let answer = ClientJsonRpcMessage::response(ClientResult::empty(()), NumberOrString::Number(1));
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
            0 => forget_one(&mut locked(&routes.unanswered), Some(&NumberOrString::Number(id))),
            _ => assert!(routes.takes_request(&message(
                json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}})
            ))),
        }
    }
    assert!(locked(&routes.unanswered).is_empty());
}
