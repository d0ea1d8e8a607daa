//! Reads arguments from a query, for functions that answer GET: `/v1/tool_help?path=onto.task&format=full`.

use serde_json::{Map, Value};

use crate::finding::from_json;
use crate::functions::Function;
use crate::serve::response::problem::{Problem, ProblemCode};
use crate::tool::quoted;

/// The arguments of a query. A list may be given as several fields. Numbers and booleans are converted, and must not
/// be repeated. The function refuses values that do not fit.
pub(super) fn arguments(function: &Function, query: &str) -> Result<Value, Problem> {
    let properties =
        function.definition().and_then(|definition| definition.parameters.schema().get("properties"));
    let kind = |name: &str| properties.and_then(|properties| properties.get(name)?.get("type")?.as_str());
    let mut arguments = Map::new();
    for (name, text) in form_urlencoded::parse(query.as_bytes()) {
        match (kind(&name), arguments.get_mut(&*name)) {
            (Some("array"), Some(Value::Array(list))) => list.push(text.into()),
            (Some("array"), _) => {
                arguments.insert(name.into_owned(), Value::Array(vec![text.into()]));
            }
            (_, Some(_)) => {
                let message = format!("`{}` is there twice in the query", quoted(&name));
                return Err(Problem::new(ProblemCode::ValidationError, message).next("send it once"));
            }
            (None | Some("string"), None) => {
                arguments.insert(name.into_owned(), text.into());
            }
            (Some(_), None) => {
                let value = from_json(&text).unwrap_or_else(|_| text.as_ref().into());
                arguments.insert(name.into_owned(), value);
            }
        }
    }
    Ok(Value::Object(arguments))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_query_says_what_a_body_would() {
        let check = |query: &str, expect: Value| {
            let read = arguments(Function::named("tool_help").unwrap(), query).ok();
            assert_eq!(read, Some(expect), "{query}");
        };
        check("", json!({}));
        check("path=onto.task&format=full", json!({"path": "onto.task", "format": "full"}));
        check(
            "paths=a&paths=b%20c&include_schemas=true",
            json!({"paths": ["a", "b c"], "include_schemas": true}),
        );
        check("include_schemas=perhaps&x=1", json!({"include_schemas": "perhaps", "x": "1"}));
    }
}
