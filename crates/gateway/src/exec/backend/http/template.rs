//! A path as a template of RFC 6570, whose other parts no value can change.

use serde_json::{Map, Value};

use super::expression::Expression;
use super::text::{encode_literal, plain};
use crate::exec::backend::backend_error::{BackendError, Result};

/// A template of a path, which may go on with a query.
pub(super) struct Template(Vec<Piece>);

/// A run of literal text, or one expression.
enum Piece {
    Literal(String),
    Expression(Expression),
}

/// A template with values in it.
#[derive(Debug, PartialEq)]
pub(super) struct Expanded {
    /// Begins with a slash.
    pub(super) path: String,
    /// The part of the query that the template has, without its question mark.
    pub(super) query: String,
}

impl Template {
    pub(super) fn parse(template: &str) -> Result<Self> {
        let wrong = |what: &str| Err(BackendError::unconfigured(format!("the path of its backend {what}")));
        let mut pieces = Vec::new();
        let mut rest = template;
        while let Some((literal, after)) = rest.split_once('{') {
            pieces.push(Piece::Literal(literal.to_string()));
            let Some((inside, after)) = after.split_once('}') else {
                return wrong("has a brace without an end");
            };
            match Expression::new(inside) {
                Some(expression) if expression.operator == Some('#') => {
                    return wrong("has a fragment, which is never sent");
                }
                Some(expression) => pieces.push(Piece::Expression(expression)),
                None => return wrong("is no template that RFC 6570 knows"),
            }
            rest = after;
        }
        pieces.push(Piece::Literal(rest.to_string()));
        Ok(Self(pieces))
    }

    /// The names of its variables.
    pub(super) fn variables(&self) -> impl Iterator<Item = &str> {
        let expressions = self.0.iter().filter_map(|piece| match piece {
            Piece::Expression(expression) => Some(expression),
            Piece::Literal(_) => None,
        });
        expressions.flat_map(Expression::names)
    }

    /// Puts values in. `called` gives the argument for a variable.
    pub(super) fn expand(
        &self,
        values: &Map<String, Value>,
        called: &dyn Fn(&str) -> String,
    ) -> Result<Expanded> {
        let mut path = String::new();
        // From the first question mark on.
        let mut query: Option<String> = None;
        for piece in &self.0 {
            match (piece, &mut query) {
                (Piece::Literal(text), Some(query)) => query.push_str(&encode_literal(text)),
                (Piece::Literal(text), None) => {
                    let (before, after) =
                        text.split_once('?').map_or((&**text, None), |(path, query)| (path, Some(query)));
                    path.push_str(&encode_literal(before));
                    query = after.map(encode_literal);
                }
                (Piece::Expression(expression), None) if !expression.is_query() => {
                    check(expression, values, called)?;
                    path.push_str(&expression.expand(values));
                }
                (Piece::Expression(expression), query) => {
                    let text = expression.expand(values);
                    // Other operators encode these separators.
                    if expression.operator == Some('+') && text.contains(['&', ';', '#']) {
                        let argument = called(expression.names().next().unwrap_or_default());
                        let message =
                            format!("`{argument}` is part of the query, so it cannot hold `&`, `;` or `#`");
                        return Err(BackendError::invalid_argument(&argument, message));
                    }
                    query.get_or_insert_default().push_str(&text);
                }
            }
        }
        if path.contains(['?', '#']) {
            let message = "a value of the path holds a `?` or `#`, which it cannot";
            return Err(BackendError::invalid_argument("", message));
        }
        if !path.starts_with('/') {
            path.insert(0, '/');
        }
        let query = query.unwrap_or_default();
        Ok(Expanded { path, query: query.trim_start_matches(['?', '&']).to_string() })
    }
}

/// Refuses values with which the path would be broken.
fn check(
    expression: &Expression,
    values: &Map<String, Value>,
    called: &dyn Fn(&str) -> String,
) -> Result<()> {
    for name in expression.names() {
        let argument = called(name);
        let unfit =
            |what: &str| Err(BackendError::invalid_argument(&argument, format!("`{argument}` {what}")));
        match values.get(name).unwrap_or(&Value::Null) {
            Value::Null if expression.needs_values() => {
                return unfit("is part of the path, so it has to be given");
            }
            Value::String(text) if text.trim().is_empty() => {
                return unfit("is part of the path, so it cannot be empty");
            }
            Value::String(text) if text == "." || text == ".." => {
                return unfit("is part of the path, so it cannot be only dots");
            }
            value if expression.operator == Some('+') && climbs(value) => {
                return unfit("is part of the path, so no step of it can be only dots");
            }
            value if parts(value).any(|part| part.as_str().is_some_and(|text| text.trim().is_empty())) => {
                return unfit("is part of the path, so no value in it can be empty");
            }
            Value::Array(items) if items.is_empty() || !items.iter().all(is_scalar) => {
                return unfit("is part of the path, so it can only be a list of plain values");
            }
            Value::Object(fields) if fields.is_empty() || !fields.values().all(is_scalar) => {
                return unfit("is part of the path, so it can only be an object of plain values");
            }
            _ => {}
        }
    }
    Ok(())
}

/// Whether a segment of a path is `.` or `..`, also with percent-encoded dots and slashes, even encoded twice.
fn climbs(value: &Value) -> bool {
    let steps_are_dots = |text: &str| text.split(['/', '\\']).any(|step| matches!(step, "." | ".."));
    let text_climbs = |text: &str| {
        let mut text = text.to_ascii_lowercase();
        for _ in 0..4 {
            if steps_are_dots(&text) {
                return true;
            }
            text = text.replace("%2e", ".").replace("%2f", "/").replace("%5c", "\\").replace("%25", "%");
        }
        false
    };
    match value {
        Value::Array(items) => items.iter().any(climbs),
        Value::Object(fields) => fields.iter().any(|(name, value)| text_climbs(name) || climbs(value)),
        value => text_climbs(&plain(value)),
    }
}

/// The values in a list or an object.
pub(super) fn parts(value: &Value) -> impl Iterator<Item = &Value> {
    let items = value.as_array().into_iter().flatten();
    items.chain(value.as_object().into_iter().flat_map(Map::values))
}

fn is_scalar(value: &Value) -> bool {
    !matches!(value, Value::Null | Value::Array(_) | Value::Object(_))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Expanded, Template};

    fn expand(template: &str, values: Value) -> Result<Expanded, String> {
        let template = Template::parse(template).map_err(|error| error.message)?;
        let values = values.as_object().cloned().unwrap();
        template.expand(&values, &|name| name.to_string()).map_err(|error| error.message)
    }

    #[track_caller]
    fn check(template: &str, values: Value, path: &str, query: &str) {
        let expect = Expanded { path: path.into(), query: query.into() };
        assert_eq!(expand(template, values), Ok(expect), "{template}");
    }

    #[test]
    fn values_are_encoded_where_they_stand() {
        check("/tasks/{id}", json!({"id": "a b/../c?d#e%2e"}), "/tasks/a%20b%2F..%2Fc%3Fd%23e%252e", "");
        check("/tasks/{id}", json!({"id": 7}), "/tasks/7", "");
        check("tasks/{task-id}/{ünder}", json!({"task-id": "ä", "ünder": true}), "/tasks/%C3%A4/true", "");
        check("/{ids}", json!({"ids": ["a", "b,c", 3]}), "/a,b%2Cc,3", "");
        check("/files/{+path}", json!({"path": "a/b c.txt"}), "/files/a/b%20c.txt", "");
        check("/files/{+path}", json!({"path": "日本.txt"}), "/files/%E6%97%A5%E6%9C%AC.txt", "");
        check(
            "/files/{+path}",
            json!({"path": "ü/100%/%e2%82%ac%2"}),
            "/files/%C3%BC/100%25/%e2%82%ac%252",
            "",
        );
        check("/x?q={+q}", json!({"q": ["é", "\u{1F980}"]}), "/x", "q=%C3%A9,%F0%9F%A6%80");
        check("/x{/a,b}", json!({"a": 1}), "/x/1", "");
        check("/x{?a,b*}", json!({"a": 1, "b": ["x", "y"]}), "/x", "a=1&b=x&b=y");
        check("/x?fixed=1{&a}", json!({"a": "&"}), "/x", "fixed=1&a=%26");
        check("/it's/{a}", json!({"a": "b"}), "/it%27s/b", "");
    }

    #[test]
    fn a_template_that_is_no_uri_is_written_as_one() {
        let path = "/100%25/%5Ba%5D/b%2Fc/7";
        let query = "filter%5Bx%5D=1%252";
        check("/100%/[a]/b%2Fc/{id}?filter[x]=1%252", json!({"id": 7}), path, query);
        check("/files/{+path}", json!({"path": "[a]%"}), "/files/%5Ba%5D%25", "");
    }

    #[test]
    fn a_path_with_a_hole_is_refused() {
        for value in
            [json!({}), json!({"id": null}), json!({"id": ""}), json!({"id": " "}), json!({"id": []})]
        {
            assert!(expand("/tasks/{id}", value.clone()).is_err(), "{value}");
        }
        for value in [json!([""]), json!(["a", " "]), json!({"a": ""})] {
            assert!(expand("/tasks/{id}", json!({"id": value})).is_err(), "{value}");
            assert!(expand("/tasks{/id*}", json!({"id": value})).is_err(), "{value}");
        }
        for value in ["..", "."] {
            assert!(expand("/tasks/{id}", json!({"id": value})).is_err(), "{value}");
        }
        assert!(expand("/files/{+path}", json!({"path": "a?b"})).is_err());
        for path in ["..%2fadmin", "a/%2e%2E/b", "%252e%252e/x", "a\\..%5cb", "a/.%2e", "../x", "a/./b"] {
            assert!(expand("/files/{+path}", json!({"path": path})).is_err(), "{path}");
        }
        check("/files/{+path}", json!({"path": "a..b/.c/d."}), "/files/a..b/.c/d.", "");
        for query in ["a&admin=1", "a;admin=1", "a#b"] {
            assert!(expand("/x?q={+q}", json!({"q": query})).is_err(), "{query}");
        }
        check("/x?q={+q}", json!({"q": "a/b:c"}), "/x", "q=a/b:c");
        assert!(expand("/x{#a}", json!({"a": 1})).is_err());
        assert!(expand("/x{a", json!({"a": 1})).is_err());
    }
}
