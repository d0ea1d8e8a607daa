//! One expression of a template (RFC 6570): its operator, its variables, and its text with values.

use iri_string::spec::UriSpec;
use iri_string::template::UriTemplateString;
use iri_string::template::context::{Context, Visitor};
use serde_json::{Map, Value};

use super::text::plain;
use crate::exec::backend::backend_error::{BackendError, Result};

/// The text between braces, parsed.
pub(super) struct Expression {
    template: UriTemplateString,
    names: Vec<String>,
    pub(super) operator: Option<char>,
}

impl Expression {
    /// Parses the text between braces. A name of another format is accepted too, such as `user-id`.
    pub(super) fn new(inside: &str) -> Option<Self> {
        if let Ok(template) = UriTemplateString::try_from(format!("{{{inside}}}")) {
            let names = template.variables().map(|name| name.as_str().to_string()).collect();
            let operator = inside.chars().next().filter(|first| "+#./;?&".contains(*first));
            return Some(Self { template, names, operator });
        }
        let is_name = !inside.trim().is_empty() && !inside.contains(['{', ',', '*']);
        let template = UriTemplateString::try_from("{name}").ok().filter(|_| is_name)?;
        Some(Self { template, names: vec![inside.to_string()], operator: None })
    }

    /// The names of its variables.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }

    /// Whether the path is broken without a value.
    pub(super) fn needs_values(&self) -> bool {
        matches!(self.operator, None | Some('+'))
    }

    pub(super) fn is_query(&self) -> bool {
        matches!(self.operator, Some('?' | '&'))
    }

    /// The expression with its values. Absent values, `null`, and empty lists and objects leave no text.
    pub(super) fn expand(&self, values: &Map<String, Value>) -> Result<String> {
        let values = Values { names: &self.names, values };
        let expanded = self.template.expand::<UriSpec, _>(&values).map_err(|_| {
            let name = self.names.first().map_or("", String::as_str);
            BackendError::invalid_argument(
                name,
                format!("`{name}` is cut in the path, so it can only be text"),
            )
        })?;
        // Brackets are reserved characters, but no path or query has them (RFC 3986).
        Ok(expanded.to_string().replace('[', "%5B").replace(']', "%5D"))
    }
}

/// The values of an expression's variables.
struct Values<'v> {
    names: &'v [String],
    values: &'v Map<String, Value>,
}

impl Context for Values<'_> {
    fn visit<V: Visitor>(&self, visitor: V) -> V::Result {
        // A name of another format has a stand-in in the template.
        let name = match self.names {
            [only] => only,
            _ => visitor.var_name().as_str(),
        };
        match self.values.get(name).unwrap_or(&Value::Null) {
            Value::Null => visitor.visit_undefined(),
            Value::Array(items) => visitor.visit_list_direct(items.iter().map(plain)),
            Value::Object(fields) => {
                visitor.visit_assoc_direct(fields.iter().map(|(name, value)| (name, plain(value))))
            }
            text => visitor.visit_string(plain(text)),
        }
    }
}

#[cfg(test)]
mod expression_tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::Expression;

    fn expanded(inside: &str, values: &Value) -> String {
        Expression::new(inside).unwrap().expand(values.as_object().unwrap()).unwrap()
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
            let expression = Expression::new(&inside);
            // A list cannot be cut.
            if let Some(Ok(expanded)) = expression.map(|expression| expression.expand(values.as_object().unwrap())) {
                prop_assert!(expanded.bytes().all(|byte| byte.is_ascii_graphic()), "{inside}: {expanded}");
            }
        }
    }
}
