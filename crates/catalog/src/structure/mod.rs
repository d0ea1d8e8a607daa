//! Derives missing categories and ops: from the server, the namespace or the path of the request, otherwise from the
//! object that a tool acts on.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use hashbrown::HashSet;
use rayon::prelude::*;

use super::audience::{Audience, groups};
use super::{LEFT_OVER, Tool, names};
use crate::config::Category;
use toolcrib_definition::finding::{Code, Finding};
use toolcrib_definition::grammar::{WordClass, plural, singular};
use toolcrib_definition::{Backend, CategoryPath, Definition, beginning, each_word, words};

/// Gives each tool a category and an op if it lacks them. Each audience is handled together with the tools that
/// everybody sees, so that nothing depends on a tool that a caller cannot see.
/// `described` are the categories that an author describes, with or without tools.
pub(super) fn derive<'c>(
    tools: &mut [Tool],
    described: impl Iterator<Item = &'c Category>,
    findings: &mut Vec<Finding>,
) {
    let is_derived = |tool: &Tool| tool.categories.is_empty();
    let without: BTreeSet<usize> = (0..tools.len()).filter(|&index| is_derived(&tools[index])).collect();
    if !without.is_empty() {
        derive_categories(tools, described, &without, findings);
    }
    divide_large(tools, &without, findings);
    for tool in tools.iter_mut().filter(|tool| tool.categories.is_empty()) {
        tool.categories.extend(CategoryPath::parse(LEFT_OVER));
    }
    let without: BTreeSet<usize> =
        without.into_iter().filter(|&index| tools[index].root_category() != LEFT_OVER).collect();
    let without_op: Vec<usize> = (0..tools.len()).filter(|&index| tools[index].op.is_empty()).collect();
    let ops: Vec<String> = without_op
        .par_iter()
        .map(|index| names::derived_op(&tools[*index], without.contains(index)))
        .collect();
    for (&index, op) in without_op.iter().zip(ops) {
        tools[index].op = op;
    }
    for members in groups(tools.iter().map(|tool| Audience::of(&tool.definition))) {
        whole_names(tools, &members, &without_op, &without);
    }
}

/// Replaces equal derived ops by ops with the whole name of their tool: `comments.get_comment` and
/// `comments.get_comments`.
fn whole_names(tools: &mut [Tool], members: &[usize], without_op: &[usize], without: &BTreeSet<usize>) {
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for &index in members {
        *counts.entry(&tools[index].op).or_default() += 1;
    }
    let is_doubled = |index: &&usize| counts[tools[**index].op.as_str()] > 1;
    let doubled: Vec<usize> = members
        .iter()
        .filter(|index| without_op.binary_search(index).is_ok())
        .filter(is_doubled)
        .copied()
        .collect();
    for index in doubled {
        tools[index].op = names::op_with_whole_name(&tools[index], without.contains(&index));
    }
}

fn derive_categories<'c>(
    tools: &mut [Tool],
    described: impl Iterator<Item = &'c Category>,
    without: &BTreeSet<usize>,
    findings: &mut Vec<Finding>,
) {
    let audiences: Vec<Audience> = tools.iter().map(|tool| Audience::of(&tool.definition)).collect();
    let is_public = |index: usize| audiences[index] == Audience::Everybody;
    let objects = objects(tools, &is_public);
    let vectors = WordVectors::of(tools);
    let authored = (0..tools.len()).filter(|&index| is_public(index)).map(|index| tools[index].category());
    let known = known(authored.chain(described.map(|category| category.path.as_str())));
    let mut derived: BTreeMap<usize, Vec<String>> = BTreeMap::new();
    for members in groups(audiences.iter().cloned()) {
        let own: BTreeSet<usize> = members.into_iter().filter(|index| without.contains(index)).collect();
        let seen = without.iter().copied().filter(|index| is_public(*index) || own.contains(index));
        let seen: Vec<usize> = seen.collect();
        let paths = categories(tools, &objects, &vectors, &seen, &known);
        derived.extend(paths.into_iter().filter(|(index, _)| own.contains(index)));
    }
    report(tools, &derived, findings);
    for (index, path) in derived {
        let path = CategoryPath::from_segments(path.iter().map(String::as_str));
        tools[index].categories.extend(path.or_else(|| CategoryPath::parse(LEFT_OVER)));
    }
}

/// Divides authors' large categories into derived ones, for tools that everybody sees.
fn divide_large(tools: &mut [Tool], without: &BTreeSet<usize>, findings: &mut Vec<Finding>) {
    let is_public = |index: usize| Audience::of(&tools[index].definition) == Audience::Everybody;
    let mut members: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for index in (0..tools.len()).filter(|index| !without.contains(index) && is_public(*index)) {
        members.entry(tools[index].category()).or_default().push(index);
    }
    members.retain(|path, members| *path != LEFT_OVER && members.len() > MAX);
    if members.is_empty() {
        return;
    }
    let objects = objects(tools, &is_public);
    let mut derived: BTreeMap<usize, Vec<String>> = BTreeMap::new();
    for (path, members) in members {
        let keys = divide(&objects, &key(path.rsplit('/').next().unwrap_or(path)), &members);
        let keys: BTreeMap<usize, Vec<String>> =
            keys.into_iter().map(|(index, key)| (index, vec![key])).collect();
        let titles = titles(tools, &objects, &keys, &KnownTitles::new());
        let own = path.rsplit('/').next().unwrap_or(path).to_lowercase();
        for (index, key) in keys {
            let title = titles.get(&key).filter(|title| singular(&title.to_lowercase()) != singular(&own));
            derived.extend(title.map(|title| (index, vec![path.to_string(), title.clone()])));
        }
    }
    report(tools, &derived, findings);
    for (index, path) in derived {
        tools[index].categories[0] =
            CategoryPath::parse(&path.join("/")).unwrap_or_else(|| tools[index].categories[0].clone());
    }
}

/// The object of each tool. Segments that all public requests begin with, such as a version, are skipped.
fn objects(tools: &[Tool], is_public: &dyn Fn(usize) -> bool) -> Vec<Object> {
    let paths: Vec<Option<Vec<String>>> = tools.iter().map(path_segments).collect();
    let public = paths.iter().enumerate().filter(|(index, _)| is_public(*index));
    let mut public = public.filter_map(|(_, path)| path.as_ref());
    let first = public.next().cloned().unwrap_or_default();
    let common = public.fold(first.len().saturating_sub(1), |common, path| {
        let equal = path.iter().zip(&first).take_while(|(one, other)| one == other).count();
        common.min(equal).min(path.len().saturating_sub(1))
    });
    let object = |(tool, path): (&Tool, &Option<Vec<String>>)| match path {
        Some(path) => Object::of_path(&path[common.min(path.len() - 1)..], &tool.name),
        None => Object::of_name(&tool.name),
    };
    tools.par_iter().zip(&paths).map(object).collect()
}

/// The thing that a plain `id` of a tool identifies: the segment before `id` in the path of the request, or the last
/// noun of the name.
pub(super) fn resource(definition: &Definition) -> Option<String> {
    if let Some(Backend::Http(backend)) = &definition.backend {
        let (before, _) = backend.path.split_once("/{id}")?;
        let segment = before.rsplit('/').next().filter(|segment| !segment.contains('{'))?;
        return words(segment).last().map(|word| singular(word));
    }
    Object::of_name(&definition.name).nouns.pop().filter(|noun| noun != "id" && !noun.is_empty())
}

/// The fixed segments of the path of a tool's request.
fn path_segments(tool: &Tool) -> Option<Vec<String>> {
    let Some(Backend::Http(backend)) = &tool.definition.backend else { return None };
    let path = backend.path.split(['?', '#']).next().unwrap_or_default();
    let fixed = path.split('/').filter(|segment| !segment.is_empty() && !segment.contains(['{', '@', ':']));
    let segments: Vec<String> = fixed
        .map(|segment| {
            let mut words = words(segment);
            if let Some(last) = words.last_mut() {
                *last = singular(last);
            }
            words.join("_")
        })
        .filter(|segment| !segment.is_empty())
        .collect();
    (!segments.is_empty()).then_some(segments)
}

/// The category paths of these tools.
fn categories(
    tools: &[Tool],
    objects: &[Object],
    vectors: &WordVectors,
    members: &[usize],
    known: &KnownTitles,
) -> BTreeMap<usize, Vec<String>> {
    let mut by_server: BTreeMap<Option<&str>, Vec<usize>> = BTreeMap::new();
    for &index in members {
        by_server.entry(tools[index].server.as_deref()).or_default().push(index);
    }
    let has_servers = by_server.len() > 1;
    let mut paths = BTreeMap::new();
    for (server, members) in by_server {
        let root = server.filter(|_| has_servers).map(|server| names::bare(server).to_string());
        let is_small = root.is_some() && members.len() <= MAX;
        // Authors' titles apply at the root, not below a server.
        let known = if root.is_none() { known } else { &KnownTitles::new() };
        let keys = if is_small { BTreeMap::new() } else { group(objects, vectors, &members, known) };
        let titles = titles(tools, objects, &keys, known);
        for index in members {
            let below = keys
                .get(&index)
                .into_iter()
                .flat_map(|path| (1..=path.len()).filter_map(|depth| titles.get(&path[..depth]).cloned()));
            let path: Vec<String> = root.iter().cloned().chain(below).collect();
            paths.insert(index, path);
        }
    }
    let rest: Vec<usize> = members.iter().copied().filter(|index| paths[index].is_empty()).collect();
    let is_large = rest.len() > MAX;
    for index in rest {
        let letters = is_large.then(|| letters(&tools[index].name).to_string());
        paths.insert(index, std::iter::once(LEFT_OVER.to_string()).chain(letters).collect());
    }
    paths
}

/// Reports each derived category.
fn report(tools: &[Tool], derived: &BTreeMap<usize, Vec<String>>, findings: &mut Vec<Finding>) {
    let mut categories: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (&index, path) in derived.iter().filter(|(_, path)| path[0] != LEFT_OVER) {
        categories.entry(path.join("/")).or_default().push(index);
    }
    for (path, members) in categories {
        let count = members.len();
        let first = &tools[members[0]];
        let tools = if count == 1 { "tool has" } else { "tools have" };
        let message = format!("{count} {tools} the derived category `{path}`");
        findings.push(first.finding(Code::CategoryDerived, message));
    }
}

// Titles of derived categories: an object in the plural, or an unchanged namespace.

/// Letter ranges of the tools that are left over, in alphabetical order.
const LETTERS: [&str; 5] = ["A to F", "G to L", "M to R", "S to Z", "Other letters"];

/// The range of the first letter of a name.
fn letters(name: &str) -> &'static str {
    match name.chars().find(|c| c.is_alphanumeric()).map(|c| c.to_ascii_lowercase()) {
        Some('a'..='f') => LETTERS[0],
        Some('g'..='l') => LETTERS[1],
        Some('m'..='r') => LETTERS[2],
        Some('s'..='z') => LETTERS[3],
        _ => LETTERS[4],
    }
}

/// Authors' titles, by the key that a group with that title would have.
type KnownTitles = HashMap<String, String>;

/// The titles of the top-level categories among these paths.
fn known<'p>(paths: impl Iterator<Item = &'p str>) -> KnownTitles {
    let roots = paths.filter(|path| !path.is_empty() && !path.contains('/'));
    roots.map(|path| (key(path), path.to_string())).collect()
}

/// The key that a group with this title would have.
fn key(title: &str) -> String {
    words(title).iter().map(|word| singular(word)).collect::<Vec<_>>().join("_")
}

/// The title of each group, by its path of keys.
fn titles(
    tools: &[Tool],
    objects: &[Object],
    groups: &BTreeMap<usize, Vec<String>>,
    known: &KnownTitles,
) -> HashMap<Vec<String>, String> {
    let mut members: BTreeMap<&[String], Vec<usize>> = BTreeMap::new();
    for (&tool, path) in groups {
        (1..=path.len()).for_each(|depth| members.entry(&path[..depth]).or_default().push(tool));
    }
    members
        .into_par_iter()
        .map(|(path, tools_of)| {
            let told = known.get(&path[0]).filter(|_| path.len() == 1).cloned();
            (path.to_vec(), told.unwrap_or_else(|| title(tools, objects, path, &tools_of)))
        })
        .collect()
}

fn title(tools: &[Tool], objects: &[Object], path: &[String], members: &[usize]) -> String {
    let Some(key) = path.last() else { return String::new() };
    let begins = |&&tool: &&usize| {
        let name = words(&tools[tool].name).join("_");
        name.strip_prefix(key.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('_'))
    };
    let is_namespace = members.iter().filter(begins).count() * 2 > members.len();
    let mut nouns: Vec<String> = key.split('_').map(str::to_string).collect();
    if !is_namespace {
        nouns.extend(following(objects, key, members));
        if let Some(last) = nouns.last_mut() {
            let many = plural(last);
            let says = |&tool: &usize| {
                let description = &tools[tool].description;
                // Splitting a long text into words is slow; most texts have no such letters.
                words(&tools[tool].name).contains(&many)
                    || (description.contains(&many) && words(description).contains(&many))
            };
            if members.iter().any(says) {
                *last = many;
            }
        }
    }
    let nouns: Vec<String> = nouns.into_iter().map(spelled).collect();
    let text = nouns.join(" ");
    let mut chars = text.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}

/// Spells formats and protocols in capitals.
pub(super) fn spelled(word: String) -> String {
    const CAPITALS: [&str; 20] = [
        "ai", "api", "crm", "css", "csv", "dns", "html", "http", "ip", "json", "pdf", "sms", "sql", "svg",
        "tls", "ui", "url", "vm", "vpn", "xml",
    ];
    if CAPITALS.contains(&word.as_str()) { word.to_uppercase() } else { word }
}

/// The noun after a key, if it is the same in all tools with the key: `request` after `pull`.
fn following(objects: &[Object], key: &str, members: &[usize]) -> Option<String> {
    let mut next = members.iter().filter_map(|&tool| {
        let mut nouns = objects[tool].nouns.iter();
        nouns.find(|noun| *noun == key)?;
        Some(nouns.next())
    });
    let first = next.next()??;
    (!first.contains('_') && next.all(|noun| noun == Some(first))).then(|| first.clone())
}

// The object of a tool: the things that it acts on, read from its name, its op, or the path of its request.

/// The nouns that name what a tool acts on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Object {
    /// Namespaces and nouns in the order of the name, each in the singular; never empty.
    nouns: Vec<String>,
    /// Nouns after a preposition: `issue` in `assign_copilot_to_issue`.
    others: Vec<String>,
}

impl Object {
    /// The object in the name of a tool. A namespace ends at the last dot, or at a double underscore.
    fn of_name(name: &str) -> Self {
        let (spaces, rest) = match name.rsplit_once('.').or_else(|| name.split_once("__")) {
            Some((spaces, rest)) if !spaces.trim().is_empty() => (spaces, rest),
            _ => return Self::of_words(&words(name)),
        };
        let namespaces =
            spaces.split('.').map(|space| words(space).join("_")).filter(|space| !space.is_empty());
        let rest = Self::of_words(&words(rest));
        Self { nouns: namespaces.chain(rest.nouns).collect(), others: rest.others }
    }

    /// The object in the path of a request: its fixed segments.
    fn of_path(segments: &[String], name: &str) -> Self {
        let in_name = Self::of_name(name);
        let is_object = |word: &&String| WordClass::of(word) != WordClass::Verb;
        let nouns: Vec<String> = segments.iter().filter(is_object).cloned().collect();
        let nouns = if nouns.is_empty() { segments.to_vec() } else { nouns };
        if nouns.is_empty() { in_name } else { Self { nouns, others: in_name.nouns } }
    }

    fn of_words(words: &[String]) -> Self {
        let mut object = Self::default();
        let ends_in_verb = words.len() > 1 && words.last().is_some_and(|word| is_verb(word, false));
        // One word before the object may be a verb or a noun; nouns after a preposition go to `others`.
        let mut is_lead = true;
        let mut is_first = true;
        let mut is_after = false;
        for (index, word) in words.iter().enumerate() {
            let is_last = index + 1 == words.len();
            match WordClass::of(word) {
                WordClass::Empty if matches!(word.as_str(), "and" | "or") => {
                    (is_lead, is_first) = (true, true)
                }
                WordClass::Empty => {}
                // `get_issue_by_number`: a key, not an object.
                WordClass::Preposition if word == "by" && !object.nouns.is_empty() => break,
                WordClass::Preposition => is_after = !object.nouns.is_empty(),
                WordClass::Verb if is_lead || is_last => is_first = false,
                // `zia_list_devices`: the verb stands between the namespace and the object.
                _ if object.nouns.len() == 1 && !is_last && is_verb(word, true) => {}
                WordClass::VerbOrNoun
                    if is_first && !is_last && !ends_in_verb && !is_told(&words[index + 1]) =>
                {
                    is_first = false;
                }
                WordClass::VerbOrNoun if is_last && !object.nouns.is_empty() && is_verb(word, true) => {}
                _ => {
                    (is_lead, is_first) = (false, false);
                    let list = if is_after { &mut object.others } else { &mut object.nouns };
                    list.push(singular(word));
                }
            }
        }
        if object.nouns.is_empty() {
            object.nouns = std::mem::take(&mut object.others);
        }
        if object.nouns.is_empty() {
            let names = words
                .iter()
                .filter(|word| !matches!(WordClass::of(word), WordClass::Empty | WordClass::Verb));
            object.nouns = names.map(|word| singular(word)).collect();
        }
        if object.nouns.is_empty() {
            object.nouns = vec![words.last().map(|word| singular(word)).unwrap_or_default()];
        }
        object
    }

    /// All nouns, the first ones first.
    fn all(&self) -> impl Iterator<Item = &String> {
        self.nouns.iter().chain(&self.others)
    }
}

/// Whether a word is a verb, as in `issue_read`; with `or_noun`, also a verb that can be a noun, as in `todo_list`.
fn is_verb(word: &str, or_noun: bool) -> bool {
    const LAST: [&str; 9] = ["list", "query", "search", "set", "run", "show", "log", "check", "count"];
    match WordClass::of(word) {
        WordClass::Verb => true,
        WordClass::VerbOrNoun => or_noun && LAST.contains(&word),
        _ => false,
    }
}

/// Whether a word names a property of the noun before it: `order_status`, `commit_history`.
fn is_told(word: &str) -> bool {
    ["details", "history", "info", "logs", "metadata", "stats", "statistics", "status", "summary"]
        .contains(&word)
}

// Similarity of tools by the words of their names and descriptions. Each word has the same weight in every catalog,
// so that the similarity of two tools does not depend on a third.

/// Most characters of a description that are read: the beginning says what a tool does.
const MAX_CHARS: usize = 600;
/// Most words of a name that are read: a longer text is not a name.
const MAX_NAME_WORDS: usize = 40;
/// Weight of a word in the name that is not a verb; all other words have 1.
const NAME_WEIGHT: f32 = 2.0;
/// Words of descriptions that do not distinguish objects.
const EMPTY: &str = "it its this that these those is are be can will not if when which what where as at based each has \
    have more other also use used uses using return returns returned provide provides provided given such only their \
    them they then than there do does to in on with from into by for of";

/// The words of all tools, as unit vectors.
struct WordVectors {
    vectors: Vec<Vec<(u32, f32)>>,
    /// The tools that have a word, by word.
    holders: Vec<Vec<(u32, f32)>>,
}

impl WordVectors {
    /// Vectors of tools.
    fn of(tools: &[Tool]) -> Self {
        let empty: HashSet<&str> = EMPTY.split_whitespace().collect();
        let weighted: Vec<_> =
            tools.par_iter().map(|tool| weighted(&tool.name, &tool.description, &empty)).collect();
        let mut ids: hashbrown::HashMap<String, u32> = hashbrown::HashMap::new();
        let mut id = |word: String| {
            let next = ids.len() as u32;
            *ids.entry(word).or_insert(next)
        };
        let vectors: Vec<Vec<(u32, f32)>> = weighted
            .into_iter()
            .map(|words| words.into_iter().map(|(word, weight)| (id(word), weight)).collect())
            .collect();
        let mut holders = vec![Vec::new(); ids.len()];
        for (tool, words) in vectors.iter().enumerate() {
            words.iter().for_each(|&(word, weight)| holders[word as usize].push((tool as u32, weight)));
        }
        Self { vectors, holders }
    }

    /// The similarity of a tool to each tool, from 0 to 1, by position.
    fn similarities(&self, tool: usize) -> Vec<f32> {
        let mut similarities = vec![0.0; self.vectors.len()];
        for &(word, weight) in &self.vectors[tool] {
            for &(other, of_other) in &self.holders[word as usize] {
                similarities[other as usize] += weight * of_other;
            }
        }
        similarities
    }
}

/// The words of a tool with the weights of a unit vector.
fn weighted(name: &str, description: &str, empty: &HashSet<&str>) -> Vec<(String, f32)> {
    let in_name = each_word(name).take(MAX_NAME_WORDS).map(|word| (word, true));
    let in_description = each_word(beginning(description, MAX_CHARS)).map(|word| (word, false));
    let mut counts: Vec<(String, f32, f32)> = Vec::new();
    for (word, is_name) in in_name.chain(in_description) {
        let class = WordClass::of(&word);
        if word.chars().nth(1).is_none() || empty.contains(word.as_str()) || class == WordClass::Empty {
            continue;
        }
        let weight = if is_name && class != WordClass::Verb { NAME_WEIGHT } else { 1.0 };
        let word = singular(&word);
        match counts.iter_mut().find(|(known, ..)| *known == word) {
            Some((_, count, most)) => (*count, *most) = (*count + 1.0, most.max(weight)),
            None => counts.push((word, 1.0, weight)),
        }
    }
    let mut weighted: Vec<(String, f32)> =
        counts.into_iter().map(|(word, count, weight)| (word, (1.0 + count.ln()) * weight)).collect();
    let length = weighted.iter().map(|(_, weight)| weight * weight).sum::<f32>().sqrt();
    weighted.iter_mut().for_each(|(_, weight)| *weight /= length.max(f32::MIN_POSITIVE));
    weighted
}

// Groups tools by their objects. A tool joins the group of its first noun if enough tools have that noun first,
// otherwise the group of a later noun, otherwise the group with the most similar tools.

/// Fewest tools of a group.
const MIN: usize = 3;
/// Most tools of a group without groups below it.
const MAX: usize = 40;
/// Least mean similarity with the nearest tools of a group.
const MIN_SIMILARITY: f32 = 0.22;
/// Number of tools in that mean.
const NEAREST: usize = 3;

/// The group of each tool, as a path of keys: nouns and namespaces. Empty for a tool that has nothing in common with
/// others.
fn group(
    objects: &[Object],
    vectors: &WordVectors,
    members: &[usize],
    known: &KnownTitles,
) -> BTreeMap<usize, Vec<String>> {
    let mut keys = by_noun(objects, members, known);
    by_shared_noun(objects, members, &mut keys);
    by_similarity(objects, vectors, members, &mut keys);
    let mut paths: BTreeMap<usize, Vec<String>> = BTreeMap::new();
    let mut large: BTreeMap<&String, Vec<usize>> = BTreeMap::new();
    for (&tool, key) in &keys {
        paths.insert(tool, vec![key.clone()]);
        large.entry(key).or_default().push(tool);
    }
    for (key, tools) in large.into_iter().filter(|(_, tools)| tools.len() > MAX) {
        let below = divide(objects, key, &tools);
        for (tool, key) in below {
            paths.entry(tool).or_default().push(key);
        }
    }
    paths
}

/// Groups tools by their first noun if an author has a category for it or enough tools share it, otherwise by a later
/// noun that is the first noun of enough tools.
fn by_noun(objects: &[Object], members: &[usize], known: &KnownTitles) -> BTreeMap<usize, String> {
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for &tool in members {
        *counts.entry(&objects[tool].nouns[0]).or_default() += 1;
    }
    let is_shared =
        |noun: &&String| is_object(noun) && counts.get(noun.as_str()).is_some_and(|&count| count >= MIN);
    let key = |&tool: &usize| {
        let object = &objects[tool];
        // A verb can be an author's category: `Search`.
        let first = object.nouns.first().filter(|noun| known.contains_key(*noun));
        Some((tool, first.or_else(|| object.all().find(is_shared))?.clone()))
    };
    members.iter().filter_map(key).collect()
}

/// Whether tools may be grouped by a word. Names without a noun have only a verb, which makes no group.
fn is_object(word: &&String) -> bool {
    WordClass::of(word) != WordClass::Verb && !matches!(word.as_str(), "search" | "query")
}

/// Groups the remaining tools by any noun that enough of them share, the most frequent noun first.
fn by_shared_noun(objects: &[Object], members: &[usize], keys: &mut BTreeMap<usize, String>) {
    let nouns = |tool: usize| objects[tool].all().filter(is_object).collect::<BTreeSet<&String>>();
    let mut counts: BTreeMap<&String, usize> = BTreeMap::new();
    for &tool in members.iter().filter(|tool| !keys.contains_key(tool)) {
        nouns(tool).into_iter().for_each(|noun| *counts.entry(noun).or_default() += 1);
    }
    while let Some((&noun, _)) =
        counts.iter().filter(|(_, count)| **count >= MIN).max_by_key(|(_, count)| **count)
    {
        for &tool in members {
            if !keys.contains_key(&tool) && objects[tool].all().any(|own| own == noun) {
                keys.insert(tool, noun.clone());
                nouns(tool).into_iter().for_each(|noun| *counts.entry(noun).or_default() -= 1);
            }
        }
    }
}

/// Adds the remaining tools to the most similar group; tools with the same object stay together.
fn by_similarity(
    objects: &[Object],
    vectors: &WordVectors,
    members: &[usize],
    keys: &mut BTreeMap<usize, String>,
) {
    let names: Vec<String> = keys.values().cloned().collect::<BTreeSet<_>>().into_iter().collect();
    let group = |key: &String| names.binary_search(key).unwrap_or_default();
    let grouped: Vec<(usize, usize)> = keys.iter().map(|(&tool, key)| (tool, group(key))).collect();
    let nearest = |tool: usize| {
        let similarities = vectors.similarities(tool);
        let mut nearest = vec![[0.0_f32; NEAREST]; names.len()];
        for &(other, group) in &grouped {
            let best = &mut nearest[group];
            if similarities[other] > best[NEAREST - 1] {
                best[NEAREST - 1] = similarities[other];
                best.sort_by(|one, other| other.total_cmp(one));
            }
        }
        let means = nearest.iter().map(|best| best.iter().sum::<f32>() / NEAREST as f32).enumerate();
        let (group, mean) = means.max_by(|one, other| one.1.total_cmp(&other.1))?;
        (mean >= MIN_SIMILARITY).then_some((group, mean))
    };
    let mut same: BTreeMap<&[String], Vec<usize>> = BTreeMap::new();
    for &tool in members.iter().filter(|tool| !keys.contains_key(tool)) {
        same.entry(&objects[tool].nouns).or_default().push(tool);
    }
    let group_of = |tools: Vec<usize>| {
        let nearest = tools.iter().filter_map(|&tool| nearest(tool));
        let (group, _) = nearest.max_by(|one, other| one.1.total_cmp(&other.1))?;
        Some((tools, names[group].clone()))
    };
    let sets: Vec<Vec<usize>> = same.into_values().collect();
    let found: Vec<(Vec<usize>, String)> = sets.into_par_iter().filter_map(group_of).collect();
    keys.extend(
        found.into_iter().flat_map(|(tools, key)| tools.into_iter().map(move |tool| (tool, key.clone()))),
    );
}

/// Divides a large group by the noun after its key; the other tools stay in the large group.
fn divide(objects: &[Object], key: &str, tools: &[usize]) -> Vec<(usize, String)> {
    let after = |tool: usize| -> Option<&String> {
        let mut nouns = objects[tool].all();
        let has_key = nouns.any(|noun| noun == key);
        let next = nouns.next();
        if has_key { next } else { objects[tool].nouns.first() }
    };
    let mut counts: HashMap<&String, usize> = HashMap::new();
    tools.iter().filter_map(|&tool| after(tool)).for_each(|noun| *counts.entry(noun).or_default() += 1);
    let is_group = |noun: &&String| {
        *noun != key && counts.get(*noun).is_some_and(|&count| count >= MIN && count < tools.len())
    };
    tools.iter().filter_map(|&tool| Some((tool, after(tool).filter(is_group)?.clone()))).collect()
}

#[cfg(test)]
mod tests {
    use super::Object;

    #[test]
    fn a_name_has_an_object() {
        let check = |name: &str, expected: &str| {
            let object = Object::of_name(name);
            let text = format!("{} | {}", object.nouns.join(" "), object.others.join(" "));
            assert_eq!(text.trim_end_matches([' ', '|']), expected, "{name}");
        };
        check("create_issue", "issue");
        check("list_issues", "issue");
        check("issue_write", "issue");
        check("get_issue_comments", "issue comment");
        check("add_sub_issue", "issue");
        check("pull_request_read", "pull request");
        check("list_pull_requests", "pull request");
        check("create_or_update_file", "file");
        check("assign_copilot_to_issue", "copilot | issue");
        check("storage_account_get", "storage account");
        check("keyvault_secret_list", "keyvault secret");
        check("zia_list_devices", "zia device");
        check("math.factorial", "math factorial");
        check("server__do_it", "server it");
        check("getStoryWithComments", "story | comment");
        check("list_code_scanning_alerts", "code scanning alert");
        check("web_search", "web");
        check("todo_list", "todo");
        check("get", "get");
        check("get_me", "me");
        check("order_status", "order");
        check("find_alert_rules", "alert rule");
        check("get_alert_rule", "alert rule");
        check("", "");
    }
}
