//! Cohere, version 2, with strict mode per request (docs/reference/formats.md, Cohere).

use toolcrib_providers::Provider;

use super::judge::{Case, Judge, Names, chat_functions, chat_shape, only_list};
use super::report::Report;
use super::schema::{self, Schema};

/// The column "Cohere v2"; names as version 1 had them.
pub const JUDGE: Judge = Judge {
    provider: Provider::Cohere,
    names: Names {
        first: |c| c.is_ascii_alphabetic() || c == '_',
        rest: |c| c.is_ascii_alphanumeric() || c == '_',
        most: 64,
    },
    limit: None,
    native: false,
    found: |body| chat_functions(body, "/tools"),
    shape,
    schema: schema_rules,
};

/// No `strict` on a function, and `strict_tools` stays off, since it would hold for stubs too.
fn shape(case: &Case<'_>, report: &mut Report) {
    only_list(case.body(), "tools", report);
    chat_shape(case.body(), "/tools", &[], report);
}

fn schema_rules(schema: &Schema<'_>, report: &mut Report) {
    schema::root_is_object(schema, report);
    schema::root_has_properties(schema, report);
    schema::references_resolve(schema, report);
    schema::valid_2020_12(schema, report);
}
