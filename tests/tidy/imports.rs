//! Imports between files: every path in `src` that leads to another file, through lists in braces, `super` and what a module passes on.

use std::collections::{BTreeMap, BTreeSet};

/// A module by its names, without `crate`.
pub type Module = Vec<String>;

/// A source file, read for the paths that it names.
struct File {
    path: String,
    module: Module,
    names: Vec<Module>,
    /// Absolute paths that it imports, by the names that they have here.
    imported: BTreeMap<String, Module>,
}

/// An import of one file by another.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Import {
    /// The file that imports, such as `src/render/doc.rs`.
    pub from: String,
    /// The file in which the name is.
    pub to: String,
    /// The stage that the path names.
    pub stage: String,
}

/// All imports between files of `src`; of code for tests there are none.
pub fn imports(sources: &[(String, String)]) -> Vec<Import> {
    let modules: BTreeMap<Module, String> =
        sources.iter().filter_map(|(path, _)| Some((module_of(path)?, path.clone()))).collect();
    let files: Vec<File> = sources.iter().filter_map(|(path, text)| read(path, text, &modules)).collect();
    let by_module: BTreeMap<&Module, &File> = files.iter().map(|file| (&file.module, file)).collect();
    let mut imports = BTreeSet::new();
    for file in &files {
        for path in &file.names {
            let Some(to) = place_of(path, &by_module, 0) else { continue };
            let (Some(stage), true) = (path.first(), to.path != file.path) else { continue };
            imports.insert(Import { from: file.path.clone(), to: to.path.clone(), stage: stage.clone() });
        }
    }
    imports.into_iter().collect()
}

/// The module that a file is; none for the program.
fn module_of(path: &str) -> Option<Module> {
    let path = path.strip_prefix("src/")?.strip_suffix(".rs")?;
    let path = path.strip_suffix("/mod").unwrap_or(path);
    match path {
        "main" => None,
        "lib" => Some(Module::new()),
        path => Some(path.split('/').map(String::from).collect()),
    }
}

/// The file in which the end of a path is, also where a module passes it on.
fn place_of<'f>(path: &[String], files: &BTreeMap<&Module, &'f File>, depth: u8) -> Option<&'f File> {
    let length = (0..=path.len()).rev().find(|&length| files.contains_key(&path[..length].to_vec()))?;
    let file = files[&path[..length].to_vec()];
    let passed_on = path.get(length).and_then(|name| file.imported.get(name));
    match passed_on {
        Some(target) if depth < 8 => {
            let whole = [target.as_slice(), path.get(length + 1..).unwrap_or_default()].concat();
            place_of(&whole, files, depth + 1).or(Some(file))
        }
        _ => Some(file),
    }
}

fn read(path: &str, text: &str, modules: &BTreeMap<Module, String>) -> Option<File> {
    let module = module_of(path)?;
    if module.last().is_some_and(|name| name.ends_with("tests")) {
        return None;
    }
    let tokens = without_tests(tokens(text));
    let mut file = File { path: path.into(), module, names: Vec::new(), imported: BTreeMap::new() };
    let mut place = 0;
    while let Some(token) = tokens.get(place) {
        let follows_path = place > 0 && tokens[place - 1] == "::";
        if token == "use" {
            let end = place + tokens[place..].iter().position(|token| token == ";")?;
            for (path, name) in branches(&tokens[place + 1..end]) {
                let Some(path) = absolute(&path, &file.module, modules) else { continue };
                file.names.push(path.clone());
                file.imported.insert(name, path);
            }
            place = end;
        } else if !follows_path && tokens.get(place + 1).is_some_and(|next| next == "::") {
            let mut path = vec![token.clone()];
            while tokens.get(place + 1).is_some_and(|next| next == "::")
                && tokens.get(place + 2).is_some_and(|name| is_name(name))
            {
                path.push(tokens[place + 2].clone());
                place += 2;
            }
            file.names.extend(absolute(&path, &file.module, modules));
        }
        place += 1;
    }
    Some(file)
}

/// A path from the root; none where it leads out of the crate or to a local name.
fn absolute(path: &[String], module: &Module, modules: &BTreeMap<Module, String>) -> Option<Module> {
    let mut base = match path.first()?.as_str() {
        "crate" => Module::new(),
        "super" | "self" => module.clone(),
        first => {
            let child = [module.as_slice(), &[first.to_string()]].concat();
            return modules.contains_key(&child).then(|| [module.as_slice(), path].concat());
        }
    };
    let supers = path.iter().take_while(|name| *name == "super").count();
    base.truncate(base.len().checked_sub(supers)?);
    let rest = path.iter().skip_while(|name| matches!(name.as_str(), "crate" | "super" | "self"));
    base.extend(rest.cloned());
    Some(base)
}

/// The paths of a `use`, each with the name that it has afterwards.
fn branches(tokens: &[String]) -> Vec<(Module, String)> {
    let mut found = Vec::new();
    let mut prefixes: Vec<usize> = Vec::new();
    let mut path = Module::new();
    let mut alias = None;
    let mut is_alias = false;
    let mut end = |path: &mut Module, alias: &mut Option<String>, keep: usize| {
        if path.len() > keep {
            let mut whole = path.clone();
            if whole.len() > 1 && whole.last().is_some_and(|name| name == "self" || name == "*") {
                whole.pop();
            }
            let name = alias.take().or_else(|| path.last().cloned()).unwrap_or_default();
            let name = if name == "self" { whole.last().cloned().unwrap_or_default() } else { name };
            found.push((whole, name));
        }
        path.truncate(keep);
    };
    for token in tokens {
        match token.as_str() {
            "::" => {}
            "{" => prefixes.push(path.len()),
            "," => end(&mut path, &mut alias, prefixes.last().copied().unwrap_or_default()),
            "}" => {
                end(&mut path, &mut alias, prefixes.pop().unwrap_or_default());
                path.truncate(prefixes.last().copied().unwrap_or_default());
            }
            "as" => is_alias = true,
            name if is_alias => {
                alias = Some(name.to_string());
                is_alias = false;
            }
            name => path.push(name.to_string()),
        }
    }
    end(&mut path, &mut alias, 0);
    found
}

fn is_name(token: &str) -> bool {
    token.starts_with(|first: char| first.is_alphabetic() || first == '_')
}

/// The tokens without items for tests.
fn without_tests(tokens: Vec<String>) -> Vec<String> {
    let mut kept = Vec::with_capacity(tokens.len());
    let mut place = 0;
    while place < tokens.len() {
        let is_attribute = tokens[place] == "#" && tokens.get(place + 1).is_some_and(|next| next == "[");
        if !is_attribute {
            kept.push(tokens[place].clone());
            place += 1;
            continue;
        }
        let end = end_of(&tokens, place + 1);
        let attribute = &tokens[place..end];
        let is_for_tests = attribute.contains(&"cfg".to_string()) && attribute.contains(&"test".to_string());
        place = end;
        if is_for_tests {
            while place < tokens.len() && !matches!(tokens[place].as_str(), ";" | "{") {
                place = if matches!(tokens[place].as_str(), "(" | "[") {
                    end_of(&tokens, place)
                } else {
                    place + 1
                };
            }
            place = if tokens.get(place).is_some_and(|token| token == "{") {
                end_of(&tokens, place)
            } else {
                place + 1
            };
        }
    }
    kept
}

/// The place after the bracket that closes the one here.
fn end_of(tokens: &[String], start: usize) -> usize {
    let mut depth = 0_usize;
    for (place, token) in tokens.iter().enumerate().skip(start) {
        match token.as_str() {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return place + 1;
        }
    }
    tokens.len()
}

/// Names and punctuation, without comments and texts.
fn tokens(text: &str) -> Vec<String> {
    let chars: Vec<char> = text.chars().collect();
    let mut tokens = Vec::new();
    let mut place = 0;
    let at = |place: usize| chars.get(place).copied().unwrap_or('\0');
    while place < chars.len() {
        let (this, next) = (at(place), at(place + 1));
        if this == '/' && next == '/' {
            while place < chars.len() && at(place) != '\n' {
                place += 1;
            }
        } else if this == '/' && next == '*' {
            while place < chars.len() && !(at(place) == '*' && at(place + 1) == '/') {
                place += 1;
            }
            place += 2;
        } else if this == '"' {
            place += 1;
            while place < chars.len() && at(place) != '"' {
                place += if at(place) == '\\' { 2 } else { 1 };
            }
            place += 1;
        } else if this == 'r' && (next == '"' || (next == '#' && matches!(at(place + 2), '"' | '#'))) {
            let hashes = (place + 1..).take_while(|&place| at(place) == '#').count();
            let end: String = std::iter::once('"').chain(std::iter::repeat_n('#', hashes)).collect();
            place += hashes + 2;
            let closes =
                |place: usize| end.chars().enumerate().all(|(offset, quote)| at(place + offset) == quote);
            while place < chars.len() && !closes(place) {
                place += 1;
            }
            place += hashes + 1;
        } else if this == '\'' && (next == '\\' || at(place + 2) == '\'') {
            place += 2;
            while place < chars.len() && at(place) != '\'' {
                place += 1;
            }
            place += 1;
        } else if this.is_alphanumeric() || this == '_' {
            let start = place;
            while at(place).is_alphanumeric() || at(place) == '_' {
                place += 1;
            }
            tokens.push(chars[start..place].iter().collect());
        } else if this == ':' && next == ':' {
            tokens.push("::".into());
            place += 2;
        } else {
            if !this.is_whitespace() {
                tokens.push(this.to_string());
            }
            place += 1;
        }
    }
    tokens
}
