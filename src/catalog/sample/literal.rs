//! Values as people write them in a text: JSON, Python (`True`, `'text'`, `("a", 1)`) and JavaScript (`{ x: 1 }`).

use serde_json::{Map, Number, Value};

/// Most levels that a written value nests.
const MAX_DEPTH: usize = 8;
/// Most characters of a text that is searched for values, and of one value.
pub(super) const MAX_TEXT: usize = 8_000;

/// The value at the start of a text, and the text after it. `None` where something else stands, such as a name or `...`.
pub(super) fn literal(text: &str) -> Option<(Value, &str)> {
    let mut reader = Reader { rest: text };
    let value = reader.value(0)?;
    Some((value, reader.rest))
}

/// A name at the start of a text, and the text after it.
pub(super) fn name(text: &str) -> Option<(&str, &str)> {
    let end = text.find(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '$')).unwrap_or(text.len());
    (end > 0 && !text.starts_with(|c: char| c.is_numeric())).then(|| text.split_at(end))
}

struct Reader<'a> {
    rest: &'a str,
}

impl<'a> Reader<'a> {
    fn value(&mut self, depth: usize) -> Option<Value> {
        self.skip_space();
        match self.rest.chars().next()? {
            _ if depth > MAX_DEPTH => None,
            '"' | '\'' => self.text().map(Value::String),
            '[' => self.list(']', depth),
            '(' => self.list(')', depth),
            '{' => self.object(depth),
            c if c.is_ascii_digit() || matches!(c, '-' | '.') => self.number(),
            _ => self.word(),
        }
    }

    fn skip_space(&mut self) {
        self.rest = self.rest.trim_start();
    }

    /// Takes a character, if it is next.
    fn take(&mut self, wanted: char) -> Option<()> {
        self.skip_space();
        self.rest = self.rest.strip_prefix(wanted)?;
        Some(())
    }

    fn text(&mut self) -> Option<String> {
        let quote = self.rest.chars().next()?;
        let long = quote.to_string().repeat(3);
        let close = if self.rest.starts_with(&long) { long } else { quote.to_string() };
        let inside = &self.rest[close.len()..];
        let mut text = String::new();
        let mut chars = inside.char_indices();
        while let Some((at, c)) = chars.next() {
            if inside[at..].starts_with(&close) {
                self.rest = &inside[at + close.len()..];
                return Some(text);
            }
            match c {
                '\\' => match chars.next()?.1 {
                    'n' => text.push('\n'),
                    't' => text.push('\t'),
                    'u' | 'x' => return None,
                    other => text.push(other),
                },
                '\n' if close.len() == 1 => return None,
                c => text.push(c),
            }
        }
        None
    }

    fn list(&mut self, close: char, depth: usize) -> Option<Value> {
        let mut items = Vec::new();
        self.rest = &self.rest[1..];
        while self.take(close).is_none() {
            items.push(self.value(depth + 1)?);
            if self.take(',').is_none() {
                self.take(close)?;
                break;
            }
        }
        Some(Value::Array(items))
    }

    fn object(&mut self, depth: usize) -> Option<Value> {
        let mut members = Map::new();
        self.rest = &self.rest[1..];
        while self.take('}').is_none() {
            self.skip_space();
            let key = if self.rest.starts_with(['"', '\'']) {
                self.text()?
            } else {
                let (key, rest) = name(self.rest)?;
                self.rest = rest;
                key.to_string()
            };
            self.take(':')?;
            members.insert(key, self.value(depth + 1)?);
            if self.take(',').is_none() {
                self.take('}')?;
                break;
            }
        }
        Some(Value::Object(members))
    }

    fn number(&mut self) -> Option<Value> {
        let is_part = |c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | '.' | 'e' | 'E');
        let end = self.rest.find(|c| !is_part(c)).unwrap_or(self.rest.len());
        let (digits, rest) = self.rest.split_at(end);
        let value = match digits.parse::<i64>() {
            Ok(whole) => Value::from(whole),
            Err(_) => Value::Number(Number::from_f64(digits.parse().ok()?)?),
        };
        self.rest = rest;
        Some(value)
    }

    fn word(&mut self) -> Option<Value> {
        let (word, rest) = name(self.rest)?;
        let value = match word {
            "true" | "True" => Value::Bool(true),
            "false" | "False" => Value::Bool(false),
            "null" | "None" => Value::Null,
            _ => return None,
        };
        self.rest = rest;
        Some(value)
    }
}
