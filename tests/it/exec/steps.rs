//! Tools of several steps: each step is a call with every check, nothing is done twice, and a failure says what was done.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use toolcrib::definition::Effect;
use toolcrib::state::{Claim, ClaimStatus, Event, EventQuery, StateStore};

use super::{Bench, WRITES, check, code, warned};
use crate::fixture;

/// Tools whose writes leave a line in `log`, and whose last step fails until the file `works` is there.
const TOOLS: &str = r#"
- {name: get_note, op: note.get, effect: read, description: Reads a note., parameters: {type: object, properties: {id: {type: string}}, required: [id], additionalProperties: false}, backend: {type: command, argv: [cat, note.json], stdin: none}}
- {name: put_note, op: note.put, effect: write, description: Writes a note., parameters: {type: object, properties: {text: {type: string, maxLength: 100}}, required: [text], additionalProperties: false}, backend: {type: command, argv: [tee, -a, log]}}
- {name: send_note, op: note.send, effect: write, description: Sends a note., parameters: {type: object, properties: {to: {type: string}, token: {type: string}}, required: [to], additionalProperties: false}, backend: {type: command, argv: [cat, works], stdin: none}}
- {name: wipe_note, op: note.wipe, effect: destructive, dry_run: true, description: Wipes a note., parameters: {type: object, properties: {}, additionalProperties: false}, backend: {type: static, content: gone}}
- {name: ask_note, op: note.ask, effect: write, approval: true, description: Asks about a note., parameters: {type: object, properties: {text: {type: string}}, required: [text], additionalProperties: false}, backend: {type: command, argv: [tee, -a, log]}}
- {name: slow_note, op: note.slow, effect: read, description: Takes its time., parameters: {type: object}, backend: {type: command, argv: [sleep, "5"], stdin: none}}
- {name: admin_note, op: note.admin, effect: write, allowed_roles: [admin], description: For admins., parameters: {type: object, properties: {}}, backend: {type: static, content: 1}}
- name: publish
  op: note.publish
  description: Publishes a note.
  parameters: {type: object, properties: {id: {type: string}, token: {type: string, x-secret: true}}, required: [id], additionalProperties: false}
  backend:
    type: steps
    steps:
      - {id: read, op: note.get, args: {id: {$arg: /id}}}
      - {id: write, op: note.put, args: {text: {$text: [{$from: read, pointer: /result/text}, "!"]}}}
      - {id: send, op: note.send, args: {to: {$from: read, pointer: /result/owner}, token: {$arg: /token}}}
      - {id: again, op: note.get, args: {id: {$arg: /id}}}
    result: {sent: {$from: send}, id: {$arg: /id}}
- name: agree
  op: note.agree
  description: Writes a note, and asks a person before the second one.
  parameters: {type: object, properties: {}, additionalProperties: false}
  backend: {type: steps, steps: [{id: write, op: note.put, args: {text: first}}, {id: ask, op: note.ask, args: {text: second}}]}
- name: look
  op: note.look
  effect: read
  description: Reads a note twice.
  parameters: {type: object, properties: {id: {type: string, default: n}, full: {type: boolean, default: false}}, additionalProperties: false}
  backend: {type: steps, steps: [{id: one, op: note.get, args: {id: {$arg: /id}}}, {id: two, op: note.get, when: {/full: true}, args: {id: {$from: one, pointer: /result/nothing}}}]}
- name: chain
  op: note.chain
  description: Writes what a write answered.
  parameters: {type: object, properties: {}, additionalProperties: false}
  backend: {type: steps, steps: [{id: one, op: note.put, args: {text: one}}, {id: two, op: note.put, args: {text: {$from: one, pointer: /result}}}]}
- {name: clean, op: note.clean, effect: read, description: Wipes by steps., parameters: {type: object}, backend: {type: steps, steps: [{id: wipe, op: note.wipe}]}}
- {name: wait, op: note.wait, description: Waits and writes., parameters: {type: object}, backend: {type: steps, steps: [{id: slow, op: note.slow}, {id: write, op: note.put, args: {text: late}}]}}
- {name: manage, op: note.manage, allowed_roles: [admin], description: Manages by steps., parameters: {type: object}, backend: {type: steps, steps: [{id: admin, op: note.admin}]}}
- {name: sneak, op: note.sneak, description: Tries to do what its callers may not., parameters: {type: object}, backend: {type: steps, steps: [{id: write, op: note.put, args: {text: sneak}}, {id: admin, op: note.admin}]}}
"#;

struct Notes {
    bench: Bench,
    root: PathBuf,
}

impl Notes {
    fn new(config: &str) -> Self {
        Self::of(TOOLS, config, None)
    }

    fn of(tools: &str, config: &str, roles: Option<&[String]>) -> Self {
        let trusted = format!("[[source]]\npath = \"tools.yaml\"\ntrust = \"run\"\n{config}");
        let note = r#"{"text": "Hello", "owner": "mira"}"#;
        let folder =
            fixture::folder(&[("tools.yaml", tools), ("toolcrib.toml", &trusted), ("note.json", note)]);
        let root = folder.path().to_path_buf();
        Self { bench: Bench::at(folder, roles, Arc::new(StateStore::in_memory())), root }
    }

    fn run(&self, input: Value) -> Value {
        self.bench.exec(input)
    }

    /// The texts that were written, one for each write.
    fn written(&self) -> Vec<String> {
        let log = fs::read_to_string(self.root.join("log")).unwrap_or_default();
        let texts = serde_json::Deserializer::from_str(&log).into_iter::<Value>();
        texts.map(|text| text.unwrap()["text"].as_str().unwrap().to_string()).collect()
    }

    /// Lets the step `send` succeed.
    fn repair(&self) {
        fs::write(self.root.join("works"), "\"sent\"").unwrap();
    }

    fn events(&self) -> Vec<Event> {
        let query = EventQuery { limit: 100, ..EventQuery::default() };
        self.bench.wait(self.bench.state.events(&query)).unwrap()
    }
}

fn told(answer: &Value) -> Vec<(&str, &str)> {
    let outcome = |step: &Value| {
        let words = ["ok", "error", "not_run", "skipped", "would"];
        words.into_iter().find(|word| step.get(word).is_some()).unwrap()
    };
    let steps =
        answer["error"]["details"]["steps"].as_array().or(answer["result"]["would"]["steps"].as_array());
    steps.unwrap().iter().map(|step| (step["id"].as_str().unwrap(), outcome(step))).collect()
}

#[test]
fn a_failure_after_a_write_says_what_was_done_and_the_same_key_goes_on() {
    let notes = Notes::new(WRITES);
    let call = json!({"op": "note.publish", "args": {"id": "n"}, "idempotency_key": "k"});
    for _ in 0..2 {
        let failed = notes.run(call.clone());
        assert_eq!(code(&failed), "BACKEND_ERROR", "{failed}");
        let steps = [("read", "ok"), ("write", "ok"), ("send", "error"), ("again", "not_run")];
        assert_eq!(told(&failed), steps, "{failed}");
        let message = failed["error"]["message"].as_str().unwrap();
        assert!(message.starts_with("the step `send` (`note.send`) failed"), "{message}");
        assert!(message.contains("Done before it, and not undone: `write`. Not run: `again`"), "{message}");
        assert!(failed["error"]["next_action"].as_str().unwrap().contains("\"idempotency_key\": \"k\""));
        assert_eq!(failed["error"]["details"]["source"], "backend");
        assert_eq!(failed["error"]["help_path"], "note.publish");
        assert_eq!(notes.written(), ["Hello!"]);
    }
    // A write that was done does not depend on later answers of the reads.
    fs::write(notes.root.join("note.json"), r#"{"text": "Changed", "owner": "anna"}"#).unwrap();
    notes.repair();
    let done = notes.run(call.clone());
    assert_eq!(done["result"], json!({"sent": "sent", "id": "n"}), "{done}");
    warned(&done, "step `write` was done by an earlier call");
    assert_eq!(notes.written(), ["Hello!"]);
    let replayed = notes.run(call);
    assert_eq!((&replayed["result"], &replayed["meta"]["replayed"]), (&done["result"], &json!(true)));
    let other = notes.run(json!({"op": "note.publish", "args": {"id": "m"}, "idempotency_key": "k"}));
    assert_eq!(code(&other), "CONFLICT", "{other}");
    // Another key is another call.
    assert_eq!(
        notes.run(json!({"op": "note.publish", "args": {"id": "n"}, "idempotency_key": "l"}))["ok"],
        true
    );
    assert_eq!(notes.written(), ["Hello!", "Changed!"]);
}

#[test]
fn a_call_without_a_key_is_given_one_to_go_on_with() {
    let notes = Notes::new(WRITES);
    let failed = notes.run(json!({"op": "note.publish", "args": {"id": "n"}}));
    assert_eq!(told(&failed)[2], ("send", "error"), "{failed}");
    let next = failed["error"]["next_action"].as_str().unwrap();
    let key = next.rsplit_once("\"idempotency_key\": \"").unwrap().1.split_once('"').unwrap().0;
    notes.repair();
    let done = notes.run(json!({"op": "note.publish", "args": {"id": "n"}, "idempotency_key": key}));
    assert_eq!(done["result"]["sent"], "sent", "{done}");
    assert_eq!(notes.written(), ["Hello!"]);
    let again = notes.run(json!({"op": "note.publish", "args": {"id": "n"}}));
    assert_eq!(again["ok"], true, "{again}");
    assert_eq!(notes.written().len(), 2);
}

#[test]
fn a_step_that_waits_for_a_person_makes_the_whole_wait_and_it_goes_on_afterwards() {
    let notes = Notes::new(WRITES);
    let call = json!({"op": "note.agree", "args": {}, "idempotency_key": "k"});
    for _ in 0..5 {
        let waiting = notes.run(call.clone());
        assert_eq!(code(&waiting), "APPROVAL_REQUIRED", "{waiting}");
        assert_eq!(told(&waiting), [("write", "ok"), ("ask", "error")], "{waiting}");
    }
    let waiting = notes.run(call.clone());
    let id = waiting["error"]["details"]["approval"]["id"].as_str().unwrap();
    notes.bench.wait(notes.bench.state.decide_approval(id, true, None)).unwrap();
    let done = notes.run(call.clone());
    assert_eq!(done["ok"], true, "{done}");
    assert_eq!(notes.written(), ["first", "second"]);
    assert_eq!(notes.run(call)["meta"]["replayed"], true);
    assert_eq!(notes.written(), ["first", "second"]);
}

#[test]
fn a_dry_run_writes_nothing_and_says_what_it_cannot_know() {
    let notes = Notes::new(WRITES);
    let plan = notes.run(
        json!({"op": "note.publish", "args": {"id": "n", "token": "a-secret-of-mine-123"}, "dry_run": true}),
    );
    assert_eq!(
        told(&plan),
        [("read", "ok"), ("write", "would"), ("send", "would"), ("again", "ok")],
        "{plan}"
    );
    let steps = &plan["result"]["would"]["steps"];
    assert_eq!(steps[1]["args"], json!({"text": "Hello!"}));
    assert!(!plan.to_string().contains("a-secret-of-mine-123"), "{plan}");
    let chain = notes.run(json!({"op": "note.chain", "args": {}, "dry_run": true}));
    assert_eq!(told(&chain), [("one", "would"), ("two", "not_run")], "{chain}");
    let second = &chain["result"]["would"]["steps"][1];
    assert!(second["not_run"].as_str().unwrap().contains("the result of `one`"), "{chain}");
    assert_eq!(second["args"], json!({"text": {"$from": "one", "pointer": "/result"}}));
    let misfit = notes.run(json!({"op": "note.chain", "args": {}}));
    assert_eq!(code(&misfit), "VALIDATION_ERROR", "{misfit}");
    assert_eq!(told(&misfit), [("one", "ok"), ("two", "error")]);
    assert_eq!(notes.written(), ["one"]);
}

#[test]
fn the_effect_is_the_strongest_of_the_steps_and_every_setting_counts_for_it() {
    let notes = Notes::new(WRITES);
    let catalog = notes.bench.context.view.catalog();
    let effect = |name: &str| catalog.named(name).unwrap().rules.effect;
    assert_eq!(
        [effect("look"), effect("publish"), effect("clean")],
        [Effect::Read, Effect::Write, Effect::Destructive]
    );
    assert!(catalog.named("publish").unwrap().rules.known_effect().is_some());
    // A tool with a step that is a dry run by default is one too.
    let clean = notes.run(json!({"op": "note.clean", "args": {}}));
    assert_eq!(clean["meta"]["dry_run"], true, "{clean}");
    assert_eq!(notes.run(json!({"op": "note.clean", "args": {}, "dry_run": false}))["result"], "gone");

    let readers = Notes::new("");
    for (function, input) in [
        ("tool_exec", json!({"op": "note.publish", "args": {"id": "n"}})),
        ("tool_exec_read", json!({"op": "note.publish", "args": {"id": "n"}})),
    ] {
        let refused = readers.bench.call(function, input);
        assert_eq!(code(&refused), "PERMISSION_DENIED", "{refused}");
    }
    assert!(readers.written().is_empty());
    let looked = readers.run(json!({"op": "note.look", "args": {}}));
    assert_eq!(looked["result"]["text"], "Hello", "{looked}");
    let missing = readers.run(json!({"op": "note.look", "args": {"full": true}}));
    let message = missing["error"]["message"].as_str().unwrap();
    assert!(
        message.contains("has nothing at `/result/nothing`; at `/result` there is text, owner"),
        "{message}"
    );
    assert!(message.contains("changed nothing"), "{message}");
}

#[test]
fn a_step_does_nothing_that_its_caller_could_not_do() {
    // Roles: no caller without the role may do it by steps, and the answer does not depend on the hidden tool.
    let notes = Notes::of(TOOLS, WRITES, Some(&["user".to_string()]));
    let sneak = notes.run(json!({"op": "note.sneak", "args": {}}));
    assert_eq!(code(&sneak), "NO_BACKEND", "{sneak}");
    let without = TOOLS.replacen("note.admin", "note.other", 1);
    let without =
        Notes::of(&without, WRITES, Some(&["user".to_string()])).run(json!({"op": "note.sneak", "args": {}}));
    assert_eq!(sneak["error"], without["error"]);
    let admin = Notes::of(TOOLS, WRITES, Some(&["admin".to_string()]));
    assert_eq!(admin.run(json!({"op": "note.manage", "args": {}}))["result"], 1);
    assert_eq!(code(&admin.run(json!({"op": "note.sneak", "args": {}}))), "NO_BACKEND");

    // A profile: a tool that is not in it is in no step either.
    let profile = format!("{WRITES}[profile.p]\ninclude = [\"publish\", \"get_note\", \"put_note\"]\n");
    let notes = Notes::new(&profile);
    let answer = notes.run(json!({"op": "note.publish", "args": {"id": "n"}}));
    assert_eq!(code(&answer), "NO_BACKEND", "{answer}");
    assert!(answer["error"]["message"].as_str().unwrap().starts_with("nothing was run"), "{answer}");
    assert!(!answer.to_string().contains("note.send") && notes.written().is_empty(), "{answer}");
}

#[test]
fn each_step_is_in_the_trace_with_a_key_of_its_own_and_without_secrets() {
    let notes = Notes::new(WRITES);
    notes.repair();
    let args = json!({"id": "n", "token": "a-secret-of-mine-123"});
    check(&notes.run(json!({"op": "note.publish", "args": args, "idempotency_key": "k"})));
    let events = notes.events();
    assert!(!format!("{events:?}").contains("a-secret-of-mine"), "{events:#?}");
    let mut told: Vec<(&str, &str, &str)> = events
        .iter()
        .map(|event| {
            let key = event.detail["idempotency_key"].as_str().unwrap_or_default();
            (event.op.as_deref().unwrap(), event.detail["step_of"].as_str().unwrap_or_default(), key)
        })
        .collect();
    told.sort_unstable();
    assert_eq!(
        told,
        [
            ("note.get", "note.publish", ""),
            ("note.get", "note.publish", ""),
            ("note.publish", "", "k"),
            ("note.put", "note.publish", "k/write"),
            ("note.send", "note.publish", "k/send"),
        ]
    );
    assert!(events.iter().all(|event| event.trace_id == events[0].trace_id));
}

#[test]
fn a_step_that_is_silent_for_too_long_ends_the_call() {
    let notes = Notes::new("[exec]\nallow = \"write\"\ncall_seconds = 1\n");
    let late = notes.run(json!({"op": "note.wait", "args": {}}));
    assert_eq!(code(&late), "BACKEND_TIMEOUT", "{late}");
    assert_eq!(told(&late), [("slow", "error"), ("write", "not_run")]);
    assert!(notes.written().is_empty());
}

#[test]
fn a_step_gets_the_whole_result_of_another_however_long() {
    let notes = Notes::new("[exec]\nallow = \"write\"\nresult_bytes = 256\n");
    notes.repair();
    let filler = "x".repeat(5000);
    fs::write(
        notes.root.join("note.json"),
        json!({"filler": filler, "text": "Hi", "owner": "o"}).to_string(),
    )
    .unwrap();
    assert_eq!(notes.run(json!({"op": "note.publish", "args": {"id": "n"}}))["ok"], true);
    assert_eq!(notes.written(), ["Hi!"]);
    // The result of the whole is paged like any.
    assert!(notes.run(json!({"op": "note.look", "args": {}}))["meta"]["more"].is_object());
}

#[test]
fn steps_count_only_where_the_source_is_trusted_and_only_whole() {
    let untrusted = fixture::folder(&[("tools.yaml", TOOLS)]);
    let checked = fixture::open(untrusted.path());
    let publish = checked.catalog.named("publish").unwrap();
    assert!(publish.backend.is_none() && publish.rules.withheld.is_some());
    assert!(checked.findings.iter().any(|finding| finding.message.contains("names other tools")));

    // A mistyped condition would make the step unconditional.
    let typo = TOOLS.replace("when: {/full", "whn: {/full");
    let folder = fixture::folder(&[
        ("tools.yaml", &typo),
        ("toolcrib.toml", "[[source]]\npath = \"tools.yaml\"\ntrust = \"run\"\n"),
    ]);
    let checked = fixture::open(folder.path());
    assert!(checked.catalog.named("look").unwrap().backend.is_none(), "{:#?}", checked.findings);
    assert!(checked.findings.iter().any(|finding| finding.help.as_deref() == Some("did you mean `when`?")));
}

#[test]
fn a_tool_with_steps_is_no_step_of_another() {
    let steps = |name: &str, inner: &str| {
        format!(
            "- {{name: {name}, op: s.{name}, description: Calls on., parameters: {{type: object}}, \
             backend: {{type: steps, steps: [{{id: a, op: {inner}}}]}}}}\n"
        )
    };
    let tools = format!("{TOOLS}{}{}", steps("outer", "note.look"), steps("itself", "s.itself"));
    let notes = Notes::of(&tools, WRITES, None);
    for op in ["s.outer", "s.itself"] {
        let answer = notes.run(json!({"op": op, "args": {}}));
        assert_eq!(code(&answer), "NO_BACKEND", "{answer}");
        assert!(answer["error"]["message"].as_str().unwrap().ends_with("its steps are wrong"), "{answer}");
    }
}

#[test]
fn the_doc_of_the_tool_counts_and_not_those_of_its_steps() {
    let mut notes = Notes::new("[exec]\nallow = \"write\"\nrequire_doc = \"always\"\n");
    notes.repair();
    notes.bench = notes.bench.in_session("s");
    let call = json!({"op": "note.publish", "args": {"id": "n"}});
    assert_eq!(code(&notes.run(call.clone())), "DOC_REQUIRED");
    assert_eq!(notes.run(call)["ok"], true);
}

#[test]
fn a_call_whose_server_died_goes_on_and_an_approval_covers_the_tools_of_the_steps() {
    let asking = TOOLS.replace("op: note.publish\n", "op: note.publish\n  approval: true\n");
    let approval = |tools: &str| {
        let notes = Notes::of(tools, WRITES, None);
        notes.run(json!({"op": "note.publish", "args": {"id": "n"}}));
        // Hashes of different states have different keys.
        let key = "the same";
        let catalog = notes.bench.context.view.catalog();
        let bound = toolcrib::exec::binding(catalog.named("publish").unwrap(), catalog, key);
        (notes.bench.wait(notes.bench.state.approvals(false)).unwrap().remove(0), bound)
    };
    let (asked, bound) = approval(&asking);
    assert_eq!(bound, approval(&asking).1);
    assert_ne!(bound, approval(&asking.replace("[cat, works]", "[cat, other]")).1);

    let notes = Notes::new(WRITES);
    notes.repair();
    let claim = Claim {
        caller: Arc::from(""),
        key: "k".into(),
        op: "note.publish".into(),
        fingerprint: asked.fingerprint,
        owner: "ow_of_a_dead_server".into(),
    };
    let claimed = notes.bench.wait(notes.bench.state.claim(&claim, Duration::from_millis(1))).unwrap();
    assert_eq!(claimed, ClaimStatus::Acquired);
    std::thread::sleep(Duration::from_millis(50));
    let call = json!({"op": "note.publish", "args": {"id": "n"}, "idempotency_key": "k"});
    for _ in 0..2 {
        let done = notes.run(call.clone());
        assert_eq!(done["result"]["sent"], "sent", "{done}");
        assert_eq!(notes.written(), ["Hello!"]);
    }
}

#[test]
fn a_step_that_was_not_sent_leaves_nothing_done_and_the_approval_stays() {
    // Nothing listens on port 1.
    let tools = r#"
- {name: post, op: note.post, effect: write, description: Posts a note., parameters: {type: object}, backend: {type: http, server: api, method: POST, path: /}}
- {name: publish, op: note.publish, approval: true, description: Publishes a note., parameters: {type: object}, backend: {type: steps, steps: [{id: post, op: note.post}]}}
"#;
    let config = format!("{WRITES}[server.api]\nurl = \"http://127.0.0.1:1\"\n");
    let notes = Notes::of(tools, &config, None);
    let call = json!({"op": "note.publish", "args": {}});
    let waiting = notes.run(call.clone());
    let id = waiting["error"]["details"]["approval"]["id"].as_str().unwrap();
    notes.bench.wait(notes.bench.state.decide_approval(id, true, None)).unwrap();
    for _ in 0..2 {
        let failed = notes.run(call.clone());
        assert_eq!(code(&failed), "BACKEND_ERROR", "{failed}");
        assert_eq!(failed["error"]["details"].get("partly_done"), None, "{failed}");
    }
}
