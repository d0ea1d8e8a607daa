//! One expression of a template (RFC 6570): its operator, its variables, and its text with values.

use serde_json::{Map, Value};

use super::text::{encode, encode_reserved, plain};

/// The text between braces, parsed.
pub(super) struct Expression {
    pub(super) operator: Option<char>,
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
        let (name, prefix) = match text.split_once(':') {
            Some((name, length)) if !explodes => (name, Some(prefix_length(length)?)),
            _ => (text, None),
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
    if is_number { text.parse().ok() } else { None }
}

/// Letters, digits, `_` and percent-encoded bytes, and also `-`, which OpenAPI's names have.
fn is_part_of_name(part: &str) -> bool {
    let mut rest = part.bytes();
    while let Some(byte) = rest.next() {
        let fits = match byte {
            b'%' => (0..2).all(|_| rest.next().is_some_and(|digit| digit.is_ascii_hexdigit())),
            byte => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'),
        };
        if !fits {
            return false;
        }
    }
    !part.is_empty()
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
