//! The path of a request: a template of RFC 6570 with arguments in their places. A value cannot change other parts of it.

use serde_json::{Map, Value};

use super::text::{encode, encode_literal, encode_reserved, plain};
use crate::exec::backend::BackendError;

/// A path template, split where the query begins.
pub(super) struct Template {
    path: Vec<Piece>,
    query: Vec<Piece>,
}

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
    pub(super) fn parse(template: &str) -> Result<Self, BackendError> {
        let wrong = |what: &str| Err(BackendError::unconfigured(format!("the path of its backend {what}")));
        let (mut pieces, mut rest) = (Vec::new(), template);
        while let Some((literal, after)) = rest.split_once('{') {
            pieces.push(Piece::Literal(literal.to_string()));
            let Some((inside, after)) = after.split_once('}') else {
                return wrong("has a brace without an end");
            };
            match Expression::new(inside) {
                Some(expression) if expression.operator() == Some('#') => {
                    return wrong("has a fragment, which is never sent");
                }
                Some(expression) => pieces.push(Piece::Expression(expression)),
                None => return wrong("is no template that RFC 6570 knows"),
            }
            rest = after;
        }
        pieces.push(Piece::Literal(rest.to_string()));
        let (mut path, mut query) = (Vec::new(), Vec::new());
        for piece in pieces {
            match piece {
                piece if !query.is_empty() => query.push(piece),
                Piece::Literal(text) => match text.split_once('?') {
                    Some((before, after)) => {
                        path.push(Piece::Literal(before.to_string()));
                        query.push(Piece::Literal(after.to_string()));
                    }
                    None => path.push(Piece::Literal(text)),
                },
                Piece::Expression(expression) if expression.is_query() => {
                    query.push(Piece::Expression(expression));
                }
                expression => path.push(expression),
            }
        }
        Ok(Self { path, query })
    }

    /// The names of its variables.
    pub(super) fn variables(&self) -> impl Iterator<Item = &str> {
        let expressions = self.path.iter().chain(&self.query).filter_map(|piece| match piece {
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
    ) -> Result<Expanded, BackendError> {
        let mut path = String::new();
        for piece in &self.path {
            match piece {
                Piece::Literal(text) => path.push_str(&encode_literal(text)),
                Piece::Expression(expression) => {
                    check(expression, values, called)?;
                    path.push_str(&expression.expand(values));
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
        let mut query = String::new();
        for piece in &self.query {
            match piece {
                Piece::Literal(text) => query.push_str(&encode_literal(text)),
                Piece::Expression(expression) => {
                    let text = expression.expand(values);
                    // Other operators encode these separators.
                    if expression.operator() == Some('+') && text.contains(['&', ';', '#']) {
                        let argument = called(expression.names().next().unwrap_or_default());
                        let message =
                            format!("`{argument}` is part of the query, so it cannot hold `&`, `;` or `#`");
                        return Err(BackendError::invalid_argument(&argument, message));
                    }
                    query.push_str(&text);
                }
            }
        }
        Ok(Expanded { path, query: query.trim_start_matches(['?', '&']).to_string() })
    }
}

/// Refuses values with which the path would be broken.
fn check(
    expression: &Expression,
    values: &Map<String, Value>,
    called: &dyn Fn(&str) -> String,
) -> Result<(), BackendError> {
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
            value if expression.operator() == Some('+') && climbs(value) => {
                return unfit("is part of the path, so no step of it can be only dots");
            }
            value if parts(value).any(|part| part.as_str().is_some_and(|text| text.trim().is_empty())) => {
                return unfit("is part of the path, so none of its values can be empty");
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
fn parts(value: &Value) -> impl Iterator<Item = &Value> {
    let items = value.as_array().into_iter().flatten();
    items.chain(value.as_object().into_iter().flat_map(Map::values))
}

fn is_scalar(value: &Value) -> bool {
    !matches!(value, Value::Null | Value::Array(_) | Value::Object(_))
}

/// The text between braces, parsed.
pub(super) struct Expression {
    operator: Option<char>,
    variables: Vec<Variable>,
}

struct Variable {
    name: String,
    /// Characters of a text that are used.
    prefix: Option<usize>,
    /// Whether each part of a list or an object is written separately (`*`).
    explodes: bool,
}

/// The notation of an operator (RFC 6570, appendix A).
struct Style {
    first: &'static str,
    separator: &'static str,
    is_named: bool,
    /// The text after the name of an empty value.
    if_empty: &'static str,
    encode: fn(&str) -> String,
}

const OPERATORS: [char; 7] = ['+', '#', '.', '/', ';', '?', '&'];

impl Expression {
    /// Parses the text between braces. Names of other formats are accepted too, such as `user-id`.
    pub(super) fn new(inside: &str) -> Option<Self> {
        let operator = inside.chars().next().filter(|first| OPERATORS.contains(first));
        let list = &inside[operator.map_or(0, char::len_utf8)..];
        let variables: Option<Vec<Variable>> = list.split(',').map(Variable::new).collect();
        if let Some(variables) = variables {
            return Some(Self { operator, variables });
        }
        let is_name = !inside.trim().is_empty() && !inside.contains(['{', ',', '*']);
        let variable = Variable { name: inside.to_string(), prefix: None, explodes: false };
        is_name.then(|| Self { operator: None, variables: vec![variable] })
    }

    pub(super) fn operator(&self) -> Option<char> {
        self.operator
    }

    /// The names of its variables.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.variables.iter().map(|variable| variable.name.as_str())
    }

    /// Whether the path is broken without a value.
    pub(super) fn needs_values(&self) -> bool {
        matches!(self.operator, None | Some('+'))
    }

    pub(super) fn is_query(&self) -> bool {
        matches!(self.operator, Some('?' | '&'))
    }

    /// The expression with its values. Absent values, `null`, and empty lists and objects leave no text.
    pub(super) fn expand(&self, values: &Map<String, Value>) -> String {
        let style = Style::of(self.operator);
        let written = self.variables.iter().filter_map(|variable| {
            let value = values.get(&variable.name)?;
            variable.written(value, &style)
        });
        let written: Vec<String> = written.collect();
        match written.is_empty() {
            true => String::new(),
            false => format!("{}{}", style.first, written.join(style.separator)),
        }
    }
}

impl Style {
    fn of(operator: Option<char>) -> Self {
        let (first, separator, is_named, if_empty) = match operator {
            Some('#') => ("#", ",", false, ""),
            Some('.') => (".", ".", false, ""),
            Some('/') => ("/", "/", false, ""),
            Some(';') => (";", ";", true, ""),
            Some('?') => ("?", "&", true, "="),
            Some('&') => ("&", "&", true, "="),
            _ => ("", ",", false, ""),
        };
        let encode = if matches!(operator, Some('+' | '#')) { encode_reserved } else { encode };
        Self { first, separator, is_named, if_empty, encode }
    }

    /// An encoded value after its name.
    fn named(&self, name: &str, value: &str) -> String {
        match value {
            "" => format!("{name}{}", self.if_empty),
            value => format!("{name}={value}"),
        }
    }
}

impl Variable {
    fn new(text: &str) -> Option<Self> {
        let (text, explodes) = text.strip_suffix('*').map_or((text, false), |text| (text, true));
        let (name, prefix) = match text.split_once(':').filter(|_| !explodes) {
            Some((name, length)) => (name, Some(prefix_length(length)?)),
            None => (text, None),
        };
        let is_name = name.split('.').all(is_part_of_name);
        is_name.then(|| Self { name: name.to_string(), prefix, explodes })
    }

    /// A value in the notation of the expression; `None` where it leaves no text.
    fn written(&self, value: &Value, style: &Style) -> Option<String> {
        let encoded = |value: &Value| (style.encode)(&plain(value));
        let pair = |(name, value): (&String, &Value)| [(style.encode)(name), encoded(value)];
        let named = |value: String| match style.is_named {
            true => style.named(&self.name, &value),
            false => value,
        };
        match value {
            Value::Null => None,
            Value::Array(items) if items.is_empty() => None,
            Value::Object(fields) if fields.is_empty() => None,
            Value::Array(items) if self.explodes => {
                let items: Vec<String> = items.iter().map(|item| named(encoded(item))).collect();
                Some(items.join(style.separator))
            }
            Value::Object(fields) if self.explodes => {
                let pairs = fields.iter().map(pair).map(|[name, value]| match style.is_named {
                    true => style.named(&name, &value),
                    false => format!("{name}={value}"),
                });
                Some(pairs.collect::<Vec<_>>().join(style.separator))
            }
            Value::Array(items) => Some(named(items.iter().map(encoded).collect::<Vec<_>>().join(","))),
            Value::Object(fields) => Some(named(fields.iter().flat_map(pair).collect::<Vec<_>>().join(","))),
            value => {
                let text = plain(value);
                let taken: String = text.chars().take(self.prefix.unwrap_or(usize::MAX)).collect();
                Some(named((style.encode)(&taken)))
            }
        }
    }
}

/// The number of characters that a prefix takes: 1 to 9,999.
fn prefix_length(text: &str) -> Option<usize> {
    let is_number = !text.starts_with(['0', '+']) && text.len() <= 4;
    text.parse().ok().filter(|_| is_number)
}

/// Letters, digits, `_` and percent-encoded bytes.
fn is_part_of_name(part: &str) -> bool {
    let mut rest = part.bytes();
    while let Some(byte) = rest.next() {
        let fits = match byte {
            b'%' => (0..2).all(|_| rest.next().is_some_and(|digit| digit.is_ascii_hexdigit())),
            byte => byte.is_ascii_alphanumeric() || byte == b'_',
        };
        if !fits {
            return false;
        }
    }
    !part.is_empty()
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
        let (path, query) = ("/100%25/%5Ba%5D/b%2Fc/7", "filter%5Bx%5D=1%252");
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

#[cfg(test)]
mod expression_tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::Expression;

    fn expanded(inside: &str, values: &Value) -> String {
        Expression::new(inside).unwrap().expand(values.as_object().unwrap())
    }

    #[test]
    fn the_examples_of_the_rfc() {
        let values = json!({
            "var": "value", "hello": "Hello World!", "half": "50%", "path": "/foo/bar", "empty": "", "x": 1024, "y": 768,
            "list": ["red", "green", "blue"], "keys": {"semi": ";", "dot": ".", "comma": ","}, "base": "http://example.com/home/",
            "undef": null, "empty_keys": {},
        });
        for (inside, expect) in [
            ("hello", "Hello%20World%21"),
            ("half", "50%25"),
            ("x,empty", "1024,"),
            ("x,undef,y", "1024,768"),
            ("undef", ""),
            ("var:3", "val"),
            ("list", "red,green,blue"),
            ("list*", "red,green,blue"),
            ("keys", "semi,%3B,dot,.,comma,%2C"),
            ("keys*", "semi=%3B,dot=.,comma=%2C"),
            ("empty_keys*", ""),
            ("+half", "50%25"),
            ("+base", "http://example.com/home/"),
            ("+path,x", "/foo/bar,1024"),
            ("+path:6", "/foo/b"),
            ("+keys*", "semi=;,dot=.,comma=,"),
            ("#hello", "#Hello%20World!"),
            (".x,y", ".1024.768"),
            (".keys*", ".semi=%3B.dot=..comma=%2C"),
            ("/var,x", "/value/1024"),
            ("/list*", "/red/green/blue"),
            (";x,y,empty", ";x=1024;y=768;empty"),
            (";list", ";list=red,green,blue"),
            (";list*", ";list=red;list=green;list=blue"),
            ("?x,y,empty", "?x=1024&y=768&empty="),
            ("?keys*", "?semi=%3B&dot=.&comma=%2C"),
            ("&var:3,list", "&var=val&list=red,green,blue"),
        ] {
            assert_eq!(expanded(inside, &values), expect, "{inside}");
        }
        for wrong in ["", " ", "a,", "a**", "{a", "a,b c"] {
            assert!(Expression::new(wrong).is_none(), "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn any_value_becomes_ascii_that_stands_in_an_address(
            inside in "[-+#./;?&]?[a-c%é]{1,3}(:[0-9]{1,5}|\\*)?(,b)?", text in "\\PC{0,12}|[%0-9a-f\u{0}\r\né日]{0,12}",
        ) {
            let values = json!({ "a": text, "b": [text, 1, null], "c": { text.clone(): text }, "é": text });
            if let Some(expression) = Expression::new(&inside) {
                let expanded = expression.expand(values.as_object().unwrap());
                prop_assert!(expanded.bytes().all(|byte| byte.is_ascii_graphic()), "{inside}: {expanded}");
            }
        }
    }
}
