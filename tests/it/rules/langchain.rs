//! LangChain's `bind_tools`, whose dicts reach OpenAI and Anthropic alike (docs/reference/wires.md, LangChain).

use toolcrib::provider::Provider;

use super::judge::{Case, Judge, PLAIN_NAMES, chat_functions, chat_shape};
use super::openai::schema_rules as openai_rules;
use super::report::Report;
use super::schema::{self, Schema};

/// No name is checked on the way: what fails, fails at the API behind it.
pub const JUDGE: Judge = Judge {
    provider: Provider::LangChain,
    names: PLAIN_NAMES,
    limit: Some(128),
    native: false,
    found: |body| chat_functions(body, ""),
    shape,
    schema: schema_rules,
};

fn shape(case: &Case<'_>, report: &mut Report) {
    report.demand(case.body().is_array(), "a list", "");
    chat_shape(case.body(), "", &["strict"], report);
}

fn schema_rules(schema: &Schema<'_>, report: &mut Report) {
    openai_rules(schema, report);
    schema::portable_keys(schema, report);
}
