//! Names: the words of an identifier, slugs, and the safe names that files and providers use.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use unicode_normalization::UnicodeNormalization;

/// Longest safe name; the portable limit of the providers (docs/reference/formats.md).
const MAX_SAFE_NAME: usize = 64;

/// Longest name in a client's list: Claude Code puts `mcp__toolcrib__` before it, and takes 64 letters in all.
const MAX_LISTED_NAME: usize = 49;

/// The name under which MCP clients list a tool, whose names are ASCII: a longer one keeps the words behind its server, and gets a hash
/// of the whole name.
pub fn listed_name(name: &str) -> Cow<'_, str> {
    if name.len() <= MAX_LISTED_NAME {
        return name.into();
    }
    let own = name.rsplit("__").next().unwrap_or(name);
    let stem =
        own.get(..own.len().min(MAX_LISTED_NAME - 9)).unwrap_or_default().trim_matches(['_', '-', '.']);
    format!("{stem}_{}", &blake3::hash(name.as_bytes()).to_hex()[..8]).into()
}

/// Safe names of a catalog: `^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$`, unique even where case is ignored, and
/// reversible. They name both the doc file and the tool that a provider sees, so that a model that is
/// bound `math_factorial` finds `tools/math_factorial.md`.
///
/// A name that is safe already stays as it is. Where others differ from it only in case, the one in lower case stays, and
/// the others end with `_capital` or `_capitals`. Any other name is mapped, and gets a hash of the whole name when the
/// mapping loses letters or another tool has the result. So the safe name of a tool does not depend on its position in the
/// catalog. The names given must be unique; the result has their order.
pub fn safe_names<S: AsRef<str>>(names: &[S]) -> Vec<String> {
    let mut safe: Vec<Option<String>> = vec![None; names.len()];
    let mut taken: HashSet<String> = HashSet::new();
    // Names that are safe as they are come first, then names that lose nothing; all names that collide get a
    // hash.
    for is_exact in [true, false] {
        let wanted = |index: usize| {
            let name = names[index].as_ref();
            let candidate = match sanitise(name) {
                None => is_exact.then(|| name.to_string()),
                Some((text, lost)) => (!is_exact && !lost).then_some(text),
            };
            candidate.filter(|candidate| !is_reserved(candidate))
        };
        let mut claims: HashMap<String, Vec<(usize, String)>> = HashMap::new();
        for (index, candidate) in (0..names.len()).filter_map(|index| Some((index, wanted(index)?))) {
            claims.entry(candidate.to_ascii_lowercase()).or_default().push((index, candidate));
        }
        let mut twins = Vec::new();
        for (folded, mut claim) in claims {
            if !taken.insert(folded) {
                continue;
            }
            if claim.len() > 1 {
                twins.extend(is_exact.then_some(claim));
            } else if let Some((index, candidate)) = claim.pop() {
                safe[index] = Some(candidate);
            }
        }
        twins.sort_unstable();
        for (index, name) in twins.into_iter().flat_map(told_apart_by_case) {
            if name.len() <= MAX_SAFE_NAME
                && (name == names[index].as_ref() || taken.insert(name.to_ascii_lowercase()))
            {
                safe[index] = Some(name);
            }
        }
    }
    for (slot, name) in safe.iter_mut().zip(names) {
        let mut salt = 0u32;
        while slot.is_none() {
            let name = hashed_name(name.as_ref(), salt);
            *slot = taken.insert(name.to_ascii_lowercase()).then_some(name);
            salt += 1;
        }
    }
    safe.into_iter().flatten().collect()
}

/// The names for those that differ only in case: the one in lower case as it is, and one with a capital, and one with
/// several. Where two have as many capitals, neither gets a name.
fn told_apart_by_case(claim: Vec<(usize, String)>) -> Vec<(usize, String)> {
    let capitals = |name: &str| name.chars().filter(char::is_ascii_uppercase).take(2).count();
    let endings = ["", "_capital", "_capitals"];
    let with = |count: usize| {
        let alike: Vec<_> = claim.iter().filter(|(_, name)| capitals(name) == count).collect();
        let [(index, name)] = alike[..] else { return None };
        Some((*index, format!("{name}{}", endings[count])))
    };
    (0..endings.len()).filter_map(with).collect()
}

/// `None` when the name is safe as it is; else its safe form and whether letters were lost.
fn sanitise(name: &str) -> Option<(String, bool)> {
    let is_safe = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let starts_well = |name: &str| name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    if name.len() <= MAX_SAFE_NAME && name.chars().all(is_safe) && starts_well(name) {
        return None;
    }
    let mut text = String::with_capacity(name.len());
    let mut lost = false;
    for c in name.chars() {
        if is_safe(c) {
            text.push(c);
        } else {
            lost |= !(c == ' ' || c.is_ascii_punctuation());
            if !text.ends_with('_') {
                text.push('_');
            }
        }
    }
    let mut text = text.trim_matches('_').to_string();
    if !starts_well(&text) {
        text.insert(0, '_');
    }
    lost |= text.len() > MAX_SAFE_NAME || text == "_";
    Some((text, lost))
}

/// A safe name that ends in a hash of the whole name.
pub fn hashed_name(name: &str, salt: u32) -> String {
    let stem = sanitise(name).map_or_else(|| name.to_string(), |(text, _)| text);
    let stem = stem.trim_matches('_');
    let hash = blake3::hash(format!("{name}\0{salt}").as_bytes()).to_hex();
    let stem = &stem[..stem.len().min(MAX_SAFE_NAME - 10)];
    let separator = if stem.is_empty() { "tool" } else { stem };
    let start = if separator.starts_with(|c: char| c.is_ascii_alphabetic()) { "" } else { "_" };
    format!("{start}{separator}_{}", &hash[..8])
}

/// Whether a folder of docs or an operating system reserves a name.
pub fn is_reserved(name: &str) -> bool {
    const RESERVED: [&str; 8] = ["readme", "con", "prn", "aux", "nul", "categories", "schemas", "registry"];
    let lower = name.to_ascii_lowercase();
    let device = |prefix: &str| lower.strip_prefix(prefix).is_some_and(|n| n.len() == 1 && n != "0");
    RESERVED.contains(&lower.as_str()) || device("com") || device("lpt")
}

/// The words of an identifier: split at separators and at changes from lower to upper case.
pub fn words(identifier: &str) -> Vec<String> {
    each_word(identifier).collect()
}

/// The same words, made one at a time: long texts are often read at their beginning only.
pub fn each_word(mut rest: &str) -> impl Iterator<Item = String> + use<'_> {
    std::iter::from_fn(move || {
        let text = &rest[rest.find(char::is_alphanumeric)?..];
        let mut chars = text.char_indices();
        let (_, mut before) = chars.next()?;
        let is_end = |(at, c): &(usize, char)| {
            let is_hump = c.is_uppercase()
                && (before.is_lowercase()
                    || before.is_numeric()
                    || (before.is_uppercase() && text[at + c.len_utf8()..].starts_with(char::is_lowercase)));
            before = *c;
            is_hump || !c.is_alphanumeric()
        };
        let (word, after) = text.split_at(chars.find(is_end).map_or(text.len(), |(at, _)| at));
        rest = after;
        Some(if word.is_ascii() {
            word.to_ascii_lowercase()
        } else {
            word.chars().flat_map(char::to_lowercase).collect()
        })
    })
}

/// Lower-case words joined by `_`: a segment of an op, a file stem, a heading id. Keeps letters of any script.
pub fn slug(text: &str) -> String {
    if text.is_ascii() {
        return words(text).join("_");
    }
    words(&text.nfc().collect::<String>()).join("_")
}

/// Whether a name matches a glob; `*` is any run of characters.
pub fn matches_glob(glob: &str, name: &str) -> bool {
    let Some((first, rest)) = glob.split_once('*') else { return glob == name };
    let Some(mut name) = name.strip_prefix(first) else { return false };
    let mut parts = rest.split('*').peekable();
    while let Some(part) = parts.next() {
        match (parts.peek(), name.find(part)) {
            (None, _) => return name.ends_with(part),
            (Some(_), Some(at)) => name = &name[at + part.len()..],
            (Some(_), None) => return false,
        }
    }
    name.is_empty()
}

/// Whether two names differ in letter case and separators alone, as `onto_task_list` and `onto.task.list` do.
pub fn is_respelled(given: &str, known: &str) -> bool {
    let letter = |byte: u8| match byte {
        b'.' | b'-' | b' ' | b'/' | b'_' => b'_',
        letter => letter.to_ascii_lowercase(),
    };
    given.len() == known.len()
        && given.bytes().zip(known.bytes()).all(|(one, other)| letter(one) == letter(other))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_safe_name_stays_and_an_exact_name_wins() {
        assert_eq!(safe_names(&["read_file", "math.factorial"]), ["read_file", "math_factorial"]);
        let both = safe_names(&["math.factorial", "math_factorial"]);
        assert_eq!(both[1], "math_factorial");
        assert!(both[0].starts_with("math_factorial_") && both[0] != both[1]);
    }

    #[test]
    fn names_that_a_folder_cannot_hold_get_a_hash() {
        let names =
            safe_names(&["README", "con", "Foo", "foo", "长亭 IP 情报查询", "!pg", "../etc/passwd", ""]);
        assert!(names[0].starts_with("README_") && names[1].starts_with("con_"));
        assert!(names[4].starts_with("IP_"));
        assert!(names[7].starts_with("tool_"));
    }

    #[test]
    fn a_hash_comes_only_where_nothing_else_tells_names_apart() {
        let names =
            ["Foo", "foo", "GET_BMI", "get_BMI", "!pg", "../etc/passwd", "files_id#add_link", "a+b", "a-b"];
        let safe = safe_names(&names);
        assert_eq!(safe[..2], ["Foo_capital", "foo"]);
        assert!(
            safe[2].starts_with("GET_BMI_")
                && safe[3].starts_with("get_BMI_")
                && safe[2][8..] != safe[3][8..]
        );
        assert_eq!(safe[4..7], ["pg", "etc_passwd", "files_id_add_link"]);
        assert_eq!(safe[7..], ["a_b", "a-b"]);
        let other: Vec<&str> = names.iter().rev().copied().collect();
        assert_eq!(safe_names(&other).into_iter().rev().collect::<Vec<_>>(), safe);
        assert_eq!(safe_names(&["Foo", "foo", "foo_capital"])[1..], ["foo", "foo_capital"]);
    }

    #[test]
    fn a_listed_name_fits_with_the_clients_prefix() {
        assert_eq!(listed_name("github__list_issues"), "github__list_issues");
        let long = "customer_internal_greenhouse__list_reserved_watering_slots_of_linked_greenhouses";
        let listed = [long, &long[9..]].map(listed_name);
        assert!(
            listed.iter().all(|name| name.len() <= 49 && name.starts_with("list_reserved_watering_slots"))
        );
        assert_ne!(listed[0], listed[1]);
    }

    #[test]
    fn words_split_at_separators_and_humps() {
        assert_eq!(words("getHTTPStatus_code2x-List"), ["get", "http", "status", "code2x", "list"]);
        assert_eq!(slug("Issues & Labels"), "issues_labels");
        assert_eq!(slug("长亭 IP"), "长亭_ip");
    }

    proptest! {
        #[test]
        fn safe_names_are_portable_unique_and_reversible(names in proptest::collection::hash_set("\\PC{0,80}", 0..40)) {
            let names: Vec<String> = names.into_iter().collect();
            let all = safe_names(&names);
            prop_assert_eq!(all.len(), names.len());
            let pattern = regex::Regex::new("^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$").unwrap();
            let mut seen = HashSet::new();
            for safe in all {
                prop_assert!(pattern.is_match(&safe), "{safe}");
                prop_assert!(seen.insert(safe.to_ascii_lowercase()));
            }
        }
    }
}
