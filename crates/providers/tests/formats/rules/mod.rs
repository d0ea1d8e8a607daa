//! Payloads obey the rules of docs/reference/formats.md: every real catalog, provider and mode, judged by the JSON
//! alone.
//!
//! 1. [`judge`] is what one provider demands; one file a provider holds its rules.
//! 2. [`schema`], [`openai_strict`] and [`anthropic_strict`] are the rules that several share.
//! 3. [`sweep`] makes the payloads and holds them to the rules; [`report`] says which are broken, and where.
//! 4. [`order`], [`limits`], [`strict`] and [`findings`] are about more than one payload, or about hostile input.

mod anthropic;
mod anthropic_strict;
mod bedrock;
mod cohere;
mod findings;
mod gemini;
mod judge;
mod langchain;
mod limits;
mod mcp;
mod mistral;
mod mode;
mod ollama;
mod openai;
mod openai_strict;
mod order;
mod report;
mod responses;
mod schema;
mod strict;
mod sweep;
mod told;

use judge::Judge;

/// The judge of each provider.
const JUDGES: [&Judge; 11] = [
    &openai::JUDGE,
    &responses::JUDGE,
    &anthropic::JUDGE,
    &gemini::JUDGE,
    &gemini::INTERACTIONS,
    &bedrock::JUDGE,
    &ollama::JUDGE,
    &mistral::JUDGE,
    &cohere::JUDGE,
    &mcp::JUDGE,
    &langchain::JUDGE,
];

#[test]
fn every_provider_has_a_judge() {
    assert_eq!(JUDGES.map(|judge| judge.provider), toolcrib_providers::Provider::ALL);
}

#[test]
fn openai() {
    sweep::catalogs(&openai::JUDGE);
}

#[test]
#[ignore = "slow"]
fn openai_responses() {
    sweep::catalogs(&responses::JUDGE);
}

#[test]
#[ignore = "slow"]
fn anthropic() {
    sweep::catalogs(&anthropic::JUDGE);
}

#[test]
fn gemini() {
    sweep::catalogs(&gemini::JUDGE);
}

#[test]
#[ignore = "slow"]
fn gemini_interactions() {
    sweep::catalogs(&gemini::INTERACTIONS);
}

#[test]
#[ignore = "slow"]
fn bedrock() {
    sweep::catalogs(&bedrock::JUDGE);
}

#[test]
fn ollama() {
    sweep::catalogs(&ollama::JUDGE);
}

#[test]
fn mistral() {
    sweep::catalogs(&mistral::JUDGE);
}

#[test]
fn cohere() {
    sweep::catalogs(&cohere::JUDGE);
}

#[test]
fn mcp() {
    sweep::catalogs(&mcp::JUDGE);
}

#[test]
fn langchain() {
    sweep::catalogs(&langchain::JUDGE);
}
