//! Picking from small catalogs, with every kind of scores.

use serde_json::json;

use super::*;
use crate::Index;
use crate::IndexEntry;
use crate::SearchRequest;
use crate::model::{ChatModel, ModelError};
use toolcrib_catalog as catalog;
use toolcrib_catalog::config;

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
    picks.candidates.iter().map(|picked| picked.tool.names.canonical.as_str()).collect()
}

/// The scores of these tools by words.
fn by_words(input: &Value, tools: &[Arc<Tool>]) -> Vec<Score> {
    let entries: Vec<IndexEntry> = tools.iter().map(|tool| IndexEntry::from(&**tool)).collect();
    let request = SearchRequest { query: &input_text(input), within: None, limit: tools.len() };
    scores(&Index::new(&entries).find(request), tools.len())
}

/// Picks for an input from the tools that count, with scores by words or by `scored`.
fn pick(input: &Value, options: &Options, scored: impl FnOnce(&[Arc<Tool>], &[Score]) -> Scored) -> Picks {
    let tools: Vec<Arc<Tool>> = tools().into_iter().filter(|tool| options.counts(tool)).collect();
    let words = by_words(input, &tools);
    scored(&tools, &words).picks(&tools, "custom", options, words)
}

fn words(_: &[Arc<Tool>], words: &[Score]) -> Scored {
    Scored::Done(words.to_vec())
}

fn picked(options: &Options) -> Picks {
    pick(&json!("refund a customer"), options, words)
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
    assert!(picks.candidates.iter().all(|picked| picked.provenance.as_ref().unwrap().scorer == "custom"));
    assert_eq!(names(&picked(&Options { max_candidates: 1, ..all })).len(), 1);
}

#[test]
fn an_empty_pick_is_a_pick() {
    for input in [json!("xyzzy plugh"), json!(""), json!(null), json!({"plugh": []})] {
        let picks = pick(&input, &Options::default(), words);
        assert!(picks.candidates.is_empty() && picks.fallback.is_none(), "{input}");
    }
    let nothing = Scored::Done(Vec::new()).picks(&[], "custom", &Options::default(), Vec::new());
    assert!(nothing.candidates.is_empty());
    assert!(picked(&Options { min_score: 1.1, ..Options::default() }).candidates.is_empty());
}

#[test]
fn filters_keep_tools_out() {
    let with = |filter: Filter| {
        let options = Options { filter, max_candidates: 9, ..Options::default() };
        let everything = |tools: &[Arc<Tool>], _: &[Score]| {
            Scored::Done(vec![Score { score: 1.0, ..Score::default() }; tools.len()])
        };
        names(&pick(&json!("refund a customer"), &options, everything)).join(" ")
    };
    let none = Filter::default;
    assert_eq!(with(none()), "refund_payment list_orders audit_customer forecast");
    assert_eq!(with(Filter { role: Some("clerk".into()), ..none() }), "refund_payment list_orders forecast");
    assert_eq!(
        with(Filter {
            role: Some("auditor".into()),
            max_effect: Some(toolcrib_definition::Effect::Read),
            ..none()
        }),
        "list_orders audit_customer forecast"
    );
    assert_eq!(with(Filter { capabilities: vec!["Streaming".into()], ..none() }), "list_orders");
    assert_eq!(with(Filter { max_cost: Some(2.0), ..none() }), "list_orders audit_customer forecast");
}

#[test]
fn scores_are_kept_within_bounds() {
    let odd = |tools: &[Arc<Tool>], _: &[Score]| {
        let score = |tool: &Arc<Tool>| match tool.names.canonical.as_str() {
            "forecast" => 7.0,
            "list_orders" => f32::NAN,
            "refund_payment" => -1.0,
            _ => 0.5,
        };
        let scored = |tool| Score {
            score: score(tool),
            reason: Some("because".into()),
            details: json!({"own": true}),
        };
        Scored::Done(tools.iter().map(scored).collect())
    };
    let options = Options { debug: true, ..Options::default() };
    let picks = pick(&json!("refund a customer"), &options, odd);
    assert_eq!(names(&picks), ["forecast", "audit_customer"]);
    assert_eq!(picks.candidates[0].score, 1.0);
    assert_eq!(
        picks.candidates[0].provenance,
        Some(Provenance { scorer: "custom".into(), details: json!({"own": true}) })
    );
}

#[test]
fn what_takes_too_long_gives_the_first_tools_in_order_and_says_so() {
    let options = Options { max_candidates: 2, ..Options::default() };
    let late = |_: &[Arc<Tool>], _: &[Score]| Scored::Late(Duration::from_millis(50));
    let picks = pick(&json!("refund a customer"), &options, late);
    assert_eq!(names(&picks), ["refund_payment", "list_orders"]);
    assert!(picks.fallback.unwrap().contains("longer than 50 ms"));
}

#[test]
fn a_scorer_that_fails_is_replaced_by_words() {
    let failed = |_: &[Arc<Tool>], _: &[Score]| Scored::Failed("no power".into());
    let picks = pick(&json!("refund a customer"), &Options::default(), failed);
    assert_eq!(names(&picks)[0], "refund_payment");
    assert_eq!(picks.fallback.unwrap(), "scored by words, since custom failed: no power");
    let few = |_: &[Arc<Tool>], _: &[Score]| Scored::Done(Vec::new());
    let picks = pick(&json!("refund"), &Options::default(), few);
    assert!(picks.fallback.unwrap().contains("another number of scores"));
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
        let input = json!("refund a customer");
        pick(&input, &Options::default(), |tools, words| {
            by_llm(&Says(says), &input_text(&input), tools, words)
        })
    };
    let picks = ask("Sure!\n```json\n{\"1\": 0.4, \"2\": 0.9, \"99\": 1, \"3\": \"x\"}\n```");
    assert_eq!(picks.candidates.len(), 2);
    assert_eq!(picks.candidates[1].tool.names.canonical, "refund_payment");
    assert!(ask("{}").candidates.is_empty());
    assert!(ask("neither tool fits").fallback.unwrap().contains("no JSON object"));
}
