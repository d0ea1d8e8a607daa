//! The values of a call as the text of a request: in a path, a template of RFC 6570 whose other parts no value can change; in
//! queries, forms, headers and cookies.

use std::borrow::Cow;
use std::fmt::Write;

use serde_json::{Map, Value};

use crate::exec::backend::BackendError;
use toolcrib_definition::{ArgumentPlace, Style as QueryStyle};

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
    pub(super) fn parse(template: &str) -> Result<Self, BackendError> {
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
    ) -> Result<Expanded, BackendError> {
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
fn parts(value: &Value) -> impl Iterator<Item = &Value> {
    let items = value.as_array().into_iter().flatten();
    items.chain(value.as_object().into_iter().flat_map(Map::values))
}

fn is_scalar(value: &Value) -> bool {
    !matches!(value, Value::Null | Value::Array(_) | Value::Object(_))
}

/// The text between braces, parsed.
struct Expression {
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
    fn new(inside: &str) -> Option<Self> {
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

    /// The names of its variables.
    fn names(&self) -> impl Iterator<Item = &str> {
        self.variables.iter().map(|variable| variable.name.as_str())
    }

    /// Whether the path is broken without a value.
    fn needs_values(&self) -> bool {
        matches!(self.operator, None | Some('+'))
    }

    fn is_query(&self) -> bool {
        matches!(self.operator, Some('?' | '&'))
    }

    /// The expression with its values. Absent values, `null`, and empty lists and objects leave no text.
    fn expand(&self, values: &Map<String, Value>) -> String {
        let style = Style::of(self.operator);
        let written = self.variables.iter().filter_map(|variable| {
            let value = values.get(&variable.name)?;
            variable.written(value, &style)
        });
        let written: Vec<String> = written.collect();
        if written.is_empty() {
            String::new()
        } else {
            format!("{}{}", style.first, written.join(style.separator))
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
        let named = |value: String| if style.is_named { style.named(&self.name, &value) } else { value };
        match value {
            Value::Null => None,
            Value::Array(items) if items.is_empty() => None,
            Value::Object(fields) if fields.is_empty() => None,
            Value::Array(items) if self.explodes => {
                let items: Vec<String> = items.iter().map(|item| named(encoded(item))).collect();
                Some(items.join(style.separator))
            }
            Value::Object(fields) if self.explodes => {
                let pairs = fields.iter().map(pair).map(|[name, value]| {
                    if style.is_named { style.named(&name, &value) } else { format!("{name}={value}") }
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

// Values as text.

/// A text without quotes; lists and objects as JSON.
pub(in crate::exec::backend) fn plain(value: &Value) -> Cow<'_, str> {
    match value {
        Value::String(text) => Cow::Borrowed(text),
        Value::Null => Cow::Borrowed(""),
        other => Cow::Owned(other.to_string()),
    }
}

/// Percent-encodes all but unreserved characters.
pub(super) fn encode(text: &str) -> String {
    escaped(text, |byte| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte))
}

/// Percent-encodes the literal text of a template: characters that a path or query cannot have.
fn encode_literal(text: &str) -> String {
    encode_but(b"-._~!$&()*+,;=:@/?", text)
}

/// Percent-encodes all but unreserved and reserved characters, and also brackets, which no path or query has (RFC 3986).
fn encode_reserved(text: &str) -> String {
    encode_but(b"-._~:/?#@!$&'()*+,;=", text)
}

/// Percent-encodes all but letters, digits and `others`. Encoded triplets stay (RFC 6570, section 3.2.1).
fn encode_but(others: &[u8], text: &str) -> String {
    let plainly = |piece: &str| escaped(piece, |byte| byte.is_ascii_alphanumeric() || others.contains(&byte));
    let is_triplet =
        |rest: &str| rest.as_bytes().get(..2).is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit));
    let mut pieces = text.split('%');
    let mut encoded = plainly(pieces.next().unwrap_or_default());
    for piece in pieces {
        encoded.push_str(if is_triplet(piece) { "%" } else { "%25" });
        encoded.push_str(&plainly(piece));
    }
    encoded
}

pub fn escaped(text: &str, may_stand: impl Fn(u8) -> bool) -> String {
    let mut escaped = String::with_capacity(text.len());
    for byte in text.bytes() {
        if may_stand(byte) {
            escaped.push(char::from(byte));
        } else {
            let _ = write!(escaped, "%{byte:02X}");
        }
    }
    escaped
}

/// One argument as names and encoded values of a query or form. `null` gives none.
pub(super) fn pairs(name: &str, value: &Value, place: Option<&ArgumentPlace>) -> Vec<(String, String)> {
    let style = place.and_then(|place| place.style);
    let explodes =
        place.and_then(|place| place.explode).unwrap_or(matches!(style, None | Some(QueryStyle::Form)));
    let written = |value: &Value| encode(&plain(value));
    let one = |text: String| vec![(name.to_string(), text)];
    match (value, style) {
        (Value::Null, _) => Vec::new(),
        (Value::Array(_) | Value::Object(_), Some(QueryStyle::DeepObject)) => deep(name, value),
        (Value::Array(_), Some(QueryStyle::Json)) => one(written(value)),
        (Value::Array(items), _) if explodes => {
            items.iter().map(|item| (name.to_string(), written(item))).collect()
        }
        // A delimiter within a value is encoded.
        (Value::Array(items), style) => {
            one(items.iter().map(written).collect::<Vec<_>>().join(delimiter(style)))
        }
        (Value::Object(_), None | Some(QueryStyle::Json)) => one(written(value)),
        (Value::Object(fields), _) if explodes => {
            fields.iter().map(|(name, value)| (name.clone(), written(value))).collect()
        }
        (Value::Object(fields), style) => {
            let parts = fields.iter().flat_map(|(name, value)| [encode(name), written(value)]);
            one(parts.collect::<Vec<_>>().join(delimiter(style)))
        }
        (value, _) => one(written(value)),
    }
}

/// A value on one line, for headers and cookies.
pub(super) fn simple(value: &Value) -> String {
    match value {
        Value::Array(items) => items.iter().map(plain).collect::<Vec<_>>().join(","),
        Value::Object(fields) => {
            let parts = fields.iter().flat_map(|(name, value)| [Cow::Borrowed(name.as_str()), plain(value)]);
            parts.collect::<Vec<_>>().join(",")
        }
        value => plain(value).into_owned(),
    }
}

fn delimiter(style: Option<QueryStyle>) -> &'static str {
    match style {
        Some(QueryStyle::SpaceDelimited) => "%20",
        Some(QueryStyle::PipeDelimited) => "%7C",
        Some(QueryStyle::TabDelimited) => "%09",
        _ => ",",
    }
}

/// Nested names: `filter[created][after]=...`, to any depth. Items with names below them are numbered.
fn deep(name: &str, value: &Value) -> Vec<(String, String)> {
    match value {
        Value::Null => Vec::new(),
        Value::Object(fields) => {
            fields.iter().flat_map(|(field, value)| deep(&format!("{name}[{field}]"), value)).collect()
        }
        Value::Array(items) => {
            let is_nested = items.iter().any(|item| item.is_array() || item.is_object());
            let at = |index: usize| if is_nested { index.to_string() } else { String::new() };
            let items = items.iter().enumerate();
            items.flat_map(|(index, item)| deep(&format!("{name}[{}]", at(index)), item)).collect()
        }
        value => vec![(name.to_string(), encode(&plain(value)))],
    }
}

/// Names and encoded values as a query or form.
pub(super) fn form(pairs: &[(String, String)]) -> String {
    let pairs = pairs.iter().map(|(name, value)| format!("{}={value}", encode(name)));
    pairs.collect::<Vec<_>>().join("&")
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

#[cfg(test)]
mod query_tests {
    use serde_json::{Value, json};

    use super::{form, pairs};
    use toolcrib_definition::{ArgumentPlace, Location, Style};

    #[track_caller]
    fn check(value: Value, style: Option<Style>, explode: Option<bool>, expect: &str) {
        let place = ArgumentPlace { location: Location::Query, name: None, style, explode };
        assert_eq!(form(&pairs("a", &value, Some(&place))), expect, "{value}");
    }

    #[test]
    fn every_style_of_a_query() {
        let list = json!(["x", "y z"]);
        let map = json!({"b": 1, "c": "d"});
        check(json!("x&y=+"), None, None, "a=x%26y%3D%2B");
        check(json!(null), None, None, "");
        check(json!(false), None, None, "a=false");
        check(list.clone(), None, None, "a=x&a=y%20z");
        check(list.clone(), Some(Style::Form), Some(false), "a=x,y%20z");
        check(json!(["a,b", "c"]), Some(Style::Form), Some(false), "a=a%2Cb,c");
        check(list.clone(), Some(Style::TabDelimited), None, "a=x%09y%20z");
        check(list.clone(), Some(Style::SpaceDelimited), None, "a=x%20y%20z");
        check(list.clone(), Some(Style::PipeDelimited), None, "a=x%7Cy%20z");
        check(list, Some(Style::Json), None, "a=%5B%22x%22%2C%22y%20z%22%5D");
        check(map.clone(), None, None, "a=%7B%22b%22%3A1%2C%22c%22%3A%22d%22%7D");
        check(map.clone(), Some(Style::Form), None, "b=1&c=d");
        check(map.clone(), Some(Style::Form), Some(false), "a=b,1,c,d");
        check(map, Some(Style::DeepObject), None, "a%5Bb%5D=1&a%5Bc%5D=d");
        check(
            json!({"b": {"c": [1, 2]}}),
            Some(Style::DeepObject),
            None,
            "a%5Bb%5D%5Bc%5D%5B%5D=1&a%5Bb%5D%5Bc%5D%5B%5D=2",
        );
        check(
            json!([{"b": "p,1"}, {"b": [2]}]),
            Some(Style::DeepObject),
            None,
            "a%5B0%5D%5Bb%5D=p%2C1&a%5B1%5D%5Bb%5D%5B%5D=2",
        );
    }
}
