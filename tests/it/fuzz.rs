//! The inputs that fuzzing found worth keeping, checked again: what reached far, and what broke a promise once.

#[path = "../../fuzz/src/lib.rs"]
mod targets;

use std::fs;
use std::path::PathBuf;

use crate::fixture;

fn replay(target: &str, check: fn(&[u8])) {
    let folder = fixture::package().join("fuzz/corpus").join(target);
    let entries = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut inputs: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    inputs.sort();
    assert!(!inputs.is_empty(), "{} is empty", folder.display());
    for input in inputs {
        let bytes = fs::read(&input).unwrap();
        let checked = std::panic::catch_unwind(|| check(&bytes));
        assert!(checked.is_ok(), "{} breaks a promise, see above", input.display());
    }
}

#[test]
#[ignore = "slow"]
fn sources_are_loaded_and_documented_the_same_each_time() {
    replay("load", targets::load::check);
}

#[test]
#[ignore = "slow"]
fn configurations_are_read_or_reported() {
    replay("config", targets::config::check);
}

#[test]
#[ignore = "slow"]
fn openapi_documents_give_operations_that_are_there() {
    replay("openapi", targets::openapi::check);
}

#[test]
#[ignore = "slow"]
fn arguments_that_are_taken_fit_and_corrections_are_taken() {
    replay("arguments", targets::arguments::check);
}

#[test]
#[ignore = "slow"]
fn views_are_schemas_that_accept_the_ready_made_call() {
    replay("views", targets::views::check);
}

#[test]
#[ignore = "slow"]
fn calls_in_responses_fit_and_can_be_answered() {
    replay("responses", targets::responses::check);
}

#[test]
#[ignore = "slow"]
fn requests_go_to_a_valid_uri_below_the_base() {
    replay("requests", targets::requests::check);
}

#[test]
#[ignore = "slow"]
fn text_of_tools_stays_in_its_place() {
    replay("markdown", targets::markdown::check);
}
