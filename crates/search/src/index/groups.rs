//! Servers and categories that a query names: entries of these groups are probably meant.

use hashbrown::HashMap;

use super::{Index, IndexEntry};

/// Words of a server's name that do not name a product.
const NOT_A_PRODUCT: [&str; 6] = ["mcp", "server", "api", "openapi", "official", "remote"];
/// Words before the name of a server or a category.
const BEFORE_GROUP: [&str; 8] = ["on", "in", "at", "from", "via", "with", "using", "to"];
/// Most words of such a name.
const MAX_GROUP: usize = 3;

/// The groups of an entry, by the letters and digits of their names.
pub(super) fn groups_of(entry: &IndexEntry, names: &mut HashMap<String, u32>) -> Vec<u32> {
    let mut all = Vec::new();
    for name in entry.server.iter().chain(&entry.categories) {
        let words = name.split(|c: char| !c.is_alphanumeric()).map(str::to_lowercase);
        let key: String = words.filter(|word| !NOT_A_PRODUCT.contains(&word.as_str())).collect();
        if key.len() > 1 {
            let next = names.len() as u32;
            all.push(*names.entry(key).or_insert(next));
        }
    }
    all
}

impl Index {
    /// The groups that a query names: after a preposition, or with a capital letter within a sentence.
    pub(crate) fn groups_in(&self, query: &str) -> Vec<u32> {
        let mut found = Vec::new();
        if self.group_names.len() < 2 {
            return found;
        }
        let bare = |written: &str| {
            written.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect::<String>()
        };
        let said: Vec<(&str, String)> =
            query.split_whitespace().take(200).map(|written| (written, bare(written))).collect();
        for place in 1..said.len() {
            let before = said[place - 1].1.as_str();
            let is_named = BEFORE_GROUP.contains(&before)
                || said[place].0.starts_with(char::is_uppercase)
                    && !said[place - 1].0.ends_with(['.', '!', '?', ':']);
            let mut key = String::new();
            for (_, word) in said[place..].iter().take(if is_named { MAX_GROUP } else { 0 }) {
                key.push_str(word);
                found.extend(self.group_names.get(&key));
            }
        }
        found
    }
}
