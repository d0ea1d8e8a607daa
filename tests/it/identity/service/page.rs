//! The section of docs/identity.md about tokens for servers, as its reader runs it.

use super::*;

#[test]
fn the_page_about_tokens_for_servers_runs() {
    let page = std::fs::read_to_string(fixture::package().join("docs/identity.md")).unwrap();
    let section = page.split("\n## Tokens for servers\n").nth(1).unwrap().split("\n## ").next().unwrap();
    let block = section.split("```toml\n").nth(1).unwrap().split("```").next().unwrap();
    let issuer = issuer();
    issuer.register("toolcrib", SECRET, &[]);
    let reports = ProtectedApi::start(&issuer);
    let wiki = Protected::start(&issuer, false);
    let mut config = block.to_string();
    for (written, ours) in [
        ("https://reports.example.com/api", &*reports.url),
        ("https://wiki.example.com/mcp", &*wiki.url),
        ("https://login.example.com", issuer.url()),
    ] {
        assert!(config.contains(written), "{written}");
        config = config.replace(written, ours);
    }
    let tools: Value = serde_json::from_str(&TOOLS.replace("\"api\"", "\"reports\"")).unwrap();
    let tools = json!([tools[0]]).to_string();
    let dump = |tool: &str| DUMP.replace("\"whoami\"", &format!("\"{tool}\""));
    config.push_str(&format!(
        "[[source]]\npath = \"tools.json\"\n[[source]]\npath = \"wiki.json\"\nserver = \"wiki\"\n\
         [exec.trust_hints]\nwiki = \"always\"\n[[serve.issuer]]\nissuer = \"{}\"\naudience = [\"https://tools.example\", \"{}\"]\n",
        issuer.url(),
        wiki.url
    ));
    let folder =
        fixture::folder(&[("tools.json", &tools), ("wiki.json", &dump("admin")), ("toolcrib.toml", &config)]);
    let variables = [("TOOLCRIB_SECRET", SECRET)];
    let server = Server::start(fixture::text(folder.path()), &["--log-level", "trace"], &variables);
    for person in ["amy", "bob"] {
        let token = token_of(&issuer, person, "https://tools.example");
        assert_eq!(call(&server, "who", &token)["result"]["sub"], "toolcrib");
        assert!(issuer.received("/token").iter().any(|form| form.contains("scope=reports%3Aread")));
        let of_wiki = scoped_token_of(&issuer, person, &wiki.url, "tools:read tools:admin");
        assert_eq!(call(&server, "admin", &of_wiki)["result"], format!("admin for {person}"));
        assert_nowhere(&server, &[SECRET, &token, &of_wiki]);
    }
}
