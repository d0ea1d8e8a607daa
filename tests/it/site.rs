//! Web pages: what is on them, that they hang together, and that nothing in a definition acts on them.

mod html;
mod payloads;
mod search;
mod tree;

use std::collections::BTreeSet;
use std::sync::LazyLock;

use toolcrib::catalog::Checked;
use toolcrib::render::Templates;
use toolcrib::site::{Site, SiteIndex};

use crate::fixture::{self, Tree, run, text, tree};
use html::Document;

static TEMPLATES: LazyLock<Templates> = LazyLock::new(|| Templates::from(toolcrib::BUILT_IN));

/// Most tool pages of a catalog that are read.
const MAX_TOOLS: usize = 30;

/// Most bytes of a page.
const MAX_PAGE: usize = 200_000;

/// Runs a test on the site of a catalog.
fn with_site<T>(checked: &Checked, ask: impl FnOnce(&Site<'_>) -> T) -> T {
    let index = SiteIndex::new(&checked.catalog, &checked.catalog.profile(None).unwrap());
    ask(&Site::new(&index, &checked.catalog, &checked.findings, &TEMPLATES))
}

fn body(site: &Site<'_>, path: &str) -> String {
    site.page(path).unwrap_or_else(|| panic!("there is no {path}")).unwrap().body
}

/// Every page of a catalog is well-formed, says what it is, and links only to what there is.
#[track_caller]
fn hangs_together(checked: &Checked) {
    with_site(checked, |site| {
        let paths = site.paths();
        let mut known: BTreeSet<String> = paths.iter().cloned().collect();
        known.extend(["tools/README.md", "registry.json", "llms.txt"].map(String::from));
        known.extend(checked.catalog.tools.iter().map(|tool| format!("tools/{}.md", tool.names.safe)));
        // Tool pages are alike: of many, some.
        let tools = checked.catalog.tools.len().div_ceil(MAX_TOOLS);
        let mut seen = 0;
        let mut is_read = |path: &str| {
            let is_tool = path.starts_with("tools/");
            seen += usize::from(is_tool);
            !is_tool || seen % tools == 0
        };
        let pages: Vec<&String> =
            paths.iter().filter(|path| path.ends_with(".html") && is_read(path.as_str())).collect();
        for path in pages {
            let page = site.page(path).unwrap().unwrap();
            assert_eq!(page.content_type, "text/html; charset=utf-8");
            let document = Document::parse(&page.body).unwrap_or_else(|problem| panic!("{path}: {problem}"));
            document.is_inert().unwrap_or_else(|problem| panic!("{path}: {problem}"));
            assert_eq!(document.count("h1"), 1, "{path}");
            assert_eq!(document.count("main"), 1, "{path}");
            for link in document.links() {
                let Some(target) = html::resolve(path, &link) else { continue };
                assert!(known.contains(&target), "{path} links to {target}");
            }
            for anchor in document.anchors() {
                assert!(document.has_id(&anchor), "{path} links to #{anchor}");
            }
        }
    });
}

#[test]
fn pages_of_the_examples_hang_together() {
    for example in ["github", "buildos", "universal-agent"] {
        hangs_together(&fixture::open(&fixture::package().join("examples").join(example)));
    }
}

#[test]
fn pages_of_real_catalogs_hang_together() {
    for name in ["docker-registry-tools.json", "notion-openapi.json"] {
        hangs_together(fixture::catalog(name).1);
    }
}

#[test]
#[ignore = "slow"]
fn pages_of_tools_that_mean_harm_hang_together() {
    hangs_together(&fixture::open(&fixture::package().join("tests/golden/hostile/tools.json")));
    hangs_together(&fixture::open_text("a.json", r#"{"tools":[]}"#));
    let long = "x".repeat(10_000);
    let names = [
        "<script>alert(1)</script>",
        "\" onmouseover=\"alert(1)",
        "{{ 7 * 7 }}{% raw %}",
        "\u{202e}evil\u{200b}",
        "\u{200b}",
        "👩‍👩‍👧‍👦",
        "قراءة",
        "a/b/../../c",
        "index",
        &long,
    ];
    let tools: Vec<_> = names
        .iter()
        .map(|name| {
            serde_json::json!({
                "name": name, "description": format!("{name}\n\n# {name}\n\n<img src=x onerror=alert(1)>\n[a](javascript:{name})"),
                "category": [name, format!("A/{name}"), "A/b/c/d/e/f/g/h/i/j/k"], "title": name, "tags": [name], "aliases": [format!("{name} too")],
                "notes": [name], "returns": name, "deprecated": true, "replaced_by": name,
                "policy": { "do": [name], "dont": [name], "edge_cases": [name] },
                "parameters": { "type": "object", "required": [name], "properties": { *name: {
                    "type": "string", "description": name, "default": name, "pattern": name, "enum": [name, name] } } },
                "examples": [{ "title": name, "arguments": { *name: name }, "result": name }, { "title": name, "arguments": { *name: name } }],
            })
        })
        .collect();
    hangs_together(&fixture::open_text("a.json", &serde_json::to_string(&tools).unwrap()));
}

#[test]
fn a_tool_page_has_all_that_is_known_of_a_tool() {
    let checked = fixture::open_text("a.yaml", include_str!("site/tool.yaml"));
    with_site(&checked, |site| {
        let page = body(site, "tools/create_document.html");
        let document = Document::parse(&page).unwrap();
        let said = document.text_of().to_string();
        for expected in [
            "create_document",
            "Create a document",
            "Use it for new text.",
            "write",
            "A person approves each call.",
            "documents.create_document",
            "1 to 120 characters",
            "required",
            "\"markdown\"",
            "The id of the document.",
            "Names are unique.",
            "Ask for a title first.",
            "Never overwrite.",
            "Empty text is allowed.",
            "new_document",
            "Amazon Bedrock converse",
            "a.yaml#/0",
            &checked.catalog.version,
        ] {
            assert!(said.contains(expected), "{expected}\n{said}");
        }
        // Nested rows say what they are fields of.
        assert!(page.contains(r#"class="d1"#) && page.contains(r#"class="d2"#), "{page}");
        assert!(said.contains("options: path"), "{said}");
        assert_eq!(page.matches("<li data-key=\"").count(), 1, "the schema: {page}");
        assert_eq!(page.matches("<option value=\"").count(), 11, "each payload: {page}");
        assert!(document.links().contains(&"../payloads/create_document.json".to_string()));
        let gone = body(site, "tools/delete_document.html");
        assert!(
            gone.contains("deprecated")
                && gone.contains(r#"<a href="create_document.html">create_document</a>"#)
        );
        let bare = Document::parse(&body(site, "tools/no_schema.html")).unwrap().text_of().to_string();
        assert!(bare.contains("not callable") && bare.contains("Not given by the source."), "{bare}");
    });
}

#[test]
fn payloads_are_counted_as_the_token_report_counts_them() {
    let checked = fixture::open(&fixture::package().join("examples/github"));
    let options = toolcrib::report::Options {
        profile: None,
        mode: None,
        payload: checked.catalog.config.payload,
        budget: None,
    };
    let report = toolcrib::report::report(&checked.catalog, &TEMPLATES, options).unwrap();
    with_site(&checked, |site| {
        for tool in report.tools.iter().step_by(40) {
            let page = body(site, &format!("tools/{}.html", tool.safe_name));
            let tokens = grouped(tool.full);
            let shown = format!("OpenAI chat completions · {tokens} tokens");
            assert!(page.contains(&shown), "{}: {shown}", tool.name);
        }
        let overview = body(site, "profiles.html");
        let triage =
            report.profiles.iter().find(|profile| profile.profile.as_deref() == Some("triage")).unwrap();
        let bound = triage.modes[1].tokens.as_ref().unwrap().bound;
        assert!(overview.contains(&grouped(bound)), "{bound}");
    });
}

fn grouped(number: usize) -> String {
    if number < 1000 { number.to_string() } else { format!("{},{:03}", number / 1000, number % 1000) }
}

#[test]
fn paths_that_do_not_exist_lead_back() {
    let checked = fixture::open(&fixture::package().join("examples/github"));
    with_site(&checked, |site| {
        for wrong in [
            "nope", "tools/nope.html", "tools/get_me", "../etc/passwd", "tools/../index.html",
            "categories/.html", "assets/", "profiles/",
        ] {
            assert!(site.page(wrong).is_none(), "{wrong}");
        }
        assert_eq!(site.page("").unwrap().unwrap(), site.page("index.html").unwrap().unwrap());
        let page = site.not_found("/tools/get_mee.html", "there is no such tool", &[]).unwrap().body;
        let document = Document::parse(&page).unwrap();
        assert!(document.links().contains(&"../tools/get_me.html".to_string()), "{page}");
        assert!(document.links().contains(&"../index.html".to_string()));
        assert!(
            site.not_found("/a/b/<script>", "there is no <script>", &[])
                .unwrap()
                .body
                .contains("href=\"../../index.html\"")
        );
    });
}

#[test]
fn a_server_can_say_that_it_shows_the_last_good_catalog() {
    let checked = fixture::open(&fixture::package().join("examples/github"));
    with_site(&checked, |site| {
        let broken = site.with_notice(Some("The catalog on disk is <broken>."));
        for path in ["index.html", "tools/get_me.html", "categories/Issues.html"] {
            let page = body(&broken, path);
            assert!(page.contains("The catalog on disk is") && page.contains("&lt;broken&gt;"), "{page}");
            assert!(!body(site, path).contains("class=\"notice\""));
        }
    });
}

#[test]
fn findings_are_listed_with_what_to_do() {
    let checked = fixture::open_text("a.yaml", include_str!("site/tool.yaml"));
    with_site(&checked, |site| {
        let page = Document::parse(&body(site, "findings.html")).unwrap();
        let said = page.text_of().to_string();
        assert!(said.contains("schema-missing") && said.contains("no parameters are given"), "{said}");
        assert!(page.links().contains(&"tools/no_schema.html".to_string()));
        assert!(said.contains("a.yaml:"), "{said}");
    });
    let clean = r#"[{"name":"get_thing","description":"Get a thing by its number.","short_description":"Get a thing","category":"Things","effect":"read",
        "op":"things.get","examples":[{"arguments":{"number":1}}],
        "parameters":{"type":"object","properties":{"number":{"type":"integer","description":"Which one."}},"required":["number"]}}]"#;
    let checked = fixture::open_text("a.json", clean);
    assert!(checked.findings.is_empty(), "{:?}", checked.findings);
    with_site(&checked, |site| assert!(body(site, "findings.html").contains("No problems are shown here")));
}

#[test]
fn a_site_is_written_once_and_then_current() {
    let out = tempfile::tempdir().unwrap();
    let site = out.path().join("site");
    let arguments = ["render", "examples/github", "--out", text(&site), "--site"];
    let check: Vec<&str> = arguments.iter().copied().chain(["--check"]).collect();
    assert_eq!(run(&check).code, 1);
    assert_eq!(run(&arguments).code, 0);
    let first = tree(&site);
    assert_eq!(run(&check).code, 0);
    let again = out.path().join("again");
    assert_eq!(run(&["render", "examples/github", "--out", text(&again), "--site"]).code, 0);
    fixture::assert_same_tree(&tree(&again), &first);
    is_complete(&first);

    std::fs::write(site.join("index.html"), "mine").unwrap();
    std::fs::remove_file(site.join("assets/site.css")).unwrap();
    let drift = run(&check);
    assert!(drift.code == 1 && drift.stderr.contains("1 to create, 1 to change"), "{}", drift.stderr);
    assert_eq!(run(&arguments).code, 0);
    fixture::assert_same_tree(&tree(&site), &first);

    let docs = ["render", "examples/github", "--out", text(&site)];
    assert_eq!(run(&docs).code, 0);
    assert!(
        !site.join("index.html").exists() && site.join("get_me.md").exists(),
        "pages go when they are not wanted"
    );
}

/// The tree of a server, as files, and nothing in it of the machine.
fn is_complete(tree: &Tree) {
    for path in [
        "index.html", "404.html", "search.html", "search-index.js", "findings.html", "profiles.html",
        "profiles/core.html", "categories/Issues.html", "tools/get_me.html", "tools/get_me.md",
        "payloads/get_me.json", "tools/README.md", "tools/registry.json", "registry.json", "llms.txt",
        "assets/site.css", "assets/site.js", "assets/icon.svg",
    ] {
        assert!(tree.contains_key(path), "{path}");
    }
    for (path, content) in tree.iter().filter(|(path, _)| path.ends_with(".html")) {
        let page = String::from_utf8_lossy(content);
        assert!(!page.contains(text(fixture::package())), "{path} names a folder of this machine");
    }
}

#[test]
fn pages_of_lost_tools_stay_while_a_source_is_broken() {
    let files = [
        ("a.json", r#"[{"name":"a","description":"A thing.","parameters":{}}]"#),
        ("b.json", r#"[{"name":"b","description":"B thing.","parameters":{}}]"#),
    ];
    let catalog = fixture::folder(&files);
    let out = tempfile::tempdir().unwrap();
    let render = || run(&["render", text(catalog.path()), "--out", text(out.path()), "--site"]);
    assert_eq!(render().code, 0);
    let before = tree(out.path());
    assert!(before.contains_key("tools/b.html"));
    fixture::write(catalog.path(), "b.json", "[{");
    assert_eq!(render().code, 1);
    let after = tree(out.path());
    for path in ["index.html", "search-index.js", "llms.txt", "tools/README.md", "tools/b.html", "tools/b.md"]
    {
        assert!(after.get(path) == before.get(path), "{path}");
    }
}

#[test]
fn a_profile_has_a_site_of_its_own_tools() {
    let out = tempfile::tempdir().unwrap();
    let arguments = ["render", "examples/github", "--profile", "triage", "--out", text(out.path()), "--site"];
    assert_eq!(run(&arguments).code, 0);
    let files = tree(out.path());
    assert!(files.contains_key("tools/issue_read.html") && !files.contains_key("tools/create_gist.html"));
    assert!(files.contains_key("profiles/triage.html") && !files.contains_key("profiles/core.html"));
    assert!(!String::from_utf8_lossy(&files["search-index.js"]).contains("create_gist"));
}

#[test]
fn templates_and_assets_of_pages_can_be_replaced() {
    let own = "{% extends \"site/base.html\" %}{% block main %}<h1>Ours: {{ title }}</h1>{% endblock %}";
    let folder = fixture::folder(&[
        ("tools.json", r#"[{"name":"a","description":"A.","category":"<C>"}]"#),
        ("templates/site/category.html", own),
        ("templates/assets/site.css", "body { color: red }"),
    ]);
    let [catalog, templates, out] = ["tools.json", "templates", "out"].map(|name| folder.path().join(name));
    let arguments =
        ["render", text(&catalog), "--templates", text(&templates), "--out", text(&out), "--site"];
    let ran = run(&arguments);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let files = tree(&out);
    assert_eq!(files["assets/site.css"], b"body { color: red }");
    let category = files.iter().find(|(path, _)| path.starts_with("categories/")).unwrap().1;
    assert!(String::from_utf8_lossy(category).contains("<h1>Ours: &lt;C&gt;</h1>"));

    fixture::write(&templates, "site/categry.html", own);
    let ran = run(&arguments);
    assert!(ran.code == 1 && ran.stderr.contains("did you mean site/category.html?"), "{}", ran.stderr);
}
