//! Live servers of a catalog that is followed: changes arrive, and a server that is away leaves its tools.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use toolcrib::mcp::Connections;
use toolcrib::watch::{Change, Follow, Options, Stop};

use super::server::{Era, Http, slow_stdio, stdio};
use super::{catalog, configure, environment};
use crate::fixture::{folder, text, write};
use crate::serve::Server;

struct Followed {
    changes: Receiver<Change>,
    stop: Stop,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Followed {
    fn start(root: &std::path::Path) -> Self {
        let connections = Some(Arc::new(Connections::new(environment())));
        let options = Options { connections, ..Options::default() };
        let follow = Follow::start(root, options);
        let stop = follow.stopper();
        let (sender, changes) = channel();
        let thread = std::thread::spawn(move || follow.for_each(|change| drop(sender.send(change))));
        Self { changes, stop, thread: Some(thread) }
    }

    /// Waits until these are the tools, and whether a server of theirs is away.
    #[track_caller]
    fn becomes(&self, tools: &[&str], stale: bool) -> Change {
        let end = Instant::now() + Duration::from_secs(15);
        let mut seen = Vec::new();
        loop {
            let left = end.saturating_duration_since(Instant::now());
            let Ok(change) = self.changes.recv_timeout(left) else { panic!("only {seen:#?}") };
            let is_stale =
                change.checked.findings.iter().any(|finding| finding.code.as_str() == "source-stale");
            let names = super::names(&change.checked).into_iter().map(str::to_string).collect::<Vec<_>>();
            if names == tools && is_stale == stale {
                return change;
            }
            seen.push((names, is_stale, change.checked.findings));
        }
    }
}

impl Drop for Followed {
    fn drop(&mut self) {
        self.stop.stop();
        if let Some(thread) = self.thread.take() {
            let start = Instant::now();
            thread.join().unwrap();
            assert!(std::thread::panicking() || start.elapsed() < Duration::from_secs(30));
        }
    }
}

#[test]
fn a_changed_list_arrives_over_http_in_both_eras() {
    for era in [Era::Old, Era::New] {
        let http = Http::start(era, &["x"]);
        let root = catalog(&format!("{{ url = '{}' }}", http.url));
        let followed = Followed::start(root.path());
        followed.becomes(&["x", "a"], false);
        for names in [&["x", "y"][..], &["z"]] {
            http.list(names);
            let all: Vec<&str> = names.iter().copied().chain(["a"]).collect();
            followed.becomes(&all, false);
        }
        write(root.path(), "a.json", &crate::watch::tool("b"));
        followed.becomes(&["z", "b"], false);
    }
}

/// Lists the tool that its file names, and announces no change.
const SILENT: &str = r#"while read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
  say() { printf '{"jsonrpc":"2.0","id":%s,%s}\n' "$id" "$1"; }
  case $line in
    *'"initialize"'*) say '"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}' ;;
    *'"tools/list"'*) say '"result":{"tools":[{"name":"'"$(cat "$0.list")"'","inputSchema":{"type":"object"}}]}' ;;
    *'"id"'*) say '"error":{"code":-32601,"message":"no such method"}' ;;
  esac
done"#;

#[test]
#[cfg(unix)]
fn a_reload_asks_servers_again_that_announce_nothing() {
    let root = catalog("{ command = ['sh', 'silent.sh'] }");
    write(root.path(), "silent.sh", SILENT);
    write(root.path(), "silent.sh.list", "before");
    let server = Server::start(text(root.path()), &[], &[]);
    let becomes = |tool: &str| {
        let end = Instant::now() + Duration::from_secs(30);
        while !server.text("/tools/README.md").contains(tool) {
            assert!(Instant::now() < end, "`{tool}` never comes");
            std::thread::sleep(Duration::from_millis(30));
        }
    };
    becomes("before");
    write(root.path(), "silent.sh.list", "after");
    assert_eq!(server.posting("/v1/reload", "").send().unwrap().status(), 202);
    becomes("after");
}

#[test]
fn a_server_over_stdio_that_dies_leaves_its_tools_and_comes_back() {
    for era in [Era::Old, Era::New] {
        let lists = folder(&[("list", "x\n")]);
        let list = |text: &str| write(lists.path(), "list", text);
        let root = catalog(&stdio(era, &lists.path().join("list")));
        let followed = Followed::start(root.path());
        followed.becomes(&["x", "a"], false);
        list("x\ny\n");
        followed.becomes(&["x", "y", "a"], false);
        list("die\n");
        let away = followed.becomes(&["x", "y", "a"], true);
        assert!(!away.is_worse && !away.checked.lost_input(), "{:#?}", away.checked.findings);
        list("w\n");
        followed.becomes(&["w", "a"], false);
    }
}

#[test]
fn a_server_over_http_that_goes_away_leaves_its_tools_and_comes_back() {
    let mut http = Http::start(Era::New, &["x"]);
    let root = catalog(&format!("{{ url = '{}' }}", http.url));
    let followed = Followed::start(root.path());
    followed.becomes(&["x", "a"], false);
    http.go_away();
    followed.becomes(&["x", "a"], true);
    http.list(&["y"]);
    http.come_back();
    followed.becomes(&["y", "a"], false);
}

#[test]
fn a_server_that_is_away_at_the_start_appears() {
    let mut http = Http::start(Era::New, &["x"]);
    http.go_away();
    let root = catalog(&format!("{{ url = '{}' }}", http.url));
    let followed = Followed::start(root.path());
    followed.becomes(&["a"], false);
    write(root.path(), "a.json", &crate::watch::tool("b"));
    assert!(!followed.becomes(&["b"], false).is_worse, "other edits are not held up");
    http.come_back();
    followed.becomes(&["x", "b"], false);
}

#[test]
fn servers_come_and_go_with_the_configuration() {
    let one = Http::start(Era::New, &["x"]);
    let two = Http::start(Era::Old, &["y"]);
    let root = catalog(&format!("{{ url = '{}' }}", one.url));
    let followed = Followed::start(root.path());
    followed.becomes(&["x", "a"], false);
    configure(root.path(), &format!("{{ url = '{}' }}", two.url));
    followed.becomes(&["y", "a"], false);
    one.list(&["w"]);
    two.list(&["z"]);
    followed.becomes(&["z", "a"], false);
}

#[test]
#[ignore = "slow"]
fn a_slow_server_holds_up_nothing_and_its_tools_come_later() {
    let lists = folder(&[("list", "x\n")]);
    let slow = slow_stdio(Era::New, &lists.path().join("list"), 6);
    let root = catalog(&slow);
    let followed = Followed::start(root.path());
    let first = followed.becomes(&["a"], false);
    let found = &first.checked.findings;
    assert!(found.iter().any(|finding| finding.message.contains("has not answered yet")), "{found:#?}");
    write(root.path(), "a.json", &crate::watch::tool("b"));
    assert!(!followed.becomes(&["b"], false).is_worse);
    followed.becomes(&["x", "b"], false);
}

#[test]
#[ignore = "slow"]
fn an_edit_that_adds_a_slow_server_is_served_before_that_answers() {
    let lists = folder(&[("list", "x\n")]);
    let root = folder(&[("a.json", &crate::watch::tool("a"))]);
    let followed = Followed::start(root.path());
    followed.becomes(&["a"], false);
    write(root.path(), "a.json", &crate::watch::tool("b"));
    configure(root.path(), &slow_stdio(Era::New, &lists.path().join("list"), 6));
    assert!(!followed.becomes(&["b"], false).is_worse);
    write(root.path(), "a.json", &crate::watch::tool("c"));
    assert!(!followed.becomes(&["c"], false).is_worse);
    assert!(!followed.becomes(&["x", "c"], false).is_worse);
    configure(root.path(), "{ url = 'http://127.0.0.1:9/mcp' }");
    assert!(followed.becomes(&["c"], false).is_worse, "the tools of the last good one are gone");
}

#[test]
fn a_server_over_stdio_sees_the_end_of_its_stdin() {
    let lists = folder(&[("list", "x\n"), ("other", "y\n"), ("program", "z\n")]);
    let has_ended = |name: &str| {
        let end = Instant::now() + Duration::from_secs(5);
        while !lists.path().join(name).exists() && Instant::now() < end {
            std::thread::sleep(Duration::from_millis(20));
        }
        lists.path().join(name).exists()
    };
    let root = catalog(&stdio(Era::New, &lists.path().join("list")));
    let followed = Followed::start(root.path());
    followed.becomes(&["x", "a"], false);
    configure(root.path(), &stdio(Era::Old, &lists.path().join("other")));
    followed.becomes(&["y", "a"], false);
    assert!(has_ended("list.ended"), "when its source is gone");
    drop(followed);
    assert!(has_ended("other.ended"), "when nobody follows any more");

    configure(root.path(), &stdio(Era::New, &lists.path().join("program")));
    let mut server = Server::start(text(root.path()), &[], &[]);
    let end = Instant::now() + Duration::from_secs(10);
    while server.get("/tools/z.md", &[]).status() != 200 && Instant::now() < end {
        std::thread::sleep(Duration::from_millis(50));
    }
    server.terminate();
    assert_eq!(server.ended(Duration::from_secs(10)), Some(0));
    assert!(has_ended("program.ended"), "when the program stops");
}

#[test]
fn the_program_serves_other_tools_while_a_server_is_slow() {
    let lists = folder(&[("list", "x\n")]);
    let root = catalog(&slow_stdio(Era::New, &lists.path().join("list"), 6));
    let start = Instant::now();
    let server = Server::start(text(root.path()), &[], &[]);
    assert_eq!(server.get("/tools/a.md", &[]).status(), 200);
    assert_eq!(server.get("/tools/x.md", &[]).status(), 404);
    while server.get("/tools/x.md", &[]).status() != 200 {
        assert!(start.elapsed() < Duration::from_secs(40), "{}", server.text("/readyz?verbose"));
        std::thread::sleep(Duration::from_millis(50));
    }
    assert_eq!(server.json("/readyz?verbose")["current"], true);
}
