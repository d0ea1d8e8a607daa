//! Two callers at once, many times: none is served with a token of the other.

use super::*;

/// A token that the issuer's control gives a person.
fn controlled_token(issuer: &Issuer, person: &str, audience: &str) -> String {
    let claims = json!({ "sub": person, "aud": audience, "client_id": person }).to_string();
    let asking = crate::serve::client().post(format!("{}/control/token", issuer.url())).body(claims);
    let answer: Value = serde_json::from_str(&asking.send().unwrap().text().unwrap()).unwrap();
    answer["token"].as_str().unwrap().to_string()
}

/// Ends the tokens that the API has seen, as their expiry would.
fn revoke(issuer: &Issuer, api: &ProtectedApi) {
    for seen in api.seen() {
        let form = format!("token={}", seen.trim_start_matches("Bearer "));
        crate::serve::client().post(format!("{}/revoke", issuer.url())).body(form).send().unwrap();
    }
}

#[test]
fn callers_with_exchange_under_load_never_get_the_token_of_another() {
    const CALLS: usize = 20;
    let issuer = issuer();
    let (api, hosted) = (ProtectedApi::start(&issuer), Protected::start(&issuer, true));
    let exchange = EXCHANGE.replace("ISSUER", issuer.url());
    let inline = format!("{exchange}\nscopes = [\"tools:read\"]").replace('\n', ", ");
    let (server, _folder) = served(&format!(
        "[[source]]\npath = \"tools.json\"\n[[source]]\nserver = \"hosted\"\n\
         mcp = {{ url = \"{}\", auth = {{ {inline} }} }}\n[server.api]\nurl = \"{}\"\n[server.api.auth]\n{exchange}\n{}",
        hosted.url,
        api.url,
        callers(&issuer, "https://tools.example")
    ));
    let people =
        ["amy", "bob"].map(|person| (person, controlled_token(&issuer, person, "https://tools.example")));
    // Answers of the issuer overlap, and tokens are refused and replaced meanwhile.
    issuer.behave(|issuer| issuer.delay_ms = 5);
    std::thread::scope(|scope| {
        let running: Vec<_> = (0..8)
            .map(|at| {
                let (server, (person, token)) = (&server, &people[at % 2]);
                scope.spawn(move || {
                    for _ in 0..CALLS {
                        // A token may be ended twice in one call, which then fails; it is never another's.
                        let answers = ["who", "whoami"].map(|tool| call(server, tool, token));
                        let [who, whoami] = answers.map(|answer| {
                            let is_refused = answer["error"]["code"].is_string();
                            (!is_refused).then(|| answer["result"].clone())
                        });
                        assert!(who.is_none_or(|who| who["sub"] == *person), "{person}");
                        assert!(whoami.is_none_or(|who| who == format!("whoami for {person}")), "{person}");
                    }
                })
            })
            .collect();
        for _ in 0..CALLS / 4 {
            revoke(&issuer, &api);
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        running.into_iter().for_each(|calls| calls.join().unwrap());
    });
    for (person, token) in &people {
        assert_eq!(call(&server, "who", token)["result"]["sub"], *person);
        assert_eq!(call(&server, "whoami", token)["result"], format!("whoami for {person}"));
        assert_nowhere(&server, &[SECRET, token]);
    }
    assert!(issuer.requests("/token") > 4, "tokens were replaced");
}
