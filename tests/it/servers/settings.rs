//! Settings of a source: the address of its API, its category, and the prefix of its names.

use std::io::{Read, Write};
use std::net::TcpListener;

use serde_json::{Value, json};

use super::Home;
use crate::fixture::text;

/// An API with one operation.
fn api() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut request = [0; 4096];
            let length = stream.read(&mut request).unwrap_or_default();
            let is_pets = String::from_utf8_lossy(&request[..length]).contains("GET /v1/pets ");
            let (status, body) = if is_pets { ("200 OK", r#"["Rex"]"#) } else { ("404 Not Found", "{}") };
            let head = format!(
                "HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
                body.len()
            );
            let _ = stream.write_all((head + body).as_bytes());
        }
    });
    url
}

/// The address that a document names counts where the operator says so, and the server of the source is that of its tools.
#[test]
fn an_api_is_called_where_its_document_says_if_the_operator_says_so() {
    let home = Home::new();
    let url = api();
    let document = json!({"openapi": "3.1.0", "info": {"title": "Pets", "version": "1"}, "servers": [{"url": format!("{url}/{{version}}"), "variables": {"version": {"default": "v1"}}}],
        "paths": {"/pets": {"get": {"operationId": "listPets", "summary": "List all pets.", "responses": {"200": {"description": "Pets."}}}}}});
    home.write("api.json", &document.to_string());
    let source = "[[source]]\npath = 'api.json'\nserver = 'zoo'\n";
    let call = |config: &str| {
        home.write("toolcrib.toml", config);
        let run = home.run(&[
            "call",
            "tool_exec",
            r#"{"op": "listPets", "args": {}}"#,
            text(&home.at("toolcrib.toml")),
        ]);
        serde_json::from_str::<Value>(&run.stdout).unwrap()
    };
    let refused = call(source);
    assert!(refused["error"]["next_action"].as_str().unwrap().contains("[server.zoo]"), "{refused}");
    let answer = call(&format!("{source}base_url_from = 'document'\n"));
    assert_eq!(answer["result"], json!(["Rex"]), "{answer}");
    let configured = call(&format!("{source}base_url_from = 'document'\n[server.zoo]\nurl = '{url}/v2'\n"));
    assert_eq!(configured["ok"], false, "the operator's own address wins: {configured}");
    // Where the configuration was only found, nothing is called.
    home.write("toolcrib.toml", &format!("{source}base_url_from = 'document'\n"));
    let found = home.started(&["call", "tool_exec", r#"{"op": "listPets", "args": {}}"#]);
    assert!(found.stdout.contains("NO_BACKEND"), "{}", found.stdout);
}

/// Another server of an operation is called, or needs settings of its own: nothing is sent to the server of the document.
#[test]
fn an_operation_with_a_server_of_its_own_is_called_there_and_nowhere_else() {
    let home = Home::new();
    let (usual, own) = (api(), api());
    let document = json!({"openapi": "3.1.0", "info": {"title": "Pets", "version": "1"}, "servers": [{"url": format!("{usual}/none")}],
        "paths": {"/pets": {"servers": [{"url": format!("{own}/v1")}], "get": {"operationId": "listPets", "responses": {"200": {"description": "Pets."}}}}}});
    home.write("api.json", &document.to_string());
    let call = |config: &str| {
        home.write("toolcrib.toml", &format!("[[source]]\npath = 'api.json'\nserver = 'zoo'\n{config}"));
        let run = home.run(&[
            "call",
            "tool_exec",
            r#"{"op": "listPets", "args": {}}"#,
            text(&home.at("toolcrib.toml")),
        ]);
        serde_json::from_str::<Value>(&run.stdout).unwrap()
    };
    let answer = call("base_url_from = 'document'\n");
    assert_eq!(answer["result"], json!(["Rex"]), "{answer}");
    let refused = call(&format!("[server.zoo]\nurl = '{usual}/v1'\n"));
    let add = format!("[server.\"{own}/v1\"]");
    assert!(refused["error"]["next_action"].as_str().unwrap().contains(&add), "{refused}");
    let configured = call(&format!("{add}\nurl = '{own}/v1'\n"));
    assert_eq!(configured["result"], json!(["Rex"]), "{configured}");
}

#[test]
fn tools_of_a_server_are_in_the_category_of_its_title_unless_said() {
    let home = Home::new();
    for (category, expected) in [("", "A shelf"), ("category = 'Own'\n", "Own")] {
        home.write(
            "toolcrib.toml",
            &format!("[[source]]\nserver = 'shelf'\n{category}mcp = {{ command = ['sh', 'SHELF'] }}\n"),
        );
        let listed = home.done(&["call", "list", "{}", text(&home.at("toolcrib.toml"))]);
        assert!(listed.contains(&format!("\"{expected}\"")), "{expected}: {listed}");
    }
}

/// A name that is too long for a provider ends in a hash of the whole, which is the same each time.
#[test]
fn long_names_of_servers_and_tools_have_stable_hashes() {
    let home = Home::new();
    let server = "a-server-with-a-name-that-is-quite-a-bit-longer-than-the-names-of-most-servers";
    home.write(
        "toolcrib.toml",
        &format!("[[source]]\nserver = '{server}'\nprefix = true\nmcp = {{ command = ['sh', 'SHELF'] }}\n"),
    );
    let names = || {
        let payload = home.done(&[
            "payload",
            "--provider",
            "openai",
            "--mode",
            "full",
            text(&home.at("toolcrib.toml")),
        ]);
        let payload: Value = serde_json::from_str(&payload).unwrap();
        let name = |tool: &Value| tool["function"]["name"].as_str().unwrap().to_string();
        payload["tools"].as_array().unwrap().iter().map(name).collect::<Vec<_>>()
    };
    let first = names();
    assert_eq!(first.len(), 2, "{first:?}");
    assert!(first.iter().all(|name| name.len() <= 64 && name.starts_with("a_server_with")), "{first:?}");
    assert!(first[0] != first[1] && first == names(), "{first:?}");
}
