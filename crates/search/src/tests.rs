//! Searches: one table per feature.

use toolcrib_catalog::config;

use super::{Field, Index, IndexEntry, SearchRequest, SearchResult, Verdict};

fn entry(name: &str, text: &str, parameters: &[&str]) -> IndexEntry {
    let mut texts = vec![(Field::Name, name.to_string()), (Field::Long, text.to_string())];
    texts.extend(parameters.iter().map(|name| (Field::Parameter, name.to_string())));
    IndexEntry { exact: vec![name.to_string()], texts, ..IndexEntry::default() }
}

/// A small catalog of dissimilar tools.
fn office() -> Vec<IndexEntry> {
    vec![
        entry("get_weather", "Forecast for a place and a day.", &["city", "date"]),
        entry("create_issue", "Open an issue in a repository.", &["owner", "repo", "title", "body"]),
        entry("close_issue", "Close an issue of a repository.", &["owner", "repo", "number"]),
        entry("list_issues", "List the issues of a repository.", &["owner", "repo", "labels"]),
        entry("move_document", "Move a document into another folder.", &["document_id", "parent_id"]),
        entry("sendEmail", "Send a message to one or several people.", &["to", "subject", "body"]),
        entry(
            "convertCurrency",
            "Convert an amount of money at today's exchange rate.",
            &["amount", "from", "to"],
        ),
        entry("search", "Search the web.", &["query"]),
        entry("翻译文本", "将文本翻译成另一种语言", &["text"]),
    ]
}

fn index_with(entries: &[IndexEntry], no_match_below: f64) -> Index {
    let no_match_below = Some(no_match_below);
    Index::configured(entries, &config::Search { no_match_below, ..config::Search::default() })
}

fn find(query: &str) -> (SearchResult, Vec<String>) {
    let entries = office();
    let found = Index::new(&entries).find(SearchRequest { query, within: None, limit: 5 });
    let names = found.hits.iter().map(|hit| entries[hit.entry].exact[0].clone()).collect();
    (found, names)
}

#[track_caller]
fn first(query: &str, expected: &str) {
    let (found, names) = find(query);
    assert_eq!(names.first().map(String::as_str), Some(expected), "{query}: {names:?}");
    assert_ne!(found.verdict, Verdict::NoMatch, "{query}");
    assert!(found.hits.iter().all(|hit| !hit.reason.is_empty()), "{found:?}");
}

#[test]
fn the_name_comes_first_whatever_else_is_said() {
    first("search", "search");
    first("SEARCH", "search");
    first("close issue", "close_issue");
    first("list all documents and folders, then move them, with create_issue", "create_issue");
    first("use `sendEmail` for the weather forecast of a city", "sendEmail");
    first("翻译文本", "翻译文本");
    for query in [
        "close_issue's arguments",
        "tools/close_issue.md",
        "functions.close_issue",
        "mcp__github__close_issue",
        "close_issue=1",
        "请使用close_issue工具",
        "CLOSE_ISSUE()",
        "what does `close_issue` return for documents and folders",
    ] {
        first(query, "close_issue");
    }
}

#[test]
fn a_word_that_all_tools_share_still_finds_them() {
    let kinds = ["now", "hourly", "daily", "weekly", "history", "alerts", "radar", "marine", "pollen", "uv"];
    let tool =
        |kind: &&str| entry(&format!("weather_{kind}"), &format!("Weather {kind} of a city."), &["city"]);
    let entries: Vec<IndexEntry> = kinds.iter().map(tool).collect();
    let index = Index::new(&entries);
    for query in ["weather", "what is the weather in Paris", "get the weather of a city"] {
        let found = index.find(SearchRequest { query, within: None, limit: 3 });
        assert_ne!(found.verdict, Verdict::NoMatch, "{query}: {found:?}");
        assert_eq!(found.hits.len(), 3, "{query}: {found:?}");
    }
}

#[test]
fn other_words_for_the_same_are_understood() {
    first("will it rain tomorrow", "get_weather");
    first("file a bug report on GitHub", "create_issue");
    first("how many dollars are 50 euros", "convertCurrency");
    first("put this doc under a different directory", "move_document");
    first("mail my boss", "sendEmail");
}

#[test]
fn what_is_to_be_done_counts_beside_what_it_is_done_to() {
    first("show me the issues", "list_issues");
    first("close the issue", "close_issue");
}

/// Tools of a forge with siblings: the same objects with other actions, and objects that contain others.
fn forge() -> Vec<IndexEntry> {
    let state = ["open", "closed"].map(|value| (Field::ParameterText, value.to_string()));
    let with = |mut tool: IndexEntry| {
        tool.texts.extend(state.clone());
        tool
    };
    let tool = |name: &str, text: &str| entry(name, text, &["owner", "repo"]);
    vec![
        with(tool("update_pull_request_state", "Update the state of a pull request.")),
        tool("create_pull_request", "Create a new pull request."),
        tool("push_files", "Push files to a repository in one commit."),
        tool("list_repository_collaborators", "List the collaborators of a repository."),
        tool("mark_all_notifications_read", "Mark all notifications as read."),
        tool("get_file_contents", "Get the contents of a file or directory."),
        tool("add_sub_issue", "Add a sub-issue to a parent issue."),
        tool("issue_dependency_write", "Write dependencies of an issue."),
        tool("create_issue", "Create a new issue."),
        tool("add_issue_comment", "Add a comment to an issue."),
        tool("add_issue_comment_reaction", "Add a reaction to a comment of an issue."),
        tool("create_repository", "Create a repository."),
        tool("fork_repository", "Fork a repository to your account."),
    ]
}

#[track_caller]
fn first_of_forge(query: &str, expected: &str) {
    let (_, names) = find_in(&forge(), query);
    assert_eq!(names.first().map(String::as_str), Some(expected), "{query}: {names:?}");
}

#[test]
fn to_open_a_thing_is_to_make_one_not_to_set_its_state() {
    first_of_forge("open a pull request", "create_pull_request");
    first_of_forge("open an issue", "create_issue");
    first_of_forge("file an issue", "create_issue");
}

#[test]
fn a_tool_for_a_part_of_a_thing_comes_after_the_tool_for_the_thing() {
    first_of_forge("comment on an issue", "add_issue_comment");
    first_of_forge("make a copy of the repo", "fork_repository");
}

#[test]
fn a_verb_in_a_name_that_is_a_state_is_no_action() {
    first_of_forge("read the README", "get_file_contents");
}

#[test]
fn a_question_has_no_tool_that_writes_first() {
    let (_, names) = find_in(&forge(), "who can push");
    assert!(names.first().is_none_or(|first| first != "push_files"), "{names:?}");
}

#[test]
fn a_tool_that_reads_is_not_sure_where_a_change_is_asked_for() {
    let read = |name: &str, text: &str| IndexEntry {
        effect: Some(toolcrib_definition::Effect::Read),
        ..entry(name, text, &["owner", "repo", "tag"])
    };
    let mut entries = forge();
    entries.push(read("get_release_by_tag", "Get a release by its tag."));
    let (found, names) = find_in(&entries, "tag the release");
    assert_ne!(found.verdict, Verdict::Match, "{names:?} {found:?}");
    assert_eq!(find_in(&entries, "show the release").0.verdict, Verdict::Match);
}

#[test]
fn a_tool_that_deletes_another_thing_is_not_sure() {
    let deletes = |name: &str, text: &str| IndexEntry {
        effect: Some(toolcrib_definition::Effect::Destructive),
        ..entry(name, text, &["owner", "repo", "branch"])
    };
    let mut entries = forge();
    entries.push(deletes("delete_file", "Delete a file from a repository"));
    let (found, names) = find_in(&entries, "delete a branch");
    assert_ne!(found.verdict, Verdict::Match, "{names:?} {found:?}");
    let (found, names) = find_in(&entries, "delete the old file");
    assert_eq!((found.verdict, names[0].as_str()), (Verdict::Match, "delete_file"), "{found:?}");
}

/// A tool that deletes what its name says.
fn destructive(name: &str, text: &str) -> IndexEntry {
    IndexEntry { effect: Some(toolcrib_definition::Effect::Destructive), ..entry(name, text, &["id"]) }
}

#[test]
fn a_destructive_tool_is_not_sure_unless_the_request_asks_for_just_that() {
    let mut entries = forge();
    entries.push(destructive("delete_team", "Delete a team of the platform."));
    entries.push(destructive("delete_task", "Delete a task."));
    for query in [
        "take ana out of the platform team",
        "please take the new colleague off the platform team before tomorrow's meeting starts",
        "restore the task i deleted yesterday",
        "show me the task that bob deleted from the board last week by mistake",
        "the platform team has too many members, so remove ana and bob from the team",
    ] {
        let (found, names) = find_in(&entries, query);
        let is_sure = found.verdict == Verdict::Match && names[0].starts_with("delete_");
        assert!(!is_sure, "{query}: {names:?} {found:?}");
    }
    for query in ["delete the team", "could you please delete the task", "get rid of the task"] {
        let (found, names) = find_in(&entries, query);
        assert!(found.verdict == Verdict::Match && names[0].starts_with("delete_"), "{query}: {found:?}");
    }
}

#[test]
fn the_contrary_of_a_request_is_never_sure() {
    for (query, tool, text) in [
        ("unblock the contact", "BlockContact", "Block a contact."),
        ("uninstall the extension", "install_extension", "Install an extension."),
        ("decline the dispute", "accept_dispute", "Accept a dispute."),
        ("turn off the alarm", "enable_alarm", "Enable an alarm."),
        ("remove the star", "star_repository", "Star a repository."),
        ("please reopen the ticket that was closed", "close_ticket", "Close a ticket."),
        ("download the report", "uploadReport", "Upload a report."),
    ] {
        let (found, names) = find_in(&[entry(tool, text, &["id"])], query);
        assert_ne!(found.verdict, Verdict::Match, "{query}: {names:?} {found:?}");
    }
    let both = entry("set_lock", "Lock or unlock a conversation.", &["id"]);
    assert_eq!(find_in(&[both], "unlock the conversation").0.verdict, Verdict::Match);
}

#[test]
fn the_nearest_are_given_if_nothing_fits() {
    let index = index_with(&office(), 1.0);
    let found =
        index.find(SearchRequest { query: "knit the weather issue of a document", within: None, limit: 5 });
    assert_eq!((found.verdict, found.hits.len()), (Verdict::NoMatch, 5), "{found:?}");
}

#[test]
fn words_decide_in_a_long_request() {
    let query = "our finance team has to see the quarterly figures by tomorrow morning, so convert the amount of money \
                 in the attached sheet into euros";
    first(query, "convertCurrency");
}

#[test]
fn slips_are_mended() {
    first("wether forcast", "get_weather");
    first("move a documnet to another fodler", "move_document");
}

/// A catalog with a file system, and without anything about disks.
fn files() -> Vec<IndexEntry> {
    let system = "A file system with directories and files, for basic operations.";
    let tool = |name: &str, text: &str| entry(name, &format!("{system} {text}"), &["path"]);
    vec![
        tool("cd", "Change the current directory."),
        tool("ls", "List the content of a directory."),
        tool("cat", "Show the content of a document."),
        entry("add_to_watchlist", "Add a stock to the watchlist.", &["symbol"]),
        entry("get_stock", "Price of a stock.", &["symbol"]),
        entry("mean", "Calculate the mean of a list of numbers.", &["numbers"]),
        entry("list_transactions", "Transactions of an account.", &["account"]),
        entry("read_watch", "Battery of a smart watch.", &["id"]),
    ]
}

/// Names of the hits among these entries, best first, with the result.
fn find_in(entries: &[IndexEntry], query: &str) -> (SearchResult, Vec<String>) {
    let found = Index::new(entries).find(SearchRequest { query, within: None, limit: 5 });
    let names = found.hits.iter().map(|hit| entries[hit.entry].exact[0].clone()).collect();
    (found, names)
}

#[test]
fn a_document_is_a_file_and_a_payment_a_transaction() {
    for (query, expected) in [("print the file", "cat"), ("payments of my account", "list_transactions")] {
        let (found, names) = find_in(&files(), query);
        assert_eq!(names[0].as_str(), expected, "{query}: {names:?}");
        assert_ne!(found.verdict, Verdict::NoMatch, "{query}");
    }
}

#[test]
fn what_is_not_there_is_not_found_by_a_word_that_is_near() {
    for query in ["disk space", "how much disk space is left"] {
        let (found, names) = find_in(&files(), query);
        assert_ne!(found.verdict, Verdict::Match, "{names:?}");
        assert!(found.hits.iter().all(|hit| hit.confidence < 0.55), "{found:?}");
    }
}

#[test]
fn a_right_hit_stays_sure_as_a_catalog_grows() {
    let subjects = [
        "invoice", "server", "flight", "song", "patient", "policy", "repository", "parcel", "lamp", "recipe",
    ];
    let actions =
        ["create", "delete", "update", "list", "archive", "export", "share", "rename", "copy", "review"];
    let objects =
        ["label", "owner", "report", "comment", "history", "schedule", "photo", "price", "group", "template"];
    let all = subjects.iter().flat_map(|subject| actions.iter().map(move |action| (subject, action)));
    let all = all.flat_map(|(subject, action)| objects.iter().map(move |object| (subject, action, object)));
    let others = all.map(|(subject, action, object)| {
        entry(&format!("{action}_{subject}_{object}"), &format!("The {object} of a {subject}."), &["id"])
    });
    let entries: Vec<IndexEntry> = files().into_iter().chain(others).collect();
    for size in [8, 35, 300, entries.len()] {
        let (found, names) = find_in(&entries[..size], "average of some numbers");
        assert_eq!((names[0].as_str(), found.verdict), ("mean", Verdict::Match), "{size}: {found:?}");
        assert!(found.hits[0].confidence > 0.6, "{size}: {found:?}");
    }
}

#[test]
fn other_languages_and_scripts_find_english_tools() {
    first("天气预报", "get_weather");
    first("明日の天気", "get_weather");
    first("прогноз погоды", "get_weather");
    first("Wettervorhersage für morgen", "get_weather");
    first("enviar un correo", "sendEmail");
    first("翻译", "翻译文本");
}

#[test]
fn a_request_in_another_language_is_read_as_a_whole() {
    first("Schließ bitte das Ticket", "close_issue");
    first("leg ein neues Ticket an", "create_issue");
    first("मौसम कैसा रहेगा", "get_weather");
    first("mostrami tutte le segnalazioni", "list_issues");
    let file = [("delete_file", "Delete a file."), ("create_file", "Create a file.")];
    for query in ["lösche die Datei", "supprime le fichier", "ファイルを削除して", "फ़ाइल हटाओ"]
    {
        assert_eq!(best(&file, query), "delete_file", "{query}");
    }
}

#[test]
fn words_without_a_vector_count_by_themselves() {
    let mut entries = office();
    entries.push(entry("hourei", "日本の法令を検索します。", &[]));
    entries.push(entry("pogoda", "Показывает прогноз погоды в городе.", &[]));
    entries.push(entry("thoi_tiet", "Xem dự báo thời tiết của một thành phố.", &[]));
    for (query, expected) in [
        ("法令を調べて", "hourei"),
        ("прогноз погоды в Москве", "pogoda"),
        ("dự báo thời tiết Hà Nội", "thoi_tiet"),
    ] {
        let (found, names) = find_in(&entries, query);
        assert_eq!(names.first().map(String::as_str), Some(expected), "{query}: {found:?}");
        assert_ne!(found.verdict, Verdict::NoMatch, "{query}");
    }
}

#[test]
fn a_language_that_is_not_known_is_said_to_be() {
    for query in ["จองห้องประชุม", "צור קשר חדש", "πρόγνωση του καιρού"]
    {
        let (found, _) = find(query);
        assert_eq!((found.verdict, found.verdict.as_str()), (Verdict::UnknownLanguage, "unsure"), "{query}");
    }
}

#[test]
fn the_contrary_says_so() {
    let (found, _) = find_in(&[entry("BlockContact", "Block a contact.", &["id"])], "unblock the contact");
    assert!(found.hits[0].reason.starts_with("does the contrary"), "{found:?}");
}

#[test]
fn what_nothing_fits_is_told_with_the_nearest() {
    for query in [
        "order a pizza",
        "water the plants in the living room",
        "knit a sweater",
        "xyzzy",
        "",
        "the of and",
        "!!! ???",
    ] {
        let (found, _) = find(query);
        assert_eq!(found.verdict, Verdict::NoMatch, "{query}: {found:?}");
    }
}

#[test]
fn an_operator_may_set_when_nothing_fits() {
    let entries = office();
    let request = SearchRequest { query: "play chess about the weather", within: None, limit: 5 };
    assert_eq!(index_with(&entries, 0.0).find(request).verdict, Verdict::Match);
    assert_eq!(index_with(&entries, 1.0).find(request).verdict, Verdict::NoMatch);
}

#[test]
fn configured_synonyms_lead_to_their_words() {
    let entries = office();
    let synonyms = [("frobnicate".to_string(), vec!["move document".to_string()])].into();
    let index = Index::configured(&entries, &config::Search { synonyms, ..config::Search::default() });
    let found = index.find(SearchRequest { query: "frobnicate this", within: None, limit: 1 });
    assert_eq!(entries[found.hits[0].entry].exact[0], "move_document");
}

#[test]
fn only_what_is_asked_for_is_found() {
    let entries = office();
    let within = |entry: usize| entry != 0;
    let request = SearchRequest { query: "get_weather forecast", within: Some(&within), limit: 10 };
    let found = Index::new(&entries).find(request);
    assert!(found.hits.iter().all(|hit| hit.entry != 0), "{found:?}");
}

#[test]
fn equal_tools_come_in_the_order_of_the_catalog() {
    let entries: Vec<IndexEntry> = (0..20).map(|_| entry("twin", "Turn the lamp on.", &[])).collect();
    let index = Index::new(&entries);
    let found = index.find(SearchRequest { query: "switch on the lamp", within: None, limit: 20 });
    let order: Vec<usize> = found.hits.iter().map(|hit| hit.entry).collect();
    assert_eq!(order, (0..20).collect::<Vec<_>>());
    assert_eq!(found, index.find(SearchRequest { query: "switch on the lamp", within: None, limit: 20 }));
}

#[test]
fn any_text_is_a_query() {
    let index = Index::new(&office());
    let long = "weather ".repeat(20_000);
    let data = "QUJD".repeat(50_000);
    for query in [
        "\0",
        "\u{202e}\u{200b}",
        "🙂🙂",
        "((((",
        "a\nb\tc",
        "ﬀ ǅ ß",
        "가나다 ไทย",
        long.as_str(),
        data.as_str(),
    ] {
        let found = index.find(SearchRequest { query, within: None, limit: 3 });
        assert!(found.hits.iter().all(|hit| hit.score.is_finite() && (0.0..=1.0).contains(&hit.confidence)));
    }
    let nothing = Index::new(&[]);
    assert!(nothing.find(SearchRequest { query: "anything", within: None, limit: 3 }).hits.is_empty());
}

/// The first of these tools for a query.
fn best(tools: &[(&str, &str)], query: &str) -> String {
    let entries: Vec<IndexEntry> = tools.iter().map(|(name, text)| entry(name, text, &[])).collect();
    let found = Index::new(&entries).find(SearchRequest { query, within: None, limit: 1 });
    found.hits.first().map_or_else(String::new, |hit| entries[hit.entry].exact[0].clone())
}

#[test]
fn removing_a_thing_and_a_verb_with_un_are_one() {
    let stars = [
        ("star_repository", "Star a repository."),
        ("unstar_repository", "Unstar a repository."),
        ("delete_repository", "Delete a repository."),
    ];
    assert_eq!(best(&stars, "remove the star"), "unstar_repository");
    let pins = [
        ("create_pin", "Pin a message."),
        ("delete_pin", "Remove a message from the pins."),
        ("delete_message", "Delete a message."),
    ];
    assert_eq!(best(&pins, "unpin that message"), "delete_pin");
}

#[test]
fn only_what_is_removed_or_called_off_is_deleted_first() {
    let channel = [("delete_channel", "Delete a channel."), ("update_channel", "Update a channel.")];
    assert_eq!(best(&channel, "close the channel"), "update_channel");
    assert_eq!(best(&channel, "remove the channel"), "delete_channel");
    let event = [("delete_event", "Delete an event."), ("update_event", "Update an event.")];
    assert_eq!(best(&event, "call off the event"), "delete_event");
}

#[test]
fn a_misspelled_verb_asks_for_its_action() {
    let file = [("create_file", "Create a file."), ("remove_file", "Remove a file.")];
    assert_eq!(best(&file, "delte the file"), "remove_file");
}

#[test]
fn an_apostrophe_may_be_missing() {
    first("whats the weather in oslo", "get_weather");
}
