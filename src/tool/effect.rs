//! The effect of a tool, judged by the verb in its name when nothing better is known.

use super::{Effect, words};

const READS: &[&str] = &[
    "analyze",
    "ask",
    "assess",
    "browse",
    "calculate",
    "check",
    "classify",
    "compare",
    "compute",
    "convert",
    "count",
    "crawl",
    "describe",
    "detect",
    "diff",
    "download",
    "echo",
    "estimate",
    "evaluate",
    "exists",
    "explain",
    "extract",
    "fetch",
    "filter",
    "find",
    "format",
    "get",
    "grep",
    "has",
    "info",
    "inspect",
    "is",
    "list",
    "load",
    "log",
    "lookup",
    "map",
    "match",
    "navigate",
    "overview",
    "parse",
    "ping",
    "poll",
    "predict",
    "preview",
    "query",
    "read",
    "resolve",
    "retrieve",
    "review",
    "scan",
    "scrape",
    "search",
    "select",
    "show",
    "solve",
    "stat",
    "status",
    "summarize",
    "tail",
    "test",
    "think",
    "translate",
    "validate",
    "verify",
    "view",
    "visit",
    "wait",
    "watch",
];
const DESTRUCTIVE: &[&str] = &[
    "cancel",
    "clear",
    "delete",
    "destroy",
    "drop",
    "erase",
    "flush",
    "kill",
    "prune",
    "purge",
    "remove",
    "reset",
    "revoke",
    "terminate",
    "truncate",
    "uninstall",
    "wipe",
];

impl Effect {
    /// The effect that a name suggests: by its first word, else by the first verb in it; `Write` when no verb is known.
    pub fn of_name(name: &str) -> Effect {
        let words = words(name);
        let known = |word: &String| {
            if DESTRUCTIVE.contains(&word.as_str()) {
                Some(Effect::Destructive)
            } else if READS.contains(&word.as_str()) {
                Some(Effect::Read)
            } else {
                WRITES.contains(&word.as_str()).then_some(Effect::Write)
            }
        };
        words.iter().find_map(known).unwrap_or(Effect::Write)
    }
}

const WRITES: &[&str] = &[
    "accept",
    "activate",
    "add",
    "append",
    "apply",
    "archive",
    "approve",
    "assign",
    "attach",
    "book",
    "build",
    "close",
    "commit",
    "complete",
    "configure",
    "connect",
    "copy",
    "create",
    "deploy",
    "disable",
    "edit",
    "enable",
    "execute",
    "generate",
    "import",
    "insert",
    "install",
    "invite",
    "link",
    "make",
    "merge",
    "modify",
    "move",
    "open",
    "order",
    "patch",
    "pay",
    "post",
    "publish",
    "push",
    "put",
    "rename",
    "reorganize",
    "replace",
    "reply",
    "restore",
    "run",
    "save",
    "schedule",
    "send",
    "set",
    "share",
    "start",
    "stop",
    "submit",
    "subscribe",
    "sync",
    "tag",
    "trigger",
    "unlink",
    "unsubscribe",
    "update",
    "upload",
    "upsert",
    "write",
];

#[cfg(test)]
mod tests {
    use super::Effect;

    #[test]
    fn the_verb_decides() {
        let check = |name: &str, expect: Effect| assert_eq!(Effect::of_name(name), expect, "{name}");
        check("list_onto_tasks", Effect::Read);
        check("web_search", Effect::Read);
        check("deleteUser", Effect::Destructive);
        check("git_status", Effect::Read);
        check("move_document_in_tree", Effect::Write);
        check("issue_write", Effect::Write);
        check("frobnicate", Effect::Write);
    }
}
