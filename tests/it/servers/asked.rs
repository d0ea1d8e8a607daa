//! Approvals where the person is: a client that answers questions, in both revisions of MCP, and `toolcrib approvals` without flags.

use serde_json::{Value, json};

use super::{Home, Lines};
use crate::fixture::{ended, package, text};

/// The call on the page `docs/approvals.md`.
const CALL: (&str, &str) = ("send_mail", r#"{"to": "amy@example.com", "text": "See you at 9."}"#);

/// A block of the page, by the word after its fence.
fn block(word: &str) -> String {
    let page = std::fs::read_to_string(package().join("docs/approvals.md")).unwrap();
    let (_, rest) = page.split_once(&format!("```{word}\n")).unwrap();
    rest.split_once("```").unwrap().0.to_string()
}

/// A catalog with the configuration of the page. `note` needs no approval, and only `allow` lets it run.
fn home(configuration: &str) -> Home {
    let home = Home::new();
    let tool = |name: &str, password: &str| {
        json!({"name": name, "effect": "write", "description": "Sends it.", "backend": {"type": "static", "content": "sent"},
            "parameters": {"type": "object", "properties": {
                "to": {"type": "string"}, "text": {"type": "string"}, "pin": {"type": "string", "format": password}}}})
    };
    home.write("tools.json", &json!([tool("send_mail", "password"), tool("note", "password")]).to_string());
    home.write("toolcrib.toml", configuration);
    home
}

fn client(home: &Home, answer: Option<&'static str>) -> Lines {
    let mut command = home.command(&["serve", "--stdio", text(&home.at("toolcrib.toml"))]);
    command.stderr(std::process::Stdio::null());
    Lines::asking(command, answer)
}

fn arguments() -> Value {
    serde_json::from_str(CALL.1).unwrap()
}

#[track_caller]
fn assert_code(answer: &Value, code: &str) {
    assert_eq!(answer["result"]["structuredContent"]["error"]["code"], code, "{answer}");
}

fn is_sent(answer: &Value) -> bool {
    answer["result"]["content"][0]["text"] == "sent"
}

#[test]
fn the_page_shows_the_question_that_a_client_gets() {
    let home = home(&block("toml"));
    let mut asked = client(&home, Some("accept"));
    let answer = asked.call(CALL.0, arguments());
    assert!(is_sent(&answer), "{answer}");
    let question = asked.asked.pop().unwrap();
    let message = question["params"]["message"].as_str().unwrap();
    let (shown, end) = message.split_once("end of ap_").unwrap();
    assert_eq!((shown, end.trim().len()), (block("text").as_str(), 12), "{message}");
    assert_eq!(question["params"]["requestedSchema"], json!({"type": "object", "properties": {}}));
    // The answer counted once.
    asked.answer = Some("cancel");
    let again = asked.call(CALL.0, arguments());
    assert_code(&again, "APPROVAL_REQUIRED");
    assert_eq!(asked.asked.len(), 1);
}

#[test]
fn the_person_refuses_in_the_client_or_decides_later() {
    let home = home(&block("toml"));
    let mut asked = client(&home, Some("decline"));
    assert_code(&asked.call(CALL.0, arguments()), "PERMISSION_DENIED");
    asked.answer = Some("cancel");
    let call = json!({"to": "bob", "pin": "very-secret"});
    let waiting = asked.call(CALL.0, call.clone());
    assert_code(&waiting, "APPROVAL_REQUIRED");
    let question = asked.asked.pop().unwrap().to_string();
    assert!(question.contains("hidden: 11 bytes") && !question.contains("very-secret"), "{question}");
    let next = waiting["result"]["structuredContent"]["error"]["next_action"].as_str().unwrap();
    let id = waiting["result"]["structuredContent"]["error"]["details"]["approval"]["id"].as_str().unwrap();
    assert!(next.contains("`toolcrib approvals`") && !next.contains("approve "), "{next}");
    // Without a catalog and a place of state: the server has run here.
    let listed = home.done(&["approvals"]);
    assert!(listed.starts_with(&format!("{id}  waiting\n")) && !listed.contains("very-secret"), "{listed}");
    // A program without a terminal decides nothing.
    #[cfg(target_os = "linux")]
    {
        let own = home.command(&["approvals", "approve", id]);
        let mut alone = std::process::Command::new("setsid");
        alone.arg("--wait").arg(own.get_program()).args(own.get_args()).current_dir(home.path());
        alone.env("HOME", home.path()).env("XDG_STATE_HOME", "").env("XDG_CONFIG_HOME", "");
        let unheard = ended(alone.output().unwrap());
        let refused = unheard.code == 1 && unheard.stderr.contains("a person decides at a terminal");
        assert!(refused, "{}", unheard.stderr);
        assert_code(&asked.call(CALL.0, call.clone()), "APPROVAL_REQUIRED");
    }
    let run = home.typed(&["approvals", "approve", id]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(is_sent(&asked.call(CALL.0, call)));
    assert!(home.done(&["approvals"]).is_empty());
}

/// Over stdio a call that nobody has allowed needs one answer, and no edit of a file.
#[test]
fn a_call_that_is_not_allowed_asks_a_client_over_stdio() {
    let home = home("[state]\nurl = 'state.db'\n");
    let call = json!({"op": "note", "args": {"to": "amy"}});
    let mut asked = client(&home, Some("accept"));
    assert!(asked.call("tool_exec", call.clone()).to_string().contains("sent"));
    assert_eq!(asked.asked.len(), 1);
    asked.answer = Some("decline");
    assert_code(&asked.call("tool_exec", json!({"op": "note", "args": {"to": "bob"}})), "PERMISSION_DENIED");
    drop(asked);
    // A client that asks nothing gets the file to edit.
    let refused = client(&home, None).call("tool_exec", call.clone());
    assert_code(&refused, "PERMISSION_DENIED");
    assert!(refused.to_string().contains(text(&home.at("toolcrib.toml"))), "{refused}");
    // What the operator forbids is not asked.
    home.write("toolcrib.toml", "[exec]\nallow = 'read'\n[state]\nurl = 'state.db'\n");
    let mut asked = client(&home, Some("accept"));
    assert_code(&asked.call("tool_exec", call), "PERMISSION_DENIED");
    assert!(asked.asked.is_empty());
}

#[test]
fn the_place_is_a_setting_and_a_client_that_cannot_ask_is_told_once() {
    let setting = block("toml").replace("[exec]", "[exec]\napprove_in = 'command'");
    let home = home(&setting);
    let mut asked = client(&home, Some("accept"));
    let waiting = asked.call(CALL.0, arguments());
    assert_code(&waiting, "APPROVAL_REQUIRED");
    assert!(asked.asked.is_empty() && !waiting.to_string().contains("elicitation"), "{waiting}");
    drop(asked);
    home.write("toolcrib.toml", &block("toml"));
    let mut silent = client(&home, None);
    let told = [silent.call(CALL.0, arguments()), silent.call(CALL.0, json!({"to": "bob"}))];
    assert_eq!(
        told.each_ref().map(|told| told.to_string().contains("no MCP elicitation")),
        [true, false],
        "{told:?}"
    );
}

/// Answers that are not those of the question, in the newer revision, where the client brings them with the call.
#[test]
fn an_answer_counts_for_its_call_alone() {
    let home = home(&block("toml"));
    let mut newer = client(&home, Some("newer"));
    let ask = |newer: &mut Lines, arguments: &Value| {
        let asked = newer.call(CALL.0, arguments.clone());
        assert_eq!(asked["result"]["resultType"], "input_required", "{asked}");
        assert!(
            asked["result"]["inputRequests"]["approval"]["params"]["message"]
                .as_str()
                .unwrap()
                .contains("Run send_mail")
        );
        asked["result"]["requestState"].as_str().unwrap().to_string()
    };
    let send = |newer: &mut Lines, arguments: &Value, state: &str, answer: Value| {
        let call = json!({"name": CALL.0, "arguments": arguments, "requestState": state, "inputResponses": {"approval": answer}});
        newer.ask("tools/call", call)
    };
    let (call, accept) = (arguments(), json!({"action": "accept", "content": {}}));
    let state = ask(&mut newer, &call);
    let other = ask(&mut newer, &json!({"to": "bob"}));
    let last = if state.ends_with("0\"]") { "1\"]" } else { "0\"]" };
    let cut = format!("{}{last}", &state[..state.len() - 3]);
    let attacks: [(&str, Value, &str, Value); 9] = [
        ("edited arguments", json!({"to": "eve", "text": "See you at 9."}), &state, accept.clone()),
        (
            "a further argument",
            json!({"to": "amy@example.com", "text": "See you at 9.", "pin": "1"}),
            &state,
            accept.clone(),
        ),
        ("the answer to another question", call.clone(), &other, accept.clone()),
        ("a forged digest", call.clone(), &cut, accept.clone()),
        ("a forged state", call.clone(), r#"["toolcrib approvals", "ap_000000000000"]"#, accept.clone()),
        (
            "the state of a server",
            call.clone(),
            &state.replace("toolcrib approvals", "shelf"),
            accept.clone(),
        ),
        ("no state at all", call.clone(), r#"["toolcrib approvals", null]"#, accept.clone()),
        ("another action", call.clone(), &state, json!({"action": "ACCEPT"})),
        ("no action", call.clone(), &state, json!(true)),
    ];
    for (attack, arguments, state, answer) in attacks {
        let answered = send(&mut newer, &arguments, state, answer);
        assert!(!is_sent(&answered), "{attack}: {answered}");
    }
    let right = send(&mut newer, &call, &state, accept.clone());
    assert!(is_sent(&right), "{right}");
    let replayed = send(&mut newer, &call, &state, accept.clone());
    assert!(!is_sent(&replayed) && replayed["result"]["resultType"] == "input_required", "{replayed}");

    // An approval that has expired: its question is asked anew.
    let state = ask(&mut newer, &json!({"to": "late"}));
    expire(&home);
    let late = send(&mut newer, &json!({"to": "late"}), &state, accept.clone());
    assert!(!is_sent(&late), "{late}");
    // A definition that has changed.
    let state = ask(&mut newer, &json!({"to": "changed"}));
    let tools = home.read("tools.json").replace("Sends it.", "Sends it to everybody.");
    home.write("tools.json", &tools);
    drop(newer);
    let mut newer = client(&home, Some("newer"));
    let changed = send(&mut newer, &json!({"to": "changed"}), &state, accept);
    assert!(!is_sent(&changed), "{changed}");
}

/// Ends the time of all approvals.
fn expire(home: &Home) {
    let state = rusqlite::Connection::open(home.at("state.db")).unwrap();
    state.execute("UPDATE tool_approvals SET until = 1", []).unwrap();
}
