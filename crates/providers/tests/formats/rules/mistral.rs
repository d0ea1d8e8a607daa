//! Mistral, which compiles schemas and refuses unknown fields (docs/reference/formats.md, Mistral).

use toolcrib_providers::Provider;

use super::judge::{Case, Judge, PLAIN_NAMES, chat_functions, chat_shape, only_list};
use super::openai_strict;
use super::report::Report;
use super::schema::{self, Schema};

/// The column "Mistral".
pub const JUDGE: Judge = Judge {
    provider: Provider::Mistral,
    names: PLAIN_NAMES,
    limit: None,
    native: false,
    found: |body| chat_functions(body, "/tools"),
    shape,
    schema: schema_rules,
};

fn shape(case: &Case<'_>, report: &mut Report) {
    only_list(case.body(), "tools", report);
    chat_shape(case.body(), "/tools", &["strict"], report);
}

fn schema_rules(schema: &Schema<'_>, report: &mut Report) {
    schema::root_is_object(schema, report);
    schema::root_has_properties(schema, report);
    schema::lacks(schema, &["$schema", "$id"], report);
    schema::references_resolve(schema, report);
    schema::valid_2020_12(schema, report);
    if schema.strict {
        openai_strict::subset(schema, report);
    }
}
