//! A patch of `toolcrib.toml`: settings are changed in place, so that comments and order stay.

use toml_edit::{Array, Decor, DocumentMut, Item, RawString, Table, TableLike, TomlError, Value, value};

use crate::simulate::Patch;

/// Longest list on one line, in characters.
const LINE: usize = 100;

/// The text of a configuration with the settings of a patch.
pub(super) fn patched(text: &str, patch: &Patch) -> Result<String, TomlError> {
    let mut document: DocumentMut = text.parse()?;
    let root = document.as_table_mut();
    if let Some(table) = table(root, patch.table, false) {
        set(table, "surface", patch.surface.as_str().into());
    }
    if let Some(name) = &patch.profile
        && let Some(profile) = table(root, "profile", true).and_then(|profiles| table(profiles, name, false))
    {
        if patch.is_deferred {
            set(profile, "description_mode", "deferred".into());
        }
        for (key, names) in [("full", &patch.full), ("deferred", &patch.deferred)] {
            match names.is_empty() {
                true => drop(profile.remove(key)),
                false => set_list(profile, key, names),
            }
        }
    }
    Ok(document.to_string())
}

/// A table by its name, made where there is none. An implicit one has no header of its own.
fn table<'t>(parent: &'t mut dyn TableLike, name: &str, is_implicit: bool) -> Option<&'t mut dyn TableLike> {
    let mut fresh = Table::new();
    fresh.set_implicit(is_implicit);
    parent.entry(name).or_insert(Item::Table(fresh)).as_table_like_mut()
}

/// Sets a value; the comments around an old one stay.
fn set(table: &mut dyn TableLike, key: &str, mut new: Value) {
    match table.get_mut(key) {
        Some(old) => {
            let decor = old.as_value().map(|old| old.decor().clone());
            *new.decor_mut() = decor.unwrap_or_default();
            *old = value(new);
        }
        None => drop(table.insert(key, value(new))),
    }
}

/// An item of a list, with the lines above it and the comment behind it.
struct Entry {
    above: String,
    name: Value,
    behind: String,
}

/// Sets a list: items that stay keep their places and comments, and others follow.
fn set_list(table: &mut dyn TableLike, key: &str, names: &[String]) {
    let old = table.get(key).and_then(Item::as_array).cloned().unwrap_or_default();
    let (bracket, mut entries, mut end) = entries(&old);
    let is_on_lines = old.to_string().contains('\n');
    let has_name = |entry: &Entry, name: &String| entry.name.as_str() == Some(name);
    entries.retain(|entry| names.iter().any(|name| has_name(entry, name)));
    let is_long = is_on_lines || names.iter().map(|name| name.len() + 4).sum::<usize>() > LINE;
    let above = if is_long { "\n  " } else { " " };
    if is_long && !is_on_lines {
        entries.iter_mut().for_each(|entry| entry.above = above.into());
    }
    for name in names {
        if !entries.iter().any(|entry| has_name(entry, name)) {
            entries.push(Entry { above: above.into(), name: name.into(), behind: String::new() });
        }
    }
    let (mut list, mut before) = (Array::new(), bracket);
    for Entry { above, mut name, behind } in entries {
        let above = if list.is_empty() && !is_long { "" } else { &above };
        *name.decor_mut() = Decor::new(before + above, "");
        list.push_formatted(name);
        before = behind;
    }
    if is_long && !end.contains('\n') {
        end = "\n".into();
    }
    list.set_trailing_comma(is_long);
    list.set_trailing(before + &end);
    set(table, key, Value::Array(list));
}

/// The text behind the bracket, the items, and the text before the last bracket. A comment belongs to the item on its
/// line.
fn entries(list: &Array) -> (String, Vec<Entry>, String) {
    let (mut bracket, mut entries) = (String::new(), Vec::<Entry>::new());
    let text = |raw: Option<&RawString>| raw.and_then(RawString::as_str).unwrap_or_default().to_string();
    for name in list {
        let before = text(name.decor().prefix());
        let (line, above) = before.split_at(before.find('\n').unwrap_or_default());
        entries.last_mut().map_or(&mut bracket, |last| &mut last.behind).push_str(line);
        let behind = text(name.decor().suffix()).lines().next().unwrap_or_default().to_string();
        entries.push(Entry { above: above.into(), name: name.clone(), behind });
    }
    let end = list.trailing().as_str().unwrap_or_default();
    let (line, end) = end.split_at(end.find('\n').unwrap_or_default());
    entries.last_mut().map_or(&mut bracket, |last| &mut last.behind).push_str(line);
    (bracket, entries, end.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(old: &str, names: &[&str], expect: &str) {
        let mut document: DocumentMut = format!("# Above.\nfull = {old} # behind\n").parse().unwrap();
        let names: Vec<String> = names.iter().map(ToString::to_string).collect();
        set_list(document.as_table_mut(), "full", &names);
        let expect = format!("# Above.\nfull = {expect} # behind\n");
        assert_eq!(document.to_string(), expect);
        assert!(expect.parse::<DocumentMut>().is_ok());
    }

    #[test]
    fn comments_of_a_list_stay_with_their_items() {
        check("[]", &["a"], r#"["a"]"#);
        check(r#"["a", "b"]"#, &["b", "c"], r#"["b", "c"]"#);
        check(r#""a""#, &["b"], r#"["b"]"#);
        let long = "x".repeat(60);
        check(
            r#"["a"]"#,
            &["a", &long, "b", &long[1..]],
            &format!("[\n  \"a\",\n  \"{long}\",\n  \"b\",\n  \"{}\",\n]", &long[1..]),
        );
        check(
            "[ # chosen\n  \"a\", # of a\n  # above b\n  \"b\", # of b\n]",
            &["b", "c"],
            "[ # chosen\n  # above b\n  \"b\", # of b\n  \"c\",\n]",
        );
        check("[\n  \"a\", # of a\n  \"b\" # of b\n]", &["a", "c"], "[\n  \"a\", # of a\n  \"c\",\n]");
        check("[\n  \"a\" # of a\n]", &["a", "c"], "[\n  \"a\", # of a\n  \"c\",\n]");
    }
}
