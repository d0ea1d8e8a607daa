//! The promises of every store of state. Each test opens the database anew, and touches no rows of others.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use toolcrib::definition::Effect;
use toolcrib::state::{
    Approval, ApprovalStatus, CallQuery, Callers, Claim, ClaimOutcome, ClaimStatus, Event, EventKind,
    EventQuery, HiddenValue, Session, StateStore, StoredResult, now, random_id,
};

use super::{Again, runtime};

const MINUTE: Duration = Duration::from_secs(60);

/// All of it.
pub fn all(again: Again<'_>) {
    runtime().block_on(async {
        keys_run_once(again).await;
        fifty_at_the_same_moment(again).await;
        leases_end(again).await;
        approvals_serve_once(again).await;
        arguments_are_erased_when_nobody_has_to_see_them(again).await;
        approvals_are_bound(again).await;
        sessions_are_their_callers_own(again).await;
        results_are_kept_for_a_while(again).await;
        events_come_back_in_order(again).await;
        sums_and_searches_are_of_the_chosen_callers(again).await;
        the_last_yes_keeps_its_definition(again).await;
        numbers_are_seen_in_order(again).await;
        what_is_old_is_forgotten(again).await;
    });
}

fn claim(key: &str) -> Claim {
    Claim {
        caller: Arc::from("amy"),
        key: key.into(),
        op: "onto.task.create".into(),
        fingerprint: "f1".into(),
        owner: random_id("own"),
    }
}

async fn keys_run_once(again: Again<'_>) {
    let (one, other) = (again(), again());
    let first = claim(&random_id("key"));
    let second = Claim { owner: random_id("own"), ..first.clone() };
    assert_eq!(one.claim(&first, MINUTE).await, Ok(ClaimStatus::Acquired));
    assert_eq!(one.claim(&first, MINUTE).await, Ok(ClaimStatus::Acquired), "renewed");
    assert_eq!(other.claim(&second, MINUTE).await, Ok(ClaimStatus::Running));
    let else_where = Claim { fingerprint: "f2".into(), op: "x".into(), ..second.clone() };
    let conflict = ClaimStatus::Conflict { op: first.op.clone() };
    assert_eq!(other.claim(&else_where, MINUTE).await, Ok(conflict.clone()));
    assert!(other.settle(&second, ClaimOutcome::Answered(json!(2))).await.is_err(), "not the owner");
    let answer = json!({"id": "t\u{0}1", "list": [1, 2.5, null]});
    one.settle(&first, ClaimOutcome::Answered(answer.clone())).await.unwrap();
    assert_eq!(other.claim(&second, MINUTE).await, Ok(ClaimStatus::Answered(answer.clone())));
    assert_eq!(again().claim(&second, MINUTE).await, Ok(ClaimStatus::Answered(answer)));
    assert_eq!(other.claim(&else_where, MINUTE).await, Ok(conflict));
    // The same key of somebody else is another one.
    let bob = Claim { caller: Arc::from("bob"), ..else_where };
    assert_eq!(other.claim(&bob, MINUTE).await, Ok(ClaimStatus::Acquired));
    one.settle(&second, ClaimOutcome::Released).await.unwrap();
    other.settle(&bob, ClaimOutcome::Released).await.unwrap();
    assert_eq!(one.claim(&bob, MINUTE).await, Ok(ClaimStatus::Acquired), "released keys are free");
    one.settle(&bob, ClaimOutcome::Unknown).await.unwrap();
    let retry = Claim { owner: random_id("own"), ..bob };
    assert_eq!(other.claim(&retry, MINUTE).await, Ok(ClaimStatus::Unknown));
}

async fn fifty_at_the_same_moment(again: Again<'_>) {
    let replicas = [again(), again()];
    for _ in 0..5 {
        let key = random_id("key");
        let claiming = (0..50).map(|number| {
            let (state, claim) = (Arc::clone(&replicas[number % 2]), claim(&key));
            tokio::spawn(async move { state.claim(&claim, MINUTE).await.unwrap() })
        });
        let claiming: Vec<_> = claiming.collect();
        let (mut ours, mut running) = (0, 0);
        for claimed in claiming {
            match claimed.await.unwrap() {
                ClaimStatus::Acquired => ours += 1,
                ClaimStatus::Running => running += 1,
                other => panic!("{other:?}"),
            }
        }
        assert_eq!((ours, running), (1, 49));
    }
}

async fn leases_end(again: Again<'_>) {
    let (one, other) = (again(), again());
    let first = claim(&random_id("key"));
    let second = Claim { owner: random_id("own"), ..first.clone() };
    assert_eq!(one.claim(&first, Duration::from_millis(30)).await, Ok(ClaimStatus::Acquired));
    tokio::time::sleep(Duration::from_millis(60)).await;
    assert_eq!(other.claim(&second, MINUTE).await, Ok(ClaimStatus::Unknown));
    assert_eq!(one.claim(&first, MINUTE).await, Ok(ClaimStatus::Unknown), "given up for good");
    // But for the one who knows.
    one.settle(&first, ClaimOutcome::Answered(json!("done"))).await.unwrap();
    assert_eq!(other.claim(&second, MINUTE).await, Ok(ClaimStatus::Answered(json!("done"))));
}

pub fn request(fingerprint: &str, until: i64) -> Approval {
    Approval {
        id: random_id("ap"),
        caller: "amy".into(),
        session: Some("s1".into()),
        op: "onto.task.delete".into(),
        arguments: json!({"task_id": "7", "note": "a\u{0}b"}),
        hidden: vec![HiddenValue { pointer: "/pin".into(), bytes: 4, hash: "h".into() }],
        fingerprint: fingerprint.into(),
        bound: "b1".into(),
        definition: Value::Null,
        asked_at: now(),
        until,
        status: ApprovalStatus::Waiting,
        reason: None,
    }
}

async fn approvals_serve_once(again: Again<'_>) {
    let (one, other) = (again(), again());
    let fingerprint = random_id("f");
    let until = now() + 60_000;
    let asked = one.request_approval(&request(&fingerprint, until)).await.unwrap().approval;
    assert_eq!(one.approvals(true).await.unwrap().iter().filter(|one| one.id == asked.id).count(), 1);
    assert_eq!(
        other.request_approval(&request(&fingerprint, until)).await.unwrap().approval,
        asked,
        "it waits there already"
    );
    let bob = Approval { caller: "bob".into(), ..request(&fingerprint, until) };
    assert_eq!(other.request_approval(&bob).await.unwrap().approval.id, bob.id);
    assert_eq!(one.use_approval(&asked.id).await, Ok(false), "nobody has said yes");
    assert_eq!(other.decide_approval("nothing", true, None).await, Ok(None));
    let decided = other.decide_approval(&asked.id, true, Some("fine")).await.unwrap().unwrap().0;
    assert_eq!((decided.status, decided.reason.as_deref()), (ApprovalStatus::Approved, Some("fine")));
    let late = one.decide_approval(&asked.id, false, None).await.unwrap().unwrap().0;
    assert_eq!(late.status, ApprovalStatus::Approved, "decided once");
    assert_eq!(
        one.request_approval(&request(&fingerprint, until)).await.unwrap().approval.status,
        ApprovalStatus::Approved
    );
    let taking = (0..20).map(|number| {
        let (state, id) =
            (if number % 2 == 0 { Arc::clone(&one) } else { Arc::clone(&other) }, asked.id.clone());
        tokio::spawn(async move { state.use_approval(&id).await.unwrap() })
    });
    let mut taken = 0;
    for take in taking.collect::<Vec<_>>() {
        taken += u32::from(take.await.unwrap());
    }
    assert_eq!(taken, 1);
    let next = one.request_approval(&request(&fingerprint, until)).await.unwrap().approval;
    assert_ne!(next.id, asked.id, "used up");
    let denied = one.decide_approval(&next.id, false, Some("no")).await.unwrap().unwrap().0;
    assert_eq!(denied.status, ApprovalStatus::Denied);
    assert_eq!(one.request_approval(&request(&fingerprint, until)).await.unwrap().approval, denied);
    assert!(!one.approvals(true).await.unwrap().iter().any(|known| known.id == next.id));
    assert!(one.approvals(false).await.unwrap().contains(&denied));
    let past = one.request_approval(&request(&random_id("f"), now() - 1)).await.unwrap().approval;
    assert_eq!(
        other.decide_approval(&past.id, true, None).await.unwrap().unwrap().0.status,
        ApprovalStatus::Waiting
    );
    assert_eq!(other.use_approval(&past.id).await, Ok(false));
}

/// The status, arguments and hidden values that are kept of an approval.
async fn kept(state: &Arc<StateStore>, id: &str) -> (ApprovalStatus, Value, usize) {
    let all = state.approvals(false).await.unwrap();
    let found = all.into_iter().find(|approval| approval.id == id).unwrap();
    (found.status, found.arguments, found.hidden.len())
}

async fn arguments_are_erased_when_nobody_has_to_see_them(again: Again<'_>) {
    let (one, other) = (again(), again());
    let until = now() + 60_000;
    let asked = async |until| one.request_approval(&request(&random_id("f"), until)).await.unwrap().approval;
    let used = asked(until).await;
    assert_eq!(kept(&other, &used.id).await, (ApprovalStatus::Waiting, used.arguments.clone(), 1));
    one.decide_approval(&used.id, true, None).await.unwrap();
    assert_eq!(kept(&other, &used.id).await.1, used.arguments);
    assert_eq!(other.use_approval(&used.id).await, Ok(true));
    assert_eq!(kept(&one, &used.id).await, (ApprovalStatus::Used, Value::Null, 0));
    // An approval of a call that was not sent is valid again, once, and for the same call.
    one.give_back(&used).await.unwrap();
    assert_eq!(kept(&other, &used.id).await, (ApprovalStatus::Approved, used.arguments.clone(), 1));
    let same = other.request_approval(&Approval { id: random_id("ap"), ..used.clone() }).await.unwrap();
    assert_eq!((same.approval.id.as_str(), same.void), (used.id.as_str(), None));
    assert_eq!((one.use_approval(&used.id).await, other.use_approval(&used.id).await), (Ok(true), Ok(false)));
    let denied = asked(until).await;
    one.decide_approval(&denied.id, false, None).await.unwrap();
    assert_eq!(kept(&other, &denied.id).await, (ApprovalStatus::Denied, Value::Null, 0));
    one.give_back(&denied).await.unwrap();
    assert_eq!(kept(&other, &denied.id).await.0, ApprovalStatus::Denied, "only what was used is given back");
    let expired = asked(now() + 30).await;
    tokio::time::sleep(Duration::from_millis(60)).await;
    one.delete_older(Duration::from_secs(3600)).await.unwrap();
    assert_eq!(kept(&other, &expired.id).await, (ApprovalStatus::Waiting, Value::Null, 0));
}

async fn approvals_are_bound(again: Again<'_>) {
    let (one, other) = (again(), again());
    let first = request(&random_id("f"), now() + 60_000);
    one.request_approval(&first).await.unwrap();
    one.decide_approval(&first.id, true, None).await.unwrap();
    let changed = Approval { id: random_id("ap"), bound: "b2".into(), ..first.clone() };
    let asked = other.request_approval(&changed).await.unwrap();
    assert_eq!(
        (asked.approval.id.as_str(), asked.void.as_deref()),
        (changed.id.as_str(), Some(first.id.as_str()))
    );
    assert_eq!(kept(&one, &first.id).await, (ApprovalStatus::Void, Value::Null, 0));
    assert_eq!(
        (one.use_approval(&first.id).await, other.use_approval(&changed.id).await),
        (Ok(false), Ok(false))
    );
    assert_eq!(
        one.decide_approval(&first.id, true, None).await.unwrap().unwrap().0.status,
        ApprovalStatus::Void
    );
    assert_eq!(one.hash_key().await.unwrap(), other.hash_key().await.unwrap());
}

async fn sessions_are_their_callers_own(again: Again<'_>) {
    let (one, other) = (again(), again());
    let amy = Session { caller: Arc::from("amy"), id: random_id("s").into() };
    let bob = Session { caller: Arc::from("bob"), id: Arc::clone(&amy.id) };
    one.record_doc_read(&amy, "onto.task.get", "v1").await.unwrap();
    one.record_doc_read(&amy, "onto.task.get", "v2").await.unwrap();
    assert_eq!(other.doc_read_version(&amy, "onto.task.get").await, Ok(Some("v2".into())));
    assert_eq!(other.doc_read_version(&bob, "onto.task.get").await, Ok(None));
    assert_eq!(one.session_context(&amy).await, Ok(None));
    one.set_session_context(&amy, &json!({"project": 1})).await.unwrap();
    one.set_session_context(&amy, &json!({"project": 2})).await.unwrap();
    assert_eq!(other.session_context(&amy).await, Ok(Some(json!({"project": 2}))));
    assert_eq!(other.session_context(&bob).await, Ok(None));
}

async fn results_are_kept_for_a_while(again: Again<'_>) {
    let (one, other) = (again(), again());
    let kept = StoredResult {
        id: random_id("r"),
        caller: "amy".into(),
        text: "long\u{0} ".repeat(50_000),
        until: now() + 60_000,
    };
    one.store_result(kept.clone()).await.unwrap();
    assert_eq!(other.stored_result("amy", &kept.id).await, Ok(Some(kept.text.clone())));
    assert_eq!(other.stored_result("bob", &kept.id).await, Ok(None));
    let past = StoredResult { id: random_id("r"), until: now() - 1, ..kept };
    one.store_result(past.clone()).await.unwrap();
    assert_eq!(other.stored_result("amy", &past.id).await, Ok(None));
}

fn call(session: &str) -> Event {
    Event {
        at: now(),
        trace_id: random_id("tr"),
        caller: "amy".into(),
        session: Some(session.into()),
        kind: EventKind::Call,
        function: "tool_exec".into(),
        op: Some("onto.task.get".into()),
        tool: Some("get_task".into()),
        input: json!({"text": "quoted \" \u{0} ü"}),
        outcome: "BACKEND_ERROR".into(),
        error: Some("it said\u{0} no".into()),
        profile: Some("planner".into()),
        registry_version: Some("0123456789abcdef".into()),
        doc_version: Some("0123456789".into()),
        validated: Some(true),
        no_schema_mode: Some("write".into()),
        effect: Some(Effect::Write),
        dry_run: true,
        latency_us: 1234,
        tokens: 56,
        detail: json!({"replayed": true}),
        ..Event::default()
    }
}

async fn events_come_back_in_order(again: Again<'_>) {
    let (one, other) = (again(), again());
    let session = random_id("s");
    let mut given = Vec::new();
    for kind in EventKind::ALL.iter().copied().chain([EventKind::Call, EventKind::Search]) {
        let event = match kind {
            EventKind::Call => call(&session),
            kind => Event {
                kind,
                found: vec!["onto.task.get".into(), "x\"y".into()],
                profile: None,
                registry_version: None,
                doc_version: None,
                validated: None,
                no_schema_mode: None,
                effect: None,
                dry_run: false,
                ..call(&session)
            },
        };
        one.record(event.clone());
        given.push(event);
    }
    one.flush().await.unwrap();
    let wanted = EventQuery { session: Some(session.clone()), ..EventQuery::default() };
    let read = other.events(&wanted).await.unwrap();
    assert!(read.is_sorted_by_key(|event| event.id), "{read:#?}");
    // PostgreSQL has no zero characters in texts.
    let same = |event: &Event| {
        let plain = serde_json::to_string(&Event { id: 0, ..event.clone() }).unwrap();
        plain.replace("said\\u0000 no", "said no")
    };
    let plain = |events: &[Event]| events.iter().map(same).collect::<Vec<_>>();
    assert_eq!(plain(&read), plain(&given));
    let some = EventQuery { after: read[2].id, limit: 2, ..wanted.clone() };
    assert_eq!(other.events(&some).await.unwrap(), read[3..5]);
    let bob = EventQuery { caller: Some("bob".into()), ..wanted.clone() };
    assert_eq!(other.events(&bob).await.unwrap(), []);
    assert_eq!(other.events(&EventQuery { caller: Some("amy".into()), ..wanted }).await.unwrap(), read);
    let all =
        other.events(&EventQuery { after: read[0].id - 1, limit: 1, ..EventQuery::default() }).await.unwrap();
    assert_eq!(all, read[..1]);
    let visits = other.sessions(&Callers::All, 0, 100).await.unwrap();
    let visit = visits.iter().find(|visit| visit.session == session).unwrap();
    assert_eq!((visit.events, visit.calls, visit.failed, visit.caller.as_str()), (8, 2, 2, "amy"));
}

async fn sums_and_searches_are_of_the_chosen_callers(again: Again<'_>) {
    let (one, other) = (again(), again());
    let place = random_id("place");
    let name = |name: &str| format!("{name}@{place}");
    let tenant = |tenant: &str| Callers::Tenant(format!("{tenant}/"), format!("@{place}"));
    let (session, tool) = (random_id("s"), random_id("tool"));
    let event = |caller: &str, outcome: &str| Event {
        caller: name(caller),
        outcome: outcome.into(),
        tool: Some(tool.clone()),
        ..call(&session)
    };
    for (caller, outcome) in
        [("t/amy", "ok"), ("t/amy", "TIMEOUT"), ("u/amy", "ok"), ("amy", "ok"), ("t/bob", "ok")]
    {
        one.record(event(caller, outcome));
        other.record(event(caller, outcome));
    }
    let search = Event { kind: EventKind::Search, tool: None, found: vec![], ..event("t/amy", "ok") };
    one.record(search);
    other.flush().await.unwrap();
    let sums = async |callers: &Callers| {
        let sessions = one.sessions(callers, 0, 1000).await.unwrap();
        let own = sessions.into_iter().filter(|known| known.session == session);
        let mut own: Vec<_> = own.map(|sum| (sum.caller, sum.events, sum.calls, sum.failed)).collect();
        own.sort();
        own
    };
    assert_eq!(sums(&Callers::All).await.len(), 4);
    assert_eq!(sums(&Callers::Nobody).await.len(), 0);
    assert_eq!(sums(&tenant("t")).await, [(name("t/amy"), 5, 4, 2), (name("t/bob"), 2, 2, 0)]);
    assert_eq!(sums(&Callers::Only(name("amy"))).await, [(name("amy"), 2, 2, 0)]);
    assert_eq!(sums(&tenant("amy@")).await, []);
    let calls = async |callers: Callers, outcome: Option<&str>, skip: usize| {
        let outcome = outcome.map(str::to_string);
        let query = CallQuery { callers, tool: Some(tool.clone()), outcome, skip, limit: 3 };
        other.calls(&query).await.unwrap().0
    };
    let (newest, older) = (calls(Callers::All, None, 0).await, calls(Callers::All, None, 3).await);
    let ids: Vec<i64> = newest.iter().chain(&older).map(|call| call.id).collect();
    assert!(ids.len() == 6 && ids.is_sorted_by(|one, next| one > next), "{ids:?}");
    assert_eq!(calls(tenant("t"), Some("failed"), 0).await.len(), 2);
    assert_eq!(calls(tenant("u"), Some("failed"), 0).await, []);
    assert_eq!(calls(Callers::Nobody, None, 0).await.len(), 0);
    assert_eq!(calls(Callers::Only(name("u/amy")), Some("ok"), 0).await.len(), 2);
    assert_eq!(calls(Callers::Only(name("t/amy")), Some("TIMEOUT"), 0).await.len(), 2);
    let usage = one.usage(&tenant("t"), 0).await.unwrap();
    let count = |outcome: &str| -> i64 {
        usage.iter().filter(|sum| sum.outcome == outcome).map(|sum| sum.events).sum()
    };
    assert_eq!((count("ok"), count("TIMEOUT"), count("NO_MATCH")), (4, 2, 1));
}

async fn the_last_yes_keeps_its_definition(again: Again<'_>) {
    let (state, op) = (again(), random_id("op"));
    let ask = async |bound: &str, description: &str, asked_at: i64| {
        let request = Approval {
            op: op.clone(),
            bound: bound.into(),
            asked_at,
            ..request(&random_id("f"), now() + 60_000)
        };
        let definition = json!({ "description": description });
        state.request_approval(&Approval { definition, ..request }).await.unwrap().approval
    };
    let (first, second) = (random_id("b"), random_id("b"));
    let old = ask(&first, "one", now()).await;
    let new = ask(&second, "two", now() + 1).await;
    assert_eq!(state.last_approved(&op, &Callers::All, new.asked_at).await, Ok(None));
    state.decide_approval(&old.id, true, None).await.unwrap();
    let last = state.last_approved(&op, &Callers::All, new.asked_at).await.unwrap().unwrap();
    assert_eq!(last.id, old.id);
    assert_eq!(state.approved_definition(&last.bound).await, Ok(Some(json!({"description": "one"}))));
    assert_eq!(state.last_approved(&op, &Callers::Only("bob".into()), new.asked_at).await, Ok(None));
    let (waiting, count) = state.listed_approvals(&Callers::Only("amy".into()), true, 0, 1000).await.unwrap();
    assert_eq!(waiting.len(), count);
    assert!(waiting.iter().any(|one| one.id == new.id && one.arguments.is_null()));
    let (others, _) = state.listed_approvals(&Callers::All, false, 0, 1000).await.unwrap();
    assert!(others.iter().any(|one| one.id == old.id) && others.iter().all(|one| one.id != new.id));
    assert_eq!(state.listed_approvals(&Callers::Only("bob".into()), false, 0, 1).await, Ok((vec![], 0)));
}

/// A reader of events after the last number it saw misses none, whoever writes.
async fn numbers_are_seen_in_order(again: Again<'_>) {
    let session = random_id("s");
    let writers: Vec<Arc<StateStore>> = (0..3).map(|_| again()).collect();
    let writing: Vec<_> = writers
        .iter()
        .map(|state| {
            let (state, event) = (Arc::clone(state), Event { input: Value::Null, ..call(&session) });
            tokio::spawn(async move {
                for number in 0..100 {
                    state.record(event.clone());
                    if number % 10 == 0 {
                        state.flush().await.unwrap();
                    }
                }
                state.flush().await.unwrap();
            })
        })
        .collect();
    let (reader, mut after, mut seen) = (again(), 0, 0);
    loop {
        let is_written = writing.iter().all(tokio::task::JoinHandle::is_finished);
        let wanted = EventQuery { session: Some(session.clone()), after, ..EventQuery::default() };
        let new = reader.events(&wanted).await.unwrap();
        seen += new.len();
        after = new.last().map_or(after, |event| event.id);
        if is_written && new.is_empty() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    assert_eq!(seen, 300);
    for writing in writing {
        writing.await.unwrap();
    }
}

async fn what_is_old_is_forgotten(again: Again<'_>) {
    let state = again();
    let session = random_id("s");
    state.record(Event { at: now() - 3_600_000, ..call(&session) });
    state.record(call(&session));
    let key = claim(&random_id("key"));
    assert_eq!(state.claim(&key, MINUTE).await, Ok(ClaimStatus::Acquired));
    state.settle(&key, ClaimOutcome::Answered(json!(1))).await.unwrap();
    state.delete_older(Duration::from_secs(1800)).await.unwrap();
    let wanted = EventQuery { session: Some(session), ..EventQuery::default() };
    assert_eq!(state.events(&wanted).await.unwrap().len(), 1);
    assert_eq!(state.claim(&key, MINUTE).await, Ok(ClaimStatus::Answered(json!(1))));
    tokio::time::sleep(Duration::from_millis(20)).await;
    let running = claim(&random_id("key"));
    assert_eq!(state.claim(&running, MINUTE).await, Ok(ClaimStatus::Acquired));
    state.delete_older(Duration::ZERO).await.unwrap();
    assert_eq!(state.events(&wanted).await.unwrap(), []);
    assert_eq!(state.claim(&running, MINUTE).await, Ok(ClaimStatus::Acquired), "what runs is not forgotten");
    assert_eq!(state.claim(&key, MINUTE).await, Ok(ClaimStatus::Acquired), "what was long ago is");
}
