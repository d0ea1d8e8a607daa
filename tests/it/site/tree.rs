//! The tree of categories on pages: the same as in the index, nested, with the same lines, each once.

use super::*;

const STORAGE: &str = r#"[
    {"name":"put_object","category":"Storage/Buckets","description":"A."},
    {"name":"disk_usage","category":["Storage","Other/Deep/Er"],"description":"B."},
    {"name":"list_objects","category":"Storage/Buckets","description":"C."}]"#;

fn links_to(page: &Document, target: &str) -> usize {
    page.links().iter().filter(|link| *link == target).count()
}

#[test]
fn categories_nest() {
    with_site(&fixture::open_text("a.json", STORAGE), |site| {
        let home = body(site, "index.html");
        let below = home.split_once(">Storage</a>").unwrap().1.split_once("</ul>").unwrap().0;
        assert!(below.contains("<ul>") && below.contains("categories/Storage_Buckets.html"), "{home}");
        let storage = body(site, "categories/Storage.html");
        assert!(storage.contains(r#"href="../categories/Storage_Buckets.html""#), "{storage}");
        let buckets = Document::parse(&body(site, "categories/Storage_Buckets.html")).unwrap();
        assert!(buckets.links().contains(&"../tools/put_object.html".to_string()));
        assert!(!buckets.links().contains(&"../tools/disk_usage.html".to_string()));
    });
}

#[test]
fn a_long_category_is_split_into_pages() {
    let tools: Vec<_> = (0..450)
        .map(|index| serde_json::json!({ "name": format!("tool_{index:03}"), "description": "Do it.", "category": "Many" }))
        .collect();
    let checked = fixture::open_text("a.json", &serde_json::to_string(&tools).unwrap());
    with_site(&checked, |site| {
        let paths = site.paths().into_iter();
        let parts: Vec<String> = paths.filter(|path| path.starts_with("categories/")).collect();
        assert_eq!(parts, ["categories/Many.html", "categories/Many.2.html", "categories/Many.3.html"]);
        assert!(body(site, "categories/Many.html").contains("tool_199"));
        assert!(body(site, "categories/Many.3.html").contains("../tools/tool_449.html"));
        for wrong in ["Many.1", "Many.0", "Many.4", "Many.02", "Many.x", "many"] {
            assert!(site.page(&format!("categories/{wrong}.html")).is_none(), "{wrong}");
        }
        let sizes = site.paths().into_iter().filter(|path| path.ends_with(".html"));
        let most = sizes.map(|path| body(site, &path).len()).max().unwrap();
        assert!(most < MAX_PAGE, "no page grows with the catalog: {most}");
    });
}

#[test]
fn lines_of_categories_are_those_of_the_index() {
    let tool = |index: usize| serde_json::json!({ "name": format!("list_books_{index}"), "category": "Library", "description": "L." });
    let tools = serde_json::Value::from_iter((0..20).map(tool)).to_string();
    let folder = fixture::folder(&[("tools.json", &tools), ("toolcrib.toml", "[render]\nindex_tools = 1\n")]);
    let checked = fixture::open(folder.path());
    let profile = checked.catalog.profile(None).unwrap();
    let index = toolcrib::render::Docs::new(&checked.catalog, profile, &TEMPLATES).index().unwrap();
    assert!(index.contains("- **[Library](categories/library.md)** - 20 tools: List books\n"), "{index}");
    with_site(&checked, |site| {
        let home = Document::parse(&body(site, "index.html")).unwrap().text_of().to_string();
        assert!(home.contains("Library 20 tools list books."), "{home}");
    });
}

#[test]
fn authors_words_about_a_category_are_on_its_line_and_on_its_page() {
    let config = "[[category]]\npath = \"Storage/Buckets\"\nsummary = \"Files <of> others\"\n";
    let folder = fixture::folder(&[("tools.json", STORAGE), ("toolcrib.toml", config)]);
    with_site(&fixture::open(folder.path()), |site| {
        for page in ["index.html", "categories/Storage.html", "categories/Storage_Buckets.html"] {
            let said = Document::parse(&body(site, page)).unwrap().text_of().to_string();
            assert_eq!(said.matches("Files <of> others").count(), 1, "{page}: {said}");
        }
    });
}

#[test]
fn a_page_lists_each_category_and_each_tool_once() {
    let checked = fixture::open_text("a.json", STORAGE);
    with_site(&checked, |site| {
        let page = |path: &str| Document::parse(&body(site, path)).unwrap();
        assert_eq!(links_to(&page("index.html"), "categories/Storage_Buckets.html"), 1);
        assert_eq!(links_to(&page("categories/Storage.html"), "../categories/Storage_Buckets.html"), 1);
        assert_eq!(links_to(&page("categories/Storage.html"), "../tools/disk_usage.html"), 1);
        assert_eq!(links_to(&page("tools/put_object.html"), "list_objects.html"), 0);
        assert_eq!(links_to(&page("tools/put_object.html"), "../tools/list_objects.html"), 1);
    });
}

#[test]
fn hundreds_of_categories_are_split_into_pages() {
    let tool = |index: usize| serde_json::json!({ "name": format!("do_{index}"), "category": format!("Area {index:03}"), "description": "D." });
    let tools: Vec<_> = (0..450).map(tool).collect();
    let checked = fixture::open_text("a.json", &serde_json::to_string(&tools).unwrap());
    with_site(&checked, |site| {
        let first = body(site, "index.html");
        assert!(first.contains("categories/Area_199.html") && !first.contains("categories/Area_200.html"));
        assert!(body(site, "index.3.html").contains("categories/Area_449.html"));
        assert!(site.page("index.4.html").is_none() && site.page("index.1.html").is_none());
    });
    hangs_together(&checked);
}

#[test]
fn names_in_the_navigation_break_between_their_words() {
    let tools = r#"[{"name":"repos.get_commitStatus","category":"kube-ctl","description":"A."}]"#;
    with_site(&fixture::open_text("a.json", tools), |site| {
        let path = site.paths().into_iter().find(|path| path.starts_with("tools/")).unwrap();
        let page = body(site, &path);
        assert!(page.contains(">repos.<wbr>get_<wbr>commit<wbr>Status</a>"), "{page}");
        assert!(page.contains(">kube-<wbr>ctl</span>"), "{page}");
    });
}

#[test]
fn the_title_is_that_of_the_configuration_then_of_the_document() {
    let document = r#"{"openapi":"3.0.0","info":{"title":"Pet <Shop>","version":"1"},"paths":{"/pets":{"get":{"operationId":"listPets","responses":{}}}}}"#;
    let title = |files: &[(&str, &str)]| {
        let folder = fixture::folder(files);
        with_site(&fixture::open(folder.path()), |site| {
            let home = body(site, "index.html");
            home.split_once("<title>").unwrap().1.split_once("</title>").unwrap().0.to_string()
        })
    };
    assert_eq!(title(&[("a.json", document)]), "Pet &lt;Shop&gt;");
    assert_eq!(title(&[("a.json", document), ("toolcrib.toml", "title = \"Ours\"\n")]), "Ours");
    let two = [("a.json", document), ("b.json", r#"[{"name":"b","description":"B.","parameters":{}}]"#)];
    assert_eq!(title(&two), "Tools", "several sources have no common name");
}
