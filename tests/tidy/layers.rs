//! The layers of ARCHITECTURE.md.

use std::collections::BTreeSet;
use std::fs;

use super::imports::{Import, imports};
use super::{relative, root, sources};

/// The layers of ARCHITECTURE.md. A module imports from lower numbers only, never sideways.
const LAYERS: [(&str, u8); 28] = [
    ("embedded", 0),
    ("guard", 0),
    ("private_file", 0),
    ("tool", 0),
    ("finding", 0),
    ("tokens", 0),
    ("config", 1),
    ("schema", 1),
    ("secret", 2),
    ("model", 2),
    ("credentials", 3),
    ("sources", 4),
    ("catalog", 5),
    ("arguments", 6),
    ("render", 6),
    ("search", 6),
    ("help", 6),
    ("state", 6),
    ("provider", 7),
    ("watch", 7),
    ("tool_error", 7),
    ("report", 8),
    ("exec", 8),
    ("api", 9),
    ("site", 9),
    ("functions", 9),
    ("serve", 10),
    ("cli", 11),
];

fn all_imports() -> Vec<Import> {
    let sources: Vec<(String, String)> =
        sources().into_iter().map(|(path, text)| (relative(&path), text)).collect();
    imports(&sources)
}

fn stage_of(file: &str) -> &str {
    let below = file.strip_prefix("src/").unwrap_or(file);
    below.split('/').next().unwrap_or(below).trim_end_matches(".rs")
}

#[test]
fn modules_import_only_from_lower_layers() {
    let layer = |module: &str| LAYERS.iter().find(|(name, _)| *name == module).map(|(_, layer)| *layer);
    let mut seen = BTreeSet::new();
    let mut wrong = Vec::new();
    for import in all_imports() {
        let own = stage_of(&import.from);
        let (Some(from), Some(to)) = (layer(own), layer(&import.stage)) else { continue };
        seen.insert(own.to_string());
        if own != import.stage && to >= from {
            wrong.push(format!("{} imports {}", import.from, import.to));
        }
    }
    assert!(seen.len() > 15, "imports of only {seen:?} were read");
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn imports_are_read_in_every_form() {
    let source = |path: &str, text: &str| (path.to_string(), text.to_string());
    let sources = [
        source("src/lib.rs", "pub mod low; pub mod high;"),
        source("src/low/mod.rs", "mod deep; pub use deep::{Deep as Renamed, other}; pub struct Here;"),
        source("src/low/deep.rs", "use super::Here; pub struct Deep; pub fn other() {}"),
        source(
            "src/high.rs",
            "use crate::{low::{self, Renamed}, /* crate::no */};\n\
             fn f() { let text = \"crate::no::such\"; crate::low::other(); }\n\
             #[cfg(test)]\nmod tests { use crate::low::deep::Deep; }",
        ),
    ];
    let found: Vec<(String, String)> =
        imports(&sources).into_iter().map(|import| (import.from, import.to)).collect();
    let import = |from: &str, to: &str| (from.to_string(), to.to_string());
    let expected = [
        import("src/high.rs", "src/low/deep.rs"),
        import("src/high.rs", "src/low/mod.rs"),
        import("src/low/deep.rs", "src/low/mod.rs"),
        import("src/low/mod.rs", "src/low/deep.rs"),
    ];
    assert_eq!(found, expected);
}

#[test]
fn every_stage_has_a_layer() {
    for entry in fs::read_dir(root().join("src")).unwrap().map(Result::unwrap) {
        let name = entry.file_name().to_string_lossy().trim_end_matches(".rs").to_string();
        let is_stage = LAYERS.iter().any(|(stage, _)| *stage == name);
        assert!(
            is_stage || name == "lib" || name == "main",
            "src/{name} has no layer in tests/tidy/layers.rs"
        );
    }
    for (stage, _) in LAYERS {
        let path = root().join("src").join(stage);
        assert!(path.is_dir() || path.with_extension("rs").is_file(), "there is no stage {stage}");
    }
}

#[test]
fn the_table_of_layers_is_right() {
    let text = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let section = text.split("\n## Layers\n").nth(1).and_then(|rest| rest.split("\n## ").next()).unwrap();
    let mut told = BTreeSet::new();
    for row in section.lines().filter(|line| line.starts_with("| ")) {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        let Ok(layer) = cells[1].parse::<u8>() else { continue };
        told.extend(cells[2].split('`').skip(1).step_by(2).map(|stage| (stage, layer)));
    }
    assert_eq!(told, LAYERS.into_iter().collect());
}
