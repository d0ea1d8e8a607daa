//! Catalogs to measure on, made of the tools of `examples/github`.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

/// Catalogs of 100, 1,000 and 10,000 tools of about 1 kB, each tool made of two of the GitHub ones.
pub fn catalogs(folder: &Path) -> Vec<PathBuf> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/github/tools.json");
    let pool: Vec<Value> = serde_json::from_slice(&fs::read(source).expect("the example")).expect("JSON");
    [100, 1_000, 10_000]
        .into_iter()
        .map(|count| {
            let tools: Vec<Value> = (0..count).map(|index| combined(&pool, index)).collect();
            let file = folder.join(format!("tools-{count}.json"));
            fs::write(&file, json!({ "tools": tools }).to_string()).expect("a file");
            file
        })
        .collect()
}

fn combined(pool: &[Value], index: usize) -> Value {
    let (a, b) = (&pool[index % pool.len()], &pool[(index * 7 + index / pool.len() + 1) % pool.len()]);
    let text = |tool: &Value, key: &str| tool[key].as_str().unwrap_or_default().to_string();
    let mut properties = a["inputSchema"]["properties"].as_object().cloned().unwrap_or_default();
    properties.extend(
        b["inputSchema"]["properties"]
            .as_object()
            .into_iter()
            .flatten()
            .take(2)
            .map(|(k, v)| (k.clone(), v.clone())),
    );
    json!({
        "name": format!("{}_{index}", text(a, "name")),
        "description": format!("{} Case {index}.\n{}", text(a, "description"), text(b, "description")),
        "inputSchema": { "type": "object", "properties": properties, "required": a["inputSchema"]["required"] },
    })
}
