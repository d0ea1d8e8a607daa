//! OpenAI Chat Completions (docs/reference/formats.md, OpenAI Chat Completions).

use toolcrib_providers::Provider;

use super::judge::{Case, Judge, PLAIN_NAMES, chat_functions, chat_shape, only_list};
use super::openai_strict;
use super::report::Report;
use super::schema::{self, Schema};

/// The column "OpenAI Chat".
pub const JUDGE: Judge = Judge {
    provider: Provider::OpenAi,
    names: PLAIN_NAMES,
    limit: Some(128),
    native: false,
    found: |body| chat_functions(body, "/tools"),
    shape,
    schema: schema_rules,
};

/// "schema must have type 'object' and not have ... at the top level".
pub const REFUSED_AT_ROOT: [&str; 6] = ["oneOf", "anyOf", "allOf", "enum", "const", "not"];

fn shape(case: &Case<'_>, report: &mut Report) {
    only_list(case.body(), "tools", report);
    chat_shape(case.body(), "/tools", &["strict"], report);
}

/// OpenAI's rules of `parameters`, strict or not.
pub fn schema_rules(schema: &Schema<'_>, report: &mut Report) {
    schema::root_is_object(schema, report);
    schema::root_has_properties(schema, report);
    schema::root_lacks(schema, &REFUSED_AT_ROOT, report);
    schema::arrays_have_items(schema, report);
    schema::references_resolve(schema, report);
    schema::valid_2020_12(schema, report);
    if schema.strict {
        openai_strict::subset(schema, report);
    }
}
