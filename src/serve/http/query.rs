//! Arguments in a query, for functions that are read with GET: `/v1/tool_help?path=onto.task&format=full`.

use serde_json::{Map, Value};

use crate::functions::Function;

/// The arguments that a query says. What should be a list may be said several times; what should be a number or a truth
/// value is read as one. What does not fit is for the function to refuse.
pub(super) fn arguments(function: &Function, query: &str) -> Value {
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
            (None | Some("string"), _) => {
                arguments.insert(name.into_owned(), text.into());
            }
            (Some(_), _) => {
                let value = serde_json::from_str(&text).unwrap_or_else(|_| text.as_ref().into());
                arguments.insert(name.into_owned(), value);
            }
        }
    }
    Value::Object(arguments)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_query_says_what_a_body_would() {
        let check = |query: &str, expect: Value| {
            assert_eq!(arguments(Function::named("tool_help").unwrap(), query), expect, "{query}");
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
