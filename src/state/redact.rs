//! What is written down of arguments: nothing that is secret by its name, and nothing that is long.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::Regex;
use serde_json::{Map, Value};

use super::secret::{is_count, is_secret, is_word};

/// What stands where something was left out.
const REDACTED: &str = "[redacted]";

/// The longest string, in bytes.
const STRING: usize = 2 << 10;

/// The most that is written down of one call, in bytes.
const ALL: usize = 16 << 10;

/// The longest name, in bytes.
const NAME: usize = 256;

/// The same arguments without what is secret or long. `also` are globs of names that are secret here.
pub fn redacted(arguments: &Value, also: &[String]) -> Value {
    Redaction { also, room: ALL }.of(arguments)
}

/// What secrets look like wherever they stand: what is before one and told, then the secret.
static LOOKS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(concat!(
        r"(?i)(?P<before>\b(?:bearer|basic)\s+)[A-Za-z0-9+/._~=-]{6,}",
        r"|(?P<scheme>://)[^\s/?#@]*:[^\s/@]+(?P<at>@)",
        r"|(?P<name>(?:^|[?&;\s])(?:[a-z_-]*(?:token|secret|password|passwd|pwd|signature)|sig|key|api[_-]?key|access[_-]?key)=)[^\s&#;]+",
        r"|-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|\z)",
        r"|\b(?:sk|pk|rk)[-_][A-Za-z0-9_-]{12,}|\bgh[a-z]_[A-Za-z0-9]{16,}|\bgithub_pat_[A-Za-z0-9_]{16,}|\bglpat-[A-Za-z0-9_-]{12,}",
        r"|\bxox[a-z]-[A-Za-z0-9-]{10,}|\b(?:AKIA|ASIA)[A-Z0-9]{16}\b|\bAIza[A-Za-z0-9_-]{30,}",
        r"|\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*",
    ))
    .ok()
});

/// A text without what looks like a secret.
pub fn masked(text: &str) -> Cow<'_, str> {
    match LOOKS.as_ref() {
        Some(looks) => looks.replace_all(text, "$before$scheme$name[redacted]$at"),
        None => text.into(),
    }
}

struct Redaction<'a> {
    also: &'a [String],
    room: usize,
}

impl Redaction<'_> {
    fn of(&mut self, value: &Value) -> Value {
        match value {
            Value::String(text) => self.text(text),
            Value::Array(items) => self.items(items),
            Value::Object(fields) => self.fields(fields),
            plain => {
                self.spend(8);
                plain.clone()
            }
        }
    }

    fn text(&mut self, text: &str) -> Value {
        let text = &*masked(text);
        let kept = cut(text, STRING.min(self.room));
        self.spend(written(kept));
        match text.len() - kept.len() {
            0 => kept.into(),
            more => format!("{kept}… [{more} bytes more]").into(),
        }
    }

    fn items(&mut self, items: &[Value]) -> Value {
        let mut kept = Vec::new();
        for (index, item) in items.iter().enumerate() {
            if self.room == 0 {
                kept.push(format!("… [{} more]", items.len() - index).into());
                break;
            }
            kept.push(self.of(item));
            self.spend(1);
        }
        kept.into()
    }

    fn fields(&mut self, fields: &Map<String, Value>) -> Value {
        let mut kept = Map::new();
        // `{"name": "Authorization", "value": "..."}` is how lists of headers and variables are written.
        let is_naming = |name: &str| ["name", "key", "header"].iter().any(|naming| is_word(name, naming));
        let mut named =
            fields.iter().filter(|(name, _)| is_naming(name)).filter_map(|(_, named)| named.as_str());
        let names_secret = named.any(|name| is_secret(name) || self.is_named(name));
        for (index, (name, value)) in fields.iter().enumerate() {
            if self.room == 0 {
                kept.insert("…".into(), format!("{} more", fields.len() - index).into());
                break;
            }
            let is_secret = (is_secret(name) && !is_count(name, value)) || self.is_named(name);
            self.spend(written(cut(name, NAME)) + 4);
            let value = match is_secret || (names_secret && is_word(name, "value")) {
                true => REDACTED.into(),
                false => self.of(value),
            };
            kept.insert(cut(name, NAME).into(), value);
        }
        kept.into()
    }

    /// Whether the configuration names it.
    fn is_named(&self, name: &str) -> bool {
        !self.also.is_empty()
            && self.also.iter().any(|glob| matches(&glob.to_lowercase(), &name.to_lowercase()))
    }

    fn spend(&mut self, bytes: usize) {
        self.room = self.room.saturating_sub(bytes);
    }
}

/// How long it is as JSON.
fn written(text: &str) -> usize {
    let mut length = Length(0);
    serde_json::to_writer(&mut length, text).map_or(text.len(), |()| length.0)
}

/// Counts what is written to it.
struct Length(usize);

impl std::io::Write for Length {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn cut(text: &str, bytes: usize) -> &str {
    &text[..text.floor_char_boundary(bytes)]
}

/// Whether a name is what a glob stands for; `*` is anything.
fn matches(glob: &str, name: &str) -> bool {
    let Some((first, rest)) = glob.split_once('*') else { return glob == name };
    let Some(mut name) = name.strip_prefix(first) else { return false };
    let mut parts = rest.split('*').peekable();
    while let Some(part) = parts.next() {
        match (parts.peek(), name.find(part)) {
            (None, _) => return name.ends_with(part),
            (Some(_), Some(at)) => name = &name[at + part.len()..],
            (Some(_), None) => return false,
        }
    }
    name.is_empty()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn names_are_read_by_their_words() {
        for secret in [
            "password",
            "userPassword",
            "DB_PASSWORD",
            "x-api-key",
            "apiKey",
            "APIKey",
            "access_token",
            "accessToken2",
            "Authorization",
            "client-secret",
            "privateKeyPem",
            "Set-Cookie",
            "tokens",
            "OTP",
            "pw",
            "db_pwd",
            "pass",
            "APIkey",
            "DBpassword",
            "PASSWORDdb",
            "pASSWORD",
            "Api_kEy",
            "to\u{212a}en",
            "accesstoken",
            "xapikey",
            "private_keys",
            "JWTs",
        ] {
            assert_eq!(redacted(&json!({secret: "hush"}), &[])[secret], REDACTED, "{secret}");
        }
        for plain in ["project_key", "tokenizer", "secretary", "author", "key", "keyboard", "compass"] {
            assert_eq!(redacted(&json!({plain: "said"}), &[])[plain], "said", "{plain}");
        }
        assert_eq!(redacted(&json!({"max_tokens": 5}), &[]), json!({"max_tokens": 5}));
    }

    #[test]
    fn secrets_are_known_by_their_looks() {
        for (text, kept) in [
            ("send Bearer abc.def-123456 now", "send Bearer [redacted] now"),
            ("postgres://amy:hush@db/x", "postgres://[redacted]@db/x"),
            ("https://x.io/?a=1&access_token=hush&b=2", "https://x.io/?a=1&access_token=[redacted]&b=2"),
            ("https://x.io/?key=hush#top", "https://x.io/?key=[redacted]#top"),
            (
                "-----BEGIN RSA PRIVATE KEY-----\nhush\n-----END RSA PRIVATE KEY----- after",
                "[redacted] after",
            ),
            ("-----BEGIN PRIVATE KEY-----\nhush", "[redacted]"),
            ("use sk-abcdefghijklmnop1234", "use [redacted]"),
            ("ghp_abcdefghijklmnopqrst1234", "[redacted]"),
        ] {
            assert_eq!(masked(text), kept);
            assert_eq!(redacted(&json!({"note": text}), &[])["note"], kept);
        }
        for plain in [
            "the bearer of news",
            "https://x.io/a:b?c=d",
            "a token of thanks",
            "risk-averse",
            "key = 5",
            "time 12:30 @noon",
        ] {
            assert_eq!(masked(plain), plain);
        }
    }

    #[test]
    fn headers_and_own_names_are_covered() {
        let headers =
            json!({"headers": [{"name": "Cookie", "value": "hush"}, {"name": "Accept", "value": "*/*"}]});
        let kept = redacted(&headers, &[]);
        assert_eq!(kept["headers"][0]["value"], REDACTED);
        assert_eq!(kept["headers"][1]["value"], "*/*");
        let headers = json!({"Name": "Cookie", "Value": "hush", "my_tokens": 77});
        let kept = redacted(&headers, &["*tokens".into()]);
        assert_eq!((&kept["Value"], &kept["my_tokens"]), (&json!(REDACTED), &json!(REDACTED)));
        let also = ["iban*".to_string(), "*_ssn".into(), "a*b*c".into()];
        let kept =
            redacted(&json!({"IBAN_number": 1, "my_SSN": "2", "axbxc": 3, "ssn_x": 4, "axcxb": 5}), &also);
        assert_eq!(
            kept,
            json!({"IBAN_number": REDACTED, "my_SSN": REDACTED, "axbxc": REDACTED, "ssn_x": 4, "axcxb": 5})
        );
    }

    #[test]
    fn what_is_long_is_cut() {
        let long = json!({"text": "ä".repeat(5000), "after": 1});
        let kept = redacted(&long, &[]);
        let text = kept["text"].as_str().unwrap();
        assert!(text.len() < STRING + 40 && text.ends_with(" bytes more]"), "{}", text.len());
        assert_eq!(kept["after"], 1);
        let many: Vec<String> = (0..10_000).map(|number| format!("\u{1}{number}")).collect();
        assert!(redacted(&json!({"a": many, "b": "x".repeat(10_000)}), &[]).to_string().len() < ALL + 4096);
    }

    /// Anything, with a secret somewhere in it below a name that says so.
    fn hiding() -> impl Strategy<Value = Value> {
        let names = proptest::sample::select(vec!["password", "apiKey", "x-token", "SECRET", "Cookie"]);
        let secret = prop_oneof![
            Just(json!("hush-hush")),
            Just(json!({"deep": ["hush-hush"]})),
            Just(json!(["x", {"value": "hush-hush"}])),
        ];
        let hidden = (names, secret).prop_map(|(name, secret)| json!({name: secret}));
        hidden.prop_recursive(6, 40, 5, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 1..5).prop_map(Value::from),
                proptest::collection::hash_map("[a-zA-Z_]{1,9}", inner, 1..5)
                    .prop_map(|fields| Value::Object(fields.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn what_is_below_such_a_name_never_appears(value in hiding()) {
            prop_assert!(!redacted(&value, &[]).to_string().contains("hush-hush"));
        }

        #[test]
        fn nothing_is_too_much(text in ".{0,300}", glob in "[a*]{0,6}", name in "[a-b*]{0,6}") {
            matches(&glob, &name);
            redacted(&json!({text.clone(): text}), &[glob]);
        }
    }
}
