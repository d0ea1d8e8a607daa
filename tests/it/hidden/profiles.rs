//! Profiles hide tools as roles do: a token for one profile learns nothing of tools outside of it, and a server of several
//! profiles answers in each as a server of that profile alone.

use std::time::Duration;

use rmcp::model::SubscriptionFilter;
use serde_json::Value;

use super::news::connected;
use super::requests::{Asked, about, afterwards};
use super::{ADMIN, CONFIG, EDITED, GUEST, HIDDEN, VISIBLE, answered, assert_same, difference, serve};
use crate::fixture::{folder, package, text, write};
use crate::serve::Server;

/// The guest is for one profile, in which are the tools that everybody sees.
fn config() -> String {
    let guest = "roles = [\"guest\"]";
    assert!(CONFIG.contains(guest));
    let config = CONFIG.replace(guest, &format!("{guest}\nprofiles = [\"people\"]"));
    format!(
        "{config}\n[profile.people]\ndescription = \"For guests\"\ninclude = [\"get_user\", \"list_users\", \"rename_user\", \
         \"refund\"]\nfull = [\"get_user\"]\n\n[profile.other]\nexclude = [\"get_user\"]\n"
    )
}

/// The same tools for everybody, by names that are nobody else's: profiles select by names, which are those of the
/// whole catalog.
fn open_to_all(tools: &str) -> String {
    let mut tools: Vec<Value> = serde_json::from_str(tools).unwrap();
    for tool in &mut tools {
        tool.as_object_mut().unwrap().remove("allowed_roles");
        let name = match tool["name"].as_str().unwrap() {
            "Get_User" => "fetch_user",
            "get-user" => "unseal_user",
            "whois" => "whose_key",
            "list_users" => "list_keys",
            other => other,
        };
        tool["name"] = name.into();
    }
    Value::from(tools).to_string()
}

fn hidden() -> [&'static str; 5] {
    ["fetch_user", "unseal_user", "vault.person", "read_vault", "quaxolotl"]
}

#[test]
#[ignore = "slow"]
fn tools_outside_of_a_profile_leave_no_trace_in_any_answer_to_its_token() {
    let config = config();
    let (hidden_tools, edited_tools) = (open_to_all(HIDDEN), open_to_all(EDITED));
    let plain = || vec![("people.json", VISIBLE), ("toolcrib.toml", config.as_str())];
    let without = folder(&plain());
    let with = folder(&[plain(), vec![("vault.json", hidden_tools.as_str())]].concat());
    let edited = folder(&[plain(), vec![("a_vault.json", edited_tools.as_str())]].concat());
    let broken = folder(&[plain(), vec![("vault.json", "[{\"name\": ")]].concat());
    for mode in ["gateway", "full"] {
        let more = ["--mode", mode];
        let [without, with, edited, broken] =
            [&without, &with, &edited, &broken].map(|folder| serve(folder, &more));
        let all = [("its", &with), ("edited", &edited), ("unreadable", &broken)];
        let mut asked = about(&["get_user", "billing.refund"], &hidden());
        asked.retain(|asked| mode == "gateway" || asked.depends_on_mode());
        // The path of the profile, one that is forbidden and one that is not there.
        let reads: Vec<&Asked> = asked.iter().filter(|asked| asked.body.is_none()).collect();
        let below = |name: &str, step: usize| {
            let root = format!("/p/{name}");
            reads.iter().step_by(step).map(|asked| asked.below(&root)).collect::<Vec<_>>()
        };
        let below = [below("people", 3), below("other", 9), below("nothing", 9)].concat();
        assert_same(&[asked.clone(), below].concat(), &without, &all);
        assert_same(&afterwards(), &without, &all);
        let admin = |asked: &&Asked| answered(&with, asked, ADMIN) != answered(&without, asked, ADMIN);
        let differs = asked.iter().filter(admin).count();
        assert!(differs > 20, "the requests are about hidden tools: {differs}");
    }
}

#[test]
fn a_client_of_a_profile_is_told_of_no_change_outside_of_it() {
    let (config, tools) = (config(), open_to_all(HIDDEN));
    let folder = folder(&[("people.json", VISIBLE), ("vault.json", &tools), ("toolcrib.toml", &config)]);
    let server = serve(&folder, &["--mode", "full"]);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let wanted = || SubscriptionFilter::builder().tools_list_changed().resources_list_changed().build();
        let clients = [
            connected(&server, "/mcp", GUEST).await,
            connected(&server, "/p/people/mcp", ADMIN).await,
            connected(&server, "/p/other/mcp", ADMIN).await,
        ];
        let mut streams = Vec::new();
        for client in &clients {
            streams.push(client.listen(wanted()).await.unwrap());
        }
        let within = Duration::from_secs(20);
        write(folder.path(), "vault.json", &open_to_all(EDITED));
        let other = &mut streams[2];
        for _ in 0..2 {
            let _ = tokio::time::timeout(within, other.next()).await.expect("news");
        }
        // The first news of the others is of the visible edit, and comes once for each list.
        write(folder.path(), "people.json", &VISIBLE.replace("mail address", "address"));
        for stream in &mut streams[..2] {
            for _ in 0..2 {
                let _ = tokio::time::timeout(within, stream.next()).await.expect("news");
            }
            assert!(tokio::time::timeout(Duration::from_millis(300), stream.next()).await.is_err());
        }
    });
    runtime.shutdown_background();
}

/// An answer without what a profile's path puts into it.
fn without_root(answer: &str, root: &str) -> String {
    let changed = answer.contains(root);
    let answer = answer.replace(&format!("\"url\": \"{root}\""), "\"url\": \"/\"").replace(root, "");
    let is_of_bytes =
        |line: &&str| !changed || !["content-length: ", "etag: "].iter().any(|name| line.starts_with(name));
    answer.lines().filter(is_of_bytes).collect::<Vec<_>>().join("\n")
}

fn without_length(answer: &str) -> String {
    let is_of_bytes = |line: &&str| !["content-length: ", "etag: "].iter().any(|name| line.starts_with(name));
    answer.lines().filter(is_of_bytes).collect::<Vec<_>>().join("\n")
}

/// Waits until searches need not wait.
fn indexed(server: &Server, path: &str) {
    while server.json(&format!("{path}/readyz?verbose"))["search"] != "ready" {
        std::thread::sleep(Duration::from_millis(30));
    }
}

#[test]
#[ignore = "slow"]
fn one_server_of_two_profiles_answers_as_two_servers_of_one() {
    let catalog = package().join("examples/universal-agent");
    for mode in ["gateway", "hybrid"] {
        let start = |more: &[&str]| Server::start(text(&catalog), &[&["--mode", mode], more].concat(), &[]);
        let both = start(&[]);
        for (profile, own, other) in [
            ("creator", ["read_file", "research_topic"], ["execute_cypher_query", "read_fil"]),
            ("validator", ["read_file", "execute_cypher_query"], ["research_topic", "read_fil"]),
        ] {
            let (alone, root) = (start(&["--profile", profile]), format!("/p/{profile}"));
            indexed(&alone, "");
            indexed(&both, &root);
            // The session that a caller names is one in all profiles.
            let asked: Vec<Asked> =
                about(&own, &other).into_iter().map(|asked| asked.in_session(profile)).collect();
            let mut same = 0;
            for asked in &asked {
                let (expected, got) = (answered(&alone, asked, ""), answered(&both, &asked.below(&root), ""));
                let changed = got.contains(&root);
                let expected =
                    if changed { without_length(&expected) } else { expected.trim_end().to_string() };
                assert_eq!(difference(&without_root(&got, &root), &expected), None, "{profile} {asked:?}");
                same += usize::from(!changed);
            }
            assert!(same * 10 > asked.len() * 5, "most answers have no address: {same} of {}", asked.len());
        }
    }
}
