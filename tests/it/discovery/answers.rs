//! Content of answers: reasons, hints when nothing fits, and errors in arguments.

use std::sync::{Arc, LazyLock};

use serde_json::{Value, json};
use toolcrib::functions::{CatalogView, Function, FunctionContext};
use toolcrib::render::Templates;

use super::{TOOLS, ask, catalog, texts};
use toolcrib::search::Verdict;

use crate::fixture::{self, folder, run, text};

fn call(catalog: &str, function: &str, arguments: &Value, more: &[&str]) -> Value {
    let arguments = arguments.to_string();
    let asked = ["call", function, &arguments, catalog];
    serde_json::from_str(&run(&[&asked, more].concat()).stdout).unwrap()
}

/// The answer with examples/github, read once.
fn github(function: &str, arguments: Value) -> Value {
    static GITHUB: LazyLock<Arc<CatalogView>> = LazyLock::new(|| {
        let checked = fixture::open("examples/github".as_ref());
        let templates = Arc::new(Templates::from(toolcrib::BUILT_IN));
        Arc::new(CatalogView::new(&checked.catalog, None, None, templates).unwrap())
    });
    let context = FunctionContext::of(Arc::clone(&GITHUB));
    let answer = Function::named(function).unwrap().call(&context, arguments);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    Value::Object(runtime.block_on(answer).body())
}

#[test]
fn what_the_caller_may_not_call_is_not_picked() {
    let unsafe_too = TOOLS.replace("\"when_forbidden\"", "\"safe\": false, \"when_forbidden\"");
    assert_ne!(unsafe_too, TOOLS);
    let folder = folder(&[("tools.json", &unsafe_too)]);
    let asked =
        json!({"input": "refund a payment", "allow_unsafe": true, "min_score": 0, "max_candidates": 50});
    let pick = |asked: &Value, role: &str| call(text(folder.path()), "pick", asked, &["--role", role]);
    let picked = |role: &str| texts(&pick(&asked, role)["candidates"], "tool");
    assert!(picked("admin").contains(&"refund_payment".to_string()));
    assert!(!picked("guest").contains(&"refund_payment".to_string()));
    let left_out = |role: &str| pick(&json!({"input": "refund a payment"}), role)["unsafe_left_out"].clone();
    assert_eq!((left_out("admin"), left_out("guest")), (json!(1), Value::Null));
}

#[test]
fn whole_numbers_may_have_a_point_in_every_function() {
    for (function, mut arguments, number) in [
        ("list", json!({}), "limit"),
        ("search_nodes", json!({"query": "create an issue"}), "limit"),
        ("search_tool_by_category", json!({"query": "create an issue"}), "limit"),
        ("tool_search", json!({"query": "create an issue"}), "limit"),
        ("pick", json!({"input": "create an issue"}), "max_candidates"),
    ] {
        arguments[number] = json!(1);
        let whole = github(function, arguments.clone());
        arguments[number] = json!(1.0);
        assert_eq!(github(function, arguments), whole, "{function}");
    }
}

#[test]
fn every_validation_error_names_the_field_and_shows_what_fits() {
    for (function, arguments) in [
        ("list", json!({"limit": 1.5})),
        ("list", json!({"cursor": "made up"})),
        ("search_nodes", json!({"query": " \n\t"})),
        ("search_tool_by_category", json!({"query": "  "})),
        ("tool_search", json!({"query": " "})),
        ("tool_search", json!({"queries": [" "]})),
        ("tool_search", json!({})),
        ("read_tool_doc", json!({})),
        ("pick", json!({"input": "x", "scorer": "llm"})),
        ("pick", json!({"input": "x", "timeout_ms": 0.5})),
        ("expand_tool", json!({"tool_id": 7.5})),
    ] {
        let error = github(function, arguments.clone())["error"].clone();
        assert_eq!(error["code"], "VALIDATION_ERROR", "{function} {arguments}");
        assert!(error["field_errors"][0]["pointer"].is_string(), "{function} {arguments}: {error}");
        assert!(error["example"].is_object(), "{function} {arguments}: {error}");
        assert!(!error.to_string().contains("invalid type"), "{error}");
    }
    let blank = github("list", json!({"query": " "}));
    assert_eq!(blank, github("list", json!({})), "a list can do without");
}

#[test]
fn hits_say_why_they_are_there() {
    let found = github("search_nodes", json!({"query": "list my gists"}));
    let best = &found["results"][0];
    assert_eq!(best["path"], json!(["Gists"]));
    let reason = best["reason"].as_str().unwrap();
    assert!(reason.starts_with("name: Gists; tools: github."), "{reason}");
    for (function, arguments, hits) in [
        ("list", json!({"query": "make a new issue"}), "tools"),
        ("list", json!({"query": "make a new issue"}), "nodes"),
        ("search_tool_by_category", json!({"query": "make a new issue"}), "results"),
    ] {
        let hit = &github(function, arguments)[hits][0];
        assert!(hit["reason"].as_str().is_some_and(|reason| reason.contains("issue")), "{function}: {hit}");
        assert!(hit["confidence"].is_f64(), "{hit}");
    }
    assert!(github("list", json!({}))["nodes"][0].get("reason").is_none(), "nothing was asked");
}

#[test]
fn where_no_tool_fits_no_category_does_unless_it_is_named() {
    for query in ["play music", "qzxv jjkw", "translate good morning into Swahili"] {
        let tools = github("tool_search", json!({"query": query, "format": "json"}));
        let is_none = tools["verdict"] == "no_match";
        assert!(is_none || query.contains("Swahili"), "{tools}");
        for function in ["search_nodes", "list", "search_tool_by_category"] {
            let answer = github(function, json!({"query": query}));
            assert_eq!(answer["ok"], !is_none, "{function} {query}: {answer}");
            assert!(!is_none || answer["error"]["code"] == "NO_MATCH_IN_CATEGORY", "{answer}");
            assert!(!is_none || answer["error"]["hints"]["categories"].is_array(), "{answer}");
        }
    }
    let named = github("search_nodes", json!({"query": "gists"}));
    assert_eq!(named["results"][0]["path"], json!(["Gists"]));
}

#[test]
fn a_search_that_nothing_fits_names_the_words_that_nothing_has() {
    let query = "order a pizza with mushrooms";
    let unmet = json!(["pizza", "mushrooms"]);
    let found = github("tool_search", json!({"query": query, "format": "json"}));
    assert_eq!((&found["verdict"], &found["unmet"]), (&json!("no_match"), &unmet), "{found}");
    for function in ["search_nodes", "list", "search_tool_by_category"] {
        let answer = github(function, json!({"query": query}));
        assert_eq!(answer["error"]["hints"]["unmet"], unmet, "{function}: {answer}");
    }
    let catalog = ["examples/github"];
    let lines =
        run(&[&["call", "tool_search", &json!({"query": query}).to_string(), "--text"], &catalog[..]]
            .concat());
    assert!(lines.stdout.starts_with("no_match (nothing has: pizza, mushrooms): "), "{}", lines.stdout);
    let printed = run(&[&["search", query], &catalog[..]].concat());
    assert!(printed.stdout.contains("(nothing has: pizza, mushrooms)"), "{}", printed.stdout);
    let library = toolcrib::Catalog::open("examples/github").unwrap().search(query, 5, None).unwrap();
    assert_eq!(
        (library.verdict, library.unmet.as_slice()),
        (Verdict::NoMatch, &["pizza", "mushrooms"].map(String::from)[..])
    );
    let met =
        toolcrib::Catalog::open("examples/github").unwrap().search("open a pull request", 3, None).unwrap();
    assert!(met.verdict == Verdict::Match && met.unmet.is_empty());
}

#[test]
fn a_category_is_no_surer_than_its_best_tool_unless_it_is_named() {
    let best = |answer: &Value, hits: &str| {
        let confidences =
            answer[hits].as_array().unwrap().iter().map(|hit| hit["confidence"].as_f64().unwrap());
        confidences.fold(0.0, f64::max)
    };
    for query in ["oauth login", "who am i", "start a workflow run", "look at a diff"] {
        let categories = github("search_nodes", json!({"query": query}));
        if categories["ok"] == false {
            continue;
        }
        let tools = github("tool_search", json!({"query": query, "format": "json"}));
        let is_named = categories["results"][0]["reason"].as_str().unwrap().starts_with("name: ");
        assert!(is_named || best(&categories, "results") <= best(&tools, "tools"), "{query}: {categories}");
    }
}

#[test]
fn a_poor_hit_in_a_category_is_none_when_there_is_a_good_one_elsewhere() {
    let asked = json!({"query": "merge pull request 17", "category_path": ["Gists"]});
    let error = github("search_tool_by_category", asked)["error"].clone();
    assert_eq!(error["code"], "NO_MATCH_IN_CATEGORY", "{error}");
    assert_eq!(error["hints"]["categories"][0]["path"], json!(["Pull requests"]), "{error}");
    let listed = github("list", json!({"query": "merge pull request 17", "path": ["Gists"]}));
    assert_eq!(listed["error"]["code"], "NO_MATCH_IN_CATEGORY", "{listed}");
    let right = json!({"query": "merge pull request 17", "category_path": ["Pull requests"]});
    assert_eq!(
        github("search_tool_by_category", right)["results"][0]["tool_id"],
        "github.merge_pull_request"
    );
}

#[test]
fn tags_that_leave_nothing_are_told() {
    let folder = catalog();
    for (path, there) in [(json!([]), "refactor"), (json!(["Coding"]), "style")] {
        let asked = json!({"path": path, "tags": ["nowhere"], "query": "rename symbol"});
        let error = ask(&folder, "list", asked)["error"].clone();
        assert_eq!(error["code"], "NO_MATCH_IN_CATEGORY");
        assert!(error["message"].as_str().unwrap().contains("has the tag nowhere"), "{error}");
        assert!(error["hints"]["tags"].as_array().unwrap().contains(&json!(there)), "{error}");
    }
    let error = ask(&folder, "list", json!({"tags": ["storage"], "query": "qzxv jjkw"}))["error"].clone();
    assert!(error["message"].as_str().unwrap().contains("with the tags storage"), "{error}");
}

#[test]
fn a_pick_of_what_does_not_fit_is_no_match() {
    let pick = |more: Value| {
        let mut asked = json!({"input": "play music"});
        asked.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        github("pick", asked)
    };
    let near = pick(json!({"min_score": 0}));
    assert_eq!(near["verdict"], "no_match");
    assert!(!near["candidates"].as_array().unwrap().is_empty(), "the nearest are listed: {near}");
    let none = github("pick", json!({"input": "look at a diff", "min_score": 1}));
    assert_eq!((&none["verdict"], &none["candidates"]), (&json!("no_match"), &json!([])));

    let payload = |more: &[&str]| {
        let asked = ["payload", "examples/github", "--provider", "openai", "--pick", "play music"];
        run(&[&asked, more].concat())
    };
    let unfit = payload(&[]);
    assert_eq!((unfit.code, unfit.stdout.trim()), (0, "{}"), "{}", unfit.stderr);
    let bound = payload(&["--min-score", "0"]);
    assert_eq!((bound.code, bound.stdout.trim()), (0, "{}"), "{}", bound.stderr);
    assert!(bound.stderr.contains("none fits; the nearest are "), "{}", bound.stderr);
    assert!(bound.stderr.contains("no_match_below = 0"), "{}", bound.stderr);
}

#[test]
fn an_empty_category_is_an_error_in_words() {
    for category in [json!(""), json!(["A/B", " / "])] {
        let tools = json!([{"name": "a", "description": "d", "category": category, "parameters": {"type": "object"}}]);
        let folder = folder(&[("tools.json", &tools.to_string())]);
        let checked = fixture::open(folder.path());
        let messages: Vec<&str> = checked.findings.iter().map(|finding| finding.message.as_str()).collect();
        assert!(messages.iter().any(|message| message.contains("at least one segment")), "{messages:?}");
        assert!(!messages.iter().any(|message| message.contains("untagged")), "{messages:?}");
    }
}
