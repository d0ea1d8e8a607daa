//! Secrets, and values that look like them.

use std::borrow::Cow;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::credentials::{LOOKS, has_room_for_credential, may_hold_secret};
use super::redacted::{ALL, STRING};
use super::*;
use crate::matches_glob;

fn redacted(value: &Value, rules: &[String]) -> Value {
    SecretPolicy::new(rules).noted(&Value::Null, value)
}

fn masked(text: &str) -> Cow<'_, str> {
    SecretPolicy::default().text(text)
}

#[test]
fn names_are_read_by_their_words() {
    let secrets = "password userPassword DB_PASSWORD x-api-key apiKey APIKey access_token accessToken2 Authorization \
        client-secret privateKeyPem Set-Cookie tokens OTP pw db_pwd pass APIkey DBpassword PASSWORDdb \
        pASSWORD Api_kEy to\u{212a}en accesstoken xapikey private_keys JWTs X-Jwt x-auth \
        Ocp-Apim-Subscription-Key vault_secret_id refresh_token proxyAuthorization";
    for secret in secrets.split(' ') {
        assert_eq!(redacted(&json!({secret: "hush"}), &[])[secret], REDACTED, "{secret}");
    }
    let others = "project_key tokenizer secretary author key keyboard compass authority token_count max_tokens \
        maxOutputTokens tokenType password_policy passwordless page_token nextPageToken access_key_id \
        auth_method authorization_url pass_through cookie_name secret-name";
    for plain in others.split(' ') {
        assert_eq!(redacted(&json!({plain: "said"}), &[])[plain], "said", "{plain}");
    }
    assert_eq!(redacted(&json!({"max_tokens": 5}), &[]), json!({"max_tokens": 5}));
    let told = json!({"has_password": true, "token": null});
    assert_eq!(redacted(&told, &[]), told, "yes, no and nothing are no secrets");
}

#[test]
fn secrets_are_known_by_their_looks() {
    for (text, kept) in [
        ("send Bearer abc.def-123456 now", "send Bearer [redacted] now"),
        ("postgres://amy:hush@db/x", "postgres://[redacted]@db/x"),
        ("https://x.io/?a=1&access_token=hush&b=2", "https://x.io/?a=1&access_token=[redacted]&b=2"),
        ("https://x.io/?key=hush#top", "https://x.io/?key=[redacted]#top"),
        ("-----BEGIN RSA PRIVATE KEY-----\nhush\n-----END RSA PRIVATE KEY----- after", "[redacted] after"),
        ("-----BEGIN PRIVATE KEY-----\nhush", "[redacted]"),
        ("use sk-abcdefghijklmnop1234", "use [redacted]"),
        ("ghp_abcdefghijklmnopqrst1234", "[redacted]"),
        ("https://ghp-hush@github.com/x", "https://[redacted]@github.com/x"),
        ("curl -H 'X-Api-Key: hush' x", "curl -H 'X-Api-Key: [redacted]' x"),
        ("Server=db;Password=hush;Port=1", "Server=db;Password=[redacted];Port=1"),
        ("run --api-key=hush now", "run --api-key=[redacted] now"),
        (r#"{"deep": [{"api_key": "hush"}]}"#, r#"{"deep":[{"api_key":"[redacted]"}]}"#),
    ] {
        assert!(text.starts_with('{') || masked(text) == kept, "{text}: {}", masked(text));
        assert_eq!(redacted(&json!({"note": text}), &[])["note"], kept);
    }
    for plain in [
        "the bearer of news",
        "Bearer certificates expire",
        "basic knowledge of chess",
        "x-axis: left to right",
        "sort key=name",
        "max_tokens=5",
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
    let kept = redacted(&json!({"IBAN_number": 1, "my_SSN": "2", "axbxc": 3, "ssn_x": 4, "axcxb": 5}), &also);
    assert_eq!(
        kept,
        json!({"IBAN_number": REDACTED, "my_SSN": REDACTED, "axbxc": REDACTED, "ssn_x": 4, "axcxb": 5})
    );
}

#[test]
fn a_plain_secret_is_found_though_every_letter_was_encoded() {
    let echo = Echo::of("aB3_");
    assert_eq!(echo.hidden_in("<%61%42%33%5f>"), "<[redacted]>");
    assert_eq!(echo.hidden_in("<a\\u0042\\u00333_ a\\u00423%5F>"), "<a\\u0042\\u00333_ [redacted]>");
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

/// Any value, with a secret somewhere in it below the name of one.
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
    fn a_repeated_secret_is_found_however_it_is_encoded(
        secret in "[a-z%+ \"\\\\/\u{e4}\u{1f600}\n]{4,20}", other in "[%+\\\\uA-F0-9\u{e4}]{0,20}", lower: bool,
    ) {
        let percent: String = secret.bytes().map(|byte| format!("%{byte:02X}")).collect();
        let percent = if lower { percent.to_lowercase() } else { percent };
        let escaped: String = secret.encode_utf16().map(|unit| format!("\\u{unit:04x}")).collect();
        let form = form_urlencoded::byte_serialize(secret.as_bytes()).collect();
        let quoted = json!(secret).to_string();
        let json = quoted[1..quoted.len() - 1].to_string();
        let echo = Echo::of(&secret);
        for told in [secret.clone(), percent, escaped, form, json] {
            prop_assert_eq!(echo.hidden_in(&format!("<{told}>")), "<[redacted]>");
            let is_there = echo.occurs_in(&format!("{other}{told}{other}"));
            prop_assert!(is_there);
        }
        prop_assert_eq!(echo.occurs_in(&other), echo.hidden_in(&other) != other);
    }

    #[test]
    fn nothing_is_too_much(text in ".{0,300}", glob in "[a*]{0,6}", name in "[a-b*]{0,6}") {
        matches_glob(&glob, &name);
        redacted(&json!({text.clone(): text}), &[glob]);
    }
}

#[test]
fn the_schema_says_what_is_secret() {
    let schema = json!({
        "properties": {
            "pin": {"type": "string", "format": "password"},
            "note": {"$ref": "#/$defs/hidden"},
            "rows": {"items": {"anyOf": [{"type": "null"}, {"properties": {"iban": {"x-secret": true}}}]}},
            "free": {"type": "object"},
            "password": {"type": "string"},
        },
        "patternProperties": {"^x_": {"writeOnly": true}},
        "$defs": {"hidden": {"allOf": [{"writeOnly": true}, {"$ref": "#/$defs/hidden"}]}},
    });
    let given = json!({"pin": 1234, "note": {"a": 1}, "rows": [{"iban": "DE1"}], "x_a": true, "title": "t",
        "password": "hush", "free": {"api_key": "said", "name": "api-key", "value": "said"}});
    let (shown, hidden) = SecretPolicy::default().split(&schema, &given);
    let pointers: Vec<&str> = hidden.iter().map(|hidden| hidden.pointer.as_str()).collect();
    let declared = ["/pin", "/note", "/rows/0/iban", "/x_a", "/password"];
    assert_eq!(pointers, [&declared[..], &["/free/api_key", "/free/value"]].concat());
    assert_eq!((&shown["pin"], &shown["title"]), (&json!(REDACTED), &json!("t")));
    for pointer in pointers {
        assert!(SecretPolicy::default().covers(&schema, &given, pointer), "{pointer}");
    }
    assert!(!SecretPolicy::default().covers(&schema, &given, "/title"));
    // For the person who decides, only the schema and the operator hide values.
    let (shown, hidden) = SecretPolicy::default().declared(&schema, &given);
    let pointers: Vec<&str> = hidden.iter().map(|hidden| hidden.pointer.as_str()).collect();
    assert_eq!((pointers, &shown["free"], &shown["pin"]), (declared.to_vec(), &given["free"], &Value::Null));
    let rules = ["api*".to_string()];
    assert_eq!(SecretPolicy::new(&rules).declared(&schema, &given).0["free"]["api_key"], Value::Null);
}

#[test]
fn a_mark_counts_behind_any_reference_and_below_any_keyword() {
    let schema = json!({
        "$id": "https://x.io/tools/pin.json",
        "$defs": {
            "S": {"$anchor": "S", "format": "password"}, "s p/%": {"x-secret": true},
            "I": {"$id": "urn:x:I", "$defs": {"in": {"writeOnly": true}}, "properties": {"p": {"$ref": "#/$defs/in"}}},
            "J": {"$id": "other.json", "writeOnly": true}, "K": {"$id": "#old", "writeOnly": true},
            "D": {"$dynamicAnchor": "D", "x-sensitive": true},
        },
        "properties": {
            "anchor": {"$ref": "#S"}, "encoded": {"$ref": "#/$defs/s%20p~1%25"}, "id": {"$ref": "urn:x:I"},
            "relative": {"$ref": "https://x.io/tools/other.json"}, "old": {"$ref": "#old"},
            "dynamic": {"$dynamicRef": "#D"}, "within": {"$ref": "other.json#"},
            "deep": {"$ref": "pin.json#/$defs/I/properties/p"}, "from": {"$ref": "urn:x:I#/$defs/in"},
            "contains": {"contains": {"$ref": "#S"}}, "not": {"not": {"not": {"$ref": "#S"}}},
            "depends": {"dependentSchemas": {"u": {"properties": {"v": {"$ref": "#S"}}}}},
            "content": {"contentSchema": {"properties": {"v": {"$ref": "#S"}}}},
            "tuple": {"prefixItems": [{}, {"$ref": "#S"}], "items": {"$ref": "#S"}}, "list": {"items": {"$ref": "#S"}},
            "loop": {"$ref": "#/properties/loop"}, "nowhere": {"$ref": "#T"}, "plain": {"$ref": "#"},
        },
    });
    let given = json!({
        "anchor": "hush", "encoded": "hush", "id": {"p": "hush"}, "relative": "hush", "old": "hush", "dynamic": "hush",
        "within": "hush", "deep": "hush", "from": "hush", "contains": ["hush"], "not": "hush",
        "depends": {"u": 1, "v": "hush"}, "content": "{\"v\": \"hush\"}", "tuple": ["said", "hush", "hush"],
        "list": "hush", "loop": "said", "nowhere": "said", "plain": {"plain": {"anchor": "hush", "loop": "said"}},
    });
    let shown = SecretPolicy::default().redacted(&schema, &given).to_string();
    assert!(!shown.contains("hush") && shown.matches("said").count() == 4, "{shown}");
    let names = declared_names(&schema);
    for name in ["anchor", "encoded", "relative", "old", "p"] {
        assert!(names.iter().any(|known| known == name), "{name} {names:?}");
    }
}

#[test]
fn command_lines_are_shown_without_secrets() {
    let items = ["run", "--token", "hush", "--api-key=hush", "--max-tokens", "5"].map(String::from);
    let shown = SecretPolicy::default().command_line(&items);
    assert_eq!(shown, ["run", "--token", REDACTED, "--api-key=[redacted]", "--max-tokens", "5"]);
    let uuid = "00000000-1111-4222-8333-444444444444";
    let items = ["--key", uuid, &format!("--key={uuid}"), "--key", "name", "--id", uuid].map(String::from);
    let shown = SecretPolicy::default().command_line(&items);
    assert_eq!(shown, ["--key", REDACTED, "--key=[redacted]", "--key", "name", "--id", uuid]);
}

#[test]
fn secrets_inside_arguments_are_found_and_harmless_values_stay() {
    for (item, shown) in [
        (r#"{"apiKey":"abcd1234efgh5678","debug":true}"#, r#"{"apiKey":"[redacted]","debug":true}"#),
        (
            "https://a.example/api/s/NzE4ZjQ0YWItYmQ5Yi00ZDk4LTk5/mcp",
            "https://a.example/api/s/[redacted]/mcp",
        ),
        ("--header=Authorization:Basic dXNlcjpwYXNzd29yZDEyMw==", "--header=Authorization:[redacted]"),
        ("--env=SLACK_TOKEN=hush-123", "--env=SLACK_TOKEN=[redacted]"),
        ("exec server --token abc123def456ghi789", "exec server --token [redacted]"),
        ("exec server --token $TOKEN", "exec server --token $TOKEN"),
        (r#"{"model":"gpt-5-nano","path":"/a"}"#, r#"{"model":"gpt-5-nano","path":"/a"}"#),
        (
            "https://a.example/v1/google-calendar-server-2026/mcp",
            "https://a.example/v1/google-calendar-server-2026/mcp",
        ),
        ("--registry=https://npm.example", "--registry=https://npm.example"),
    ] {
        assert_eq!(SecretPolicy::default().command_line(&[item.to_string()]), [shown]);
    }
    let is_secret = |name, value| SecretPolicy::default().is_secret_value(name, value);
    assert!(is_secret("DD-APPLICATION-KEY", "0123456789abcdef0123456789abcdef01234567"));
    assert!(is_secret("NOTION_API", "ntn_9876543210abcdefghijklmn"));
    assert!(!is_secret("API_VERSION", "2026-01-01") && !is_secret("ACCESS_MODE", "restricted"));
}

#[test]
fn credentials_in_a_text_are_told_from_places_and_examples_of_them() {
    let token = "ghp_16C7e42F292c6912E7710c838347Ae178B4a";
    for text in [
        format!("Use {token}."),
        "Header: Authorization: Bearer 8f3a91c07be24d5fa6c2".into(),
        "Call with api_key=a81kPq9LmN2vB7cR4tY0.".into(),
        "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA7\n".into(),
    ] {
        assert!(super::holds_credential(&text), "{text}");
    }
    for text in [
        "Send `Authorization: Bearer <token>`.",
        "Keys begin with sk-xxxxxxxxxxxxxxxxxxxx1.",
        "Pass api_key=YOUR_KEY.",
        "AKIAIOSFODNN7EXAMPLE",
        "postgres://user:password@localhost/db",
        "A bearer token of this server",
    ] {
        assert!(!super::holds_credential(text), "{text}");
    }
}

/// Texts with something like a credential in them, of every kind that is known by its looks.
fn with_a_credential() -> impl Strategy<Value = String> {
    let kinds = prop_oneof![
        "(Bearer|BASIC|ba\u{17f}ic) [a-zA-Z0-9_-]{12,24}[.,]?",
        "(--)?(api[_-]key|token|to\u{212a}en)=[a-z0-9_-]{12,20}",
        "(Authorization|X-Api-Key|coo\u{212a}ie): ?(Token )?[a-z0-9_-]{12,20}",
        "-----(BEGIN|begin) (RSA )?PRIVATE KEY-----[a-z0-9 \n]{0,20}(-----END PRIVATE KEY-----)?",
        "(sk|S\u{212a}|\u{17f}k|pk)[-_][A-Za-z0-9\u{17f}\u{212a}_-]{11,14}",
        "gh[a-z]_[a-z0-9]{15,18}|github_pat_[a-z0-9_]{15,18}|glpat-[a-z0-9-]{11,14}",
        "xox[a-z]-[a-z0-9-]{9,12}|(AKIA|A\u{17f}IA)[A-Z0-9]{16}|AIza[a-z0-9_-]{29,32}",
        "(ntn|hf|\u{17f}hpat|r8)[-_][a-z0-9-]{15,18}|SG[.][a-z0-9-]{15,18}|ATATT[a-z0-9=]{15,18}",
        "eyJ[a-z0-9]{7,9}[.][a-z0-9_-]{7,9}[.][a-z]{0,3}",
    ];
    ("[a-z0-9\u{e9}, (\"'=&-]{0,4}", kinds, "[a-z0-9\u{e9}, .]{0,4}")
        .prop_map(|(before, kind, after)| before + &kind + &after)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]
    #[test]
    fn no_credential_is_passed_over_at_the_first_look(text in with_a_credential()) {
        // With this line, which is no credential, every text gets the second look.
        let seen = format!("{text}\neyJaaaaaaaa");
        prop_assert!(has_room_for_credential(&seen));
        prop_assert_eq!(super::holds_credential(&text), super::holds_credential(&seen));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]
    #[test]
    fn a_text_without_a_sign_of_a_secret_has_none(
        text in prop_oneof![with_a_credential(), "(bearer|Basic|eyJ|-----BEGIN|sk-|xox|[a-z]{2,9}|[ =:@./]){1,9}[a-zA-Z0-9_-]{4,16}.{0,12}"],
    ) {
        let is_found = LOOKS.as_ref().unwrap().is_match(&text);
        prop_assert!(may_hold_secret(&text) || !is_found, "{}", text);
        let plain: String = text.chars().filter(|c| c.is_ascii() && !"=:".contains(*c)).collect();
        prop_assert!(may_hold_secret(&plain) || !LOOKS.as_ref().unwrap().is_match(&plain), "{}", plain);
    }
}

#[test]
fn the_first_look_passes_over_what_most_texts_are() {
    for text in [
        "Lists pull requests of a repository, at most 100 a page, since 2026-01-01.",
        r#"{"type": "object", "properties": {"created_after": {"type": "string", "maxLength": 128}}}"#,
        "Caf\u{e9}s in Z\u{fc}rich: name=value, https://a.example/v1/b?c=d",
    ] {
        assert!(!has_room_for_credential(text), "{text}");
    }
}

#[test]
fn a_variable_on_a_command_line_is_judged_as_one_of_the_environment() {
    let key = "Zx81kPq9LmN2vB7cR4tY";
    let line = [
        "docker",
        "run",
        "-e",
        &format!("OPENAI_KEY={key}"),
        &format!("--env=STRIPE_KEY={key}"),
        "-e",
        "MODE=fast",
    ];
    let shown = SecretPolicy::default().command_line(&line.map(str::to_string));
    assert_eq!(shown.join(" ").matches(key).count(), 0, "{shown:?}");
    assert!(
        shown[3].starts_with("OPENAI_KEY=")
            && shown[4].starts_with("--env=STRIPE_KEY=")
            && shown[6] == "MODE=fast"
    );
}
