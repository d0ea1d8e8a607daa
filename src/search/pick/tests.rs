//! Picking from small catalogs, with every scorer.

use std::time::Instant;

use serde_json::json;

use super::*;
use crate::model::{ChatModel, ModelError};
use crate::{catalog, config};

const TOOLS: &str = r#"[
  {"name": "refund_payment", "description": "Refund a customer.", "effect": "write", "cost": 5, "parameters": {"type": "object", "properties": {}}},
  {"name": "list_orders", "description": "List the orders of a customer.", "effect": "read", "cost": 1, "capabilities": ["streaming"], "parameters": {"type": "object", "properties": {}}},
  {"name": "drop_database", "description": "Delete every customer and refund nobody.", "effect": "destructive", "safe": false, "parameters": {"type": "object", "properties": {}}},
  {"name": "audit_customer", "description": "Audit a customer.", "effect": "read", "allowed_roles": ["auditor"], "parameters": {"type": "object", "properties": {}}},
  {"name": "forecast", "description": "Weather of tomorrow.", "effect": "read", "parameters": {"type": "object", "properties": {}}}
]"#;

fn tools() -> Vec<Arc<Tool>> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tools.json");
    std::fs::write(&file, TOOLS).unwrap();
    catalog::open(config::read(&file)).catalog.tools
}

fn names(picks: &Picks) -> Vec<&str> {
    picks.candidates.iter().map(|picked| picked.tool.name.as_str()).collect()
}

fn picked(options: &Options) -> Picks {
    pick(&json!("refund a customer"), &tools(), options)
}

#[test]
fn the_best_by_words_are_picked_without_unsafe_ones() {
    let picks = picked(&Options::default());
    assert_eq!(names(&picks)[0], "refund_payment");
    assert!(picks.candidates.len() <= 3 && picks.fallback.is_none());
    assert!(!names(&picks).contains(&"drop_database"));
    assert!(picks.candidates.iter().all(|picked| (0.05..=1.0).contains(&picked.score)));
    assert!(picks.candidates.iter().all(|picked| picked.reason.is_some() && picked.provenance.is_none()));
    assert!(picks.candidates.is_sorted_by(|one, other| one.score >= other.score));
    let all = Options { allow_unsafe: true, max_candidates: 9, debug: true, ..Options::default() };
    let picks = picked(&all);
    assert!(names(&picks).contains(&"drop_database"));
    assert!(picks.candidates.iter().all(|picked| picked.provenance.as_ref().unwrap().scorer == "keyword"));
    // Read once or each time, the result is the same.
    let once = Options { scorer: Some(Arc::new(Keyword::over(&tools()))), ..all.clone() };
    assert_eq!(names(&picked(&once)), names(&picks));
    assert_eq!(names(&picked(&Options { max_candidates: 1, ..all })).len(), 1);
}

#[test]
fn an_empty_pick_is_a_pick() {
    for input in [json!("xyzzy plugh"), json!(""), json!(null), json!({"plugh": []})] {
        let picks = pick(&input, &tools(), &Options::default());
        assert!(picks.candidates.is_empty() && picks.fallback.is_none(), "{input}");
    }
    assert!(pick(&json!("refund"), &[], &Options::default()).candidates.is_empty());
    assert!(picked(&Options { min_score: 1.1, ..Options::default() }).candidates.is_empty());
}

#[test]
fn filters_keep_tools_out() {
    let with = |filter: Filter| {
        let everything: Arc<dyn Scorer> =
            Arc::new(|_: &Input, _: &Tool| Score { score: 1.0, ..Score::default() });
        let options = Options { filter, scorer: Some(everything), max_candidates: 9, ..Options::default() };
        names(&picked(&options)).join(" ")
    };
    let none = Filter::default;
    assert_eq!(with(none()), "refund_payment list_orders audit_customer forecast");
    assert_eq!(with(Filter { role: Some("clerk".into()), ..none() }), "refund_payment list_orders forecast");
    assert_eq!(
        with(Filter { role: Some("auditor".into()), max_effect: Some(crate::tool::Effect::Read), ..none() }),
        "list_orders audit_customer forecast"
    );
    assert_eq!(with(Filter { capabilities: vec!["Streaming".into()], ..none() }), "list_orders");
    assert_eq!(with(Filter { max_cost: Some(2.0), ..none() }), "list_orders audit_customer forecast");
}

#[test]
fn a_scorer_of_ones_own_is_kept_within_bounds() {
    let odd: Arc<dyn Scorer> = Arc::new(|input: &Input, tool: &Tool| {
        assert_eq!(input.value(), &json!("refund a customer"));
        let score = match tool.name.as_str() {
            "forecast" => 7.0,
            "list_orders" => f32::NAN,
            "refund_payment" => -1.0,
            _ => 0.5,
        };
        Score { score, reason: Some("because".into()), details: json!({"own": true}) }
    });
    let picks = picked(&Options { scorer: Some(odd), debug: true, ..Options::default() });
    assert_eq!(names(&picks), ["forecast", "audit_customer"]);
    assert_eq!(picks.candidates[0].score, 1.0);
    assert_eq!(
        picks.candidates[0].provenance,
        Some(Provenance { scorer: "custom".into(), details: json!({"own": true}) })
    );
}

#[test]
fn what_takes_too_long_gives_the_first_tools_in_order_and_says_so() {
    let slow: Arc<dyn Scorer> = Arc::new(|_: &Input, _: &Tool| {
        std::thread::sleep(Duration::from_millis(400));
        Score { score: 1.0, ..Score::default() }
    });
    let timeout = Some(Duration::from_millis(50));
    let started = Instant::now();
    let picks = picked(&Options { scorer: Some(slow), timeout, max_candidates: 2, ..Options::default() });
    assert!(started.elapsed() < Duration::from_millis(350));
    assert_eq!(names(&picks), ["refund_payment", "list_orders"]);
    assert!(picks.fallback.unwrap().contains("longer than 50 ms"));
    let quick = picked(&Options { timeout: Some(Duration::from_secs(20)), ..Options::default() });
    assert_eq!(names(&quick), names(&picked(&Options::default())));
}

struct Broken;

impl Scorer for Broken {
    fn name(&self) -> &str {
        "broken"
    }

    fn score(&self, input: &Input, _: &[Arc<Tool>]) -> Result<Vec<Score>, String> {
        match input.text() {
            "refund a customer" => Err("no power".into()),
            "panic" => panic!("on purpose"),
            _ => Ok(Vec::new()),
        }
    }
}

#[test]
fn a_scorer_that_fails_is_replaced_by_words() {
    let options = Options {
        scorer: Some(Arc::new(Broken)),
        timeout: Some(Duration::from_secs(20)),
        ..Options::default()
    };
    let picks = picked(&options);
    assert_eq!(names(&picks)[0], "refund_payment");
    assert_eq!(picks.fallback.unwrap(), "scored by words, since broken failed: no power");
    for (input, why) in [("panic", "the scorer broke"), ("refund", "another number of scores")] {
        let picks = pick(&json!(input), &tools(), &options);
        assert!(picks.fallback.unwrap().contains(why));
    }
}

/// A model with one fixed answer.
struct Says(&'static str);

impl ChatModel for Says {
    fn answer(&self, instructions: &str, question: &str) -> Result<String, ModelError> {
        assert!(instructions.contains("data") && question.contains("1. refund_payment: Refund a customer."));
        Ok(self.0.into())
    }
}

#[test]
fn a_chat_model_scores_the_best_by_words_in_one_question() {
    let ask = |says| {
        picked(&Options { scorer: Some(Arc::new(Llm::new(Arc::new(Says(says))))), ..Options::default() })
    };
    let picks = ask("Sure!\n```json\n{\"1\": 0.4, \"2\": 0.9, \"99\": 1, \"3\": \"x\"}\n```");
    assert_eq!(picks.candidates.len(), 2);
    assert_eq!(picks.candidates[1].tool.name, "refund_payment");
    assert!(ask("{}").candidates.is_empty());
    assert!(ask("none of them").fallback.unwrap().contains("no JSON object"));
}
