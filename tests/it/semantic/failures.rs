//! When the model is slow, gone or wrong: words alone answer, in time, and say so without the key.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use toolcrib::functions::{SemanticSearch, Services};
use toolcrib::search::semantic::{Options, Semantic, SemanticStatus};

use super::{KEY, Mode, TOOLS, Vectors, found, model, search, services, soon, view};

fn answers(status: u16, body: &str) -> Mode {
    Mode::Answers(status, String::new(), body.into())
}

/// Failures, with the messages for callers and for the operator.
fn table() -> Vec<(Mode, &'static str, &'static str)> {
    let told = format!("{{\"error\": {{\"message\": \"wrong key {KEY}\"}}}}");
    let changed = |change: fn(&mut Value)| Mode::Changed(change);
    let form = "the model answered in another form";
    vec![
        (Mode::Slow(Duration::from_secs(3)), "no answer from the model", "no answer"),
        (answers(401, &told), "the model answered 401", "answered 401: wrong key ..."),
        (answers(429, "{\"error\": \"slow down\"}"), "the model answered 429", "answered 429: slow down"),
        (answers(500, "<html>"), "the model answered 500", "answered 500"),
        (answers(200, "hello"), form, "the answer is not JSON"),
        (answers(200, "{}"), form, "without a list `data`"),
        (
            Mode::Answers(302, "location: http://127.0.0.1:9/\r\n".into(), String::new()),
            "the model answered 302",
            "leads elsewhere",
        ),
        (changed(|good| good["data"][0]["embedding"] = json!([1.0])), "vectors of another length", ""),
        (changed(|good| good["data"][0]["embedding"][0] = json!("NaN")), form, "with an invalid number"),
        (changed(|good| good["data"][0]["embedding"][0] = json!(1e300)), form, "with an invalid number"),
        (changed(|good| good["data"][0]["embedding"] = json!([])), form, "a vector of 0 numbers"),
        (changed(|good| good["data"][0]["embedding"] = json!("AAAA")), form, "no list of numbers"),
        (changed(|good| good["data"] = json!([])), form, "0 vectors for 1 texts"),
        (changed(|good| good["data"][0]["index"] = json!(7)), form, "`index`"),
        (Mode::Endless, "the model answered in another form", "the answer is too long"),
    ]
}

#[test]
#[ignore = "slow"]
fn whatever_the_model_does_words_answer_in_time_and_say_so() {
    let server = Vectors::serve();
    let view = view(TOOLS);
    let by_words = search(&view, &Arc::default(), "refund a customer");
    for (number, (mode, brief, told)) in table().into_iter().enumerate() {
        server.set(Mode::Good);
        let services = services(&server.url, None);
        assert_eq!(search(&view, &services, "quaxolotl").semantic, SemanticStatus::On);
        server.set(mode);
        let started = Instant::now();
        let searched = search(&view, &services, "refund a customer");
        let took = started.elapsed();
        let SemanticStatus::Unavailable(reason) = &searched.semantic else {
            panic!("{number}: {searched:?}")
        };
        // An answer without end is cut by its size or by the time, whichever is first.
        let is_late = reason.starts_with("no answer from the model") || reason.contains("it took too long");
        assert!(reason.contains(brief) || is_late, "{number}: {reason}");
        assert_eq!(found(&view, &searched), found(&view, &by_words), "{number}");
        assert!(took < Duration::from_secs(5), "{number}: {took:?}");
        let state = services.semantic.status().to_string();
        assert!(is_late || state.contains(told), "{number}: {state}");
        assert!(!format!("{state}{reason}{services:?}").contains(KEY));
        assert!(!reason.contains("127.0.0.1"), "{reason}");
        // A model that has failed is left alone for a moment: nobody waits for it again.
        if !reason.contains("length") {
            let started = Instant::now();
            assert_ne!(search(&view, &services, "another").semantic, SemanticStatus::On, "{number}");
            assert!(started.elapsed() < Duration::from_millis(1_000), "{number}: {:?}", started.elapsed());
        }
        server.set(Mode::Good);
        soon("it is asked again", || {
            search(&view, &services, "refund a customer").semantic == SemanticStatus::On
        });
    }
}

#[test]
fn nobody_waits_for_vectors_of_tools_in_a_server() {
    let server = Vectors::serve();
    server.set(answers(503, "{\"error\": \"loading\"}"));
    let view = view(TOOLS);
    let semantic = Arc::new(Semantic::start(model(&server.url), Options::default()));
    let services =
        Arc::new(Services { semantic: SemanticSearch::On(semantic), llm: None, ..Services::default() });
    services.prepare(&view);
    let started = Instant::now();
    let searched = search(&view, &services, "refund a customer");
    assert!(started.elapsed() < Duration::from_millis(1_000));
    let SemanticStatus::Unavailable(reason) = &searched.semantic else { panic!("{searched:?}") };
    assert!(reason.starts_with("the vectors of tools are on their way"), "{reason}");
    assert_eq!(found(&view, &searched).1[0], "refund_payment");
    soon("the trouble shows", || services.semantic.status().to_string().contains("answered 503: loading"));
    // Searches do not make it ask more often.
    for _ in 0..50 {
        search(&view, &services, "refund a customer");
    }
    assert!(server.heads().matches("POST").count() <= 3);
    server.set(Mode::Good);
    soon("the vectors are there", || search(&view, &services, "quaxolotl").semantic == SemanticStatus::On);
    assert_eq!(services.semantic.status(), SemanticStatus::On);
}

#[test]
fn a_model_that_is_gone_is_said_to_be() {
    let view = view(TOOLS);
    let semantic = Arc::new(Semantic::start(model("http://127.0.0.1:1"), Options::default()));
    let services =
        Arc::new(Services { semantic: SemanticSearch::On(semantic), llm: None, ..Services::default() });
    search(&view, &services, "quaxolotl");
    soon("the trouble shows", || {
        let state = services.semantic.status().to_string();
        state.contains("http://127.0.0.1:1/v1/embeddings") && state.contains("no connection")
    });
}
