//! Files of a crate import downwards: what two siblings share lies below both, and a parent is not what its parts import.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use regex::Regex;
use walkdir::WalkDir;

use super::root;

/// Files that still import each other in circles, by folder. A number may only fall, and a folder without a number has no such file.
const LEFT: [(&str, usize); 5] = [
    ("crates/catalog/src", 23),
    ("crates/definition/src", 6),
    ("crates/front/src", 17),
    ("crates/search/src", 5),
    ("crates/server/src", 23),
];

/// The path of a module below its crate.
type Module = Vec<String>;

#[test]
fn files_import_downwards() {
    let crates = fs::read_dir(root().join("crates")).unwrap().map(|entry| entry.unwrap().file_name());
    let folders = crates.map(|name| format!("crates/{}/src", name.to_string_lossy()));
    let mut wrong = Vec::new();
    for folder in folders.chain(["src".into()]) {
        let modules = modules(&folder);
        let imports: BTreeMap<&Module, BTreeSet<&Module>> =
            modules.iter().map(|(module, text)| (module, imports(module, text, &modules))).collect();
        let circular: Vec<String> = modules
            .keys()
            .filter(|module| reached(module, &imports).contains(module))
            .map(|module| module.join("::"))
            .collect();
        let left = LEFT.iter().find(|(name, _)| *name == folder).map_or(0, |(_, left)| *left);
        if circular.len() != left {
            wrong.push(format!("{folder}: {} files, not {left}: {}", circular.len(), circular.join(", ")));
        }
    }
    assert!(wrong.is_empty(), "files import each other in circles: {wrong:#?}");
}

/// The files of a crate without their tests, by module.
fn modules(folder: &str) -> BTreeMap<Module, String> {
    let test_module = Regex::new(r"(?m)^#\[cfg\(test\)\]\nmod \w+ \{").unwrap();
    let mut modules = BTreeMap::new();
    for entry in WalkDir::new(root().join(folder)).into_iter().map(Result::unwrap) {
        let path = entry.path().strip_prefix(root().join(folder)).unwrap().with_extension("");
        let mut module: Module = path.iter().map(|part| part.to_string_lossy().into_owned()).collect();
        let is_test = module.iter().any(|part| part == "tests" || part.ends_with("_tests"));
        if entry.path().extension().is_none_or(|extension| extension != "rs") || is_test || module == ["main"]
        {
            continue;
        }
        module.pop_if(|last| *last == "mod" || *last == "lib");
        let text = fs::read_to_string(entry.path()).unwrap();
        let end = test_module.find(&text).map_or(text.len(), |found| found.start());
        modules.insert(module, text[..end].to_string());
    }
    modules
}

/// The modules that a file imports from. What a file only re-exports of its parts is no import.
fn imports<'m>(module: &Module, text: &str, modules: &'m BTreeMap<Module, String>) -> BTreeSet<&'m Module> {
    let comment = Regex::new(r"//.*").unwrap();
    let text = comment.replace_all(text, "");
    let used = Regex::new(r"(?m)^\s*use ([^;]+);").unwrap();
    let reexported = Regex::new(r"(?m)^\s*pub(?:\([a-z: ]+\))? use ((?:crate|super)[^;]+);").unwrap();
    let inline = Regex::new(r"\b((?:crate|super)(?:::\w+)+)").unwrap();
    let found = [used, reexported, inline];
    let trees = found.iter().flat_map(|form| form.captures_iter(&text).map(|found| found[1].to_string()));
    let named = trees.flat_map(|tree| leaves(&tree)).map(|path| target(module, &path, modules));
    named.flatten().filter(|target| *target != module).collect()
}

/// The paths of an import: `a::{b, c::{d}}` has `a::b` and `a::c::d`.
fn leaves(tree: &str) -> Vec<String> {
    let Some((head, inside)) = tree.trim().split_once('{') else { return vec![tree.trim().to_string()] };
    let inside = inside.rsplit_once('}').map_or(inside, |(inside, _)| inside);
    let mut depth = 0;
    let is_border = |c: char| {
        depth += i32::from(c == '{') - i32::from(c == '}');
        c == ',' && depth == 0
    };
    inside.split(is_border).flat_map(leaves).map(|leaf| format!("{head}{leaf}")).collect()
}

/// The file in which a path ends, if it is of this crate.
fn target<'m>(module: &Module, path: &str, modules: &'m BTreeMap<Module, String>) -> Option<&'m Module> {
    let mut at = module.clone();
    let mut is_inside = false;
    for part in path.split("::").map(|part| part.split(" as ").next().unwrap_or(part).trim()) {
        match part {
            "crate" => at.clear(),
            "super" => drop(at.pop()),
            "self" => {}
            name => {
                at.push(name.to_string());
                if !modules.contains_key(&at) {
                    at.pop();
                    return modules.get_key_value(&at).filter(|_| is_inside).map(|(at, _)| at);
                }
            }
        }
        is_inside = true;
    }
    modules.get_key_value(&at).map(|(at, _)| at)
}

/// All modules that a module reaches by imports.
fn reached<'m>(from: &Module, imports: &BTreeMap<&'m Module, BTreeSet<&'m Module>>) -> BTreeSet<&'m Module> {
    let mut reached = BTreeSet::new();
    let mut next: Vec<&Module> = imports[from].iter().copied().collect();
    while let Some(module) = next.pop() {
        if reached.insert(module) {
            next.extend(&imports[module]);
        }
    }
    reached
}
