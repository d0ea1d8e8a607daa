//! The words of all entries, in memory: for each term the entries that contain it, with its weight in each.

use hashbrown::{DefaultHashBuilder, HashMap, HashSet};
use indexmap::IndexSet;
use serde_json::Value;

use super::actions::{Does, is_verb, nouns, verbs};
use super::meaning::{Meaning, Sum};
use super::query::Spelling;
use super::thesaurus::{Synonyms, is_stop};
use super::words::{is_dense, plain, stemmed, words};
use toolcrib_catalog::Tool;
use toolcrib_catalog::config;
use toolcrib_definition::Effect;

/// Below this likelihood that anything fits, the answer is that nothing does.
const MIN_MATCH_LIKELIHOOD: f32 = 0.05;

/// The number of a term: all words with one stem.
pub(super) type Term = u32;

/// The words of all entries.
#[derive(Debug, Default)]
pub struct Index {
    /// The stems of all terms.
    pub(super) vocabulary: TextTable,
    /// Inverse document frequency of each term: the fewer entries have it, the more distinctive it is.
    pub(super) idf: Vec<f32>,
    /// Inverse document frequency of a term that no entry has.
    pub(super) max_idf: f32,
    /// The entries that contain each term, with its weight in each, from 0 to 1: higher when the term is frequent, and when
    /// the text is short.
    pub(super) postings: Vec<Vec<(u32, f32)>>,
    /// The terms of each entry, sorted, each with the fields that contain it, one bit each.
    pub(super) entry_terms: Vec<Vec<(Term, u8)>>,
    /// The entries with a name, in lower case.
    pub(super) by_name: HashMap<String, Vec<u32>>,
    /// The entries with a name, as the words that it is made of.
    pub(super) by_words: HashMap<String, Vec<u32>>,
    /// The meaning of each entry, and of each term in a field of [`SHOWN`].
    pub(super) meanings: Vec<Meaning>,
    pub(super) term_meanings: Vec<Meaning>,
    /// Meanings of each entry's name, and of the values of its method argument.
    pub(super) phrases: Vec<Vec<Meaning>>,
    pub(super) spelling: Spelling,
    /// What each entry does.
    pub(super) does: Vec<Does>,
    /// Strongest change that each entry may make.
    pub(super) effects: Vec<Option<Effect>>,
    /// The nouns of each entry's name, the head last.
    pub(super) nouns: Vec<Vec<Term>>,
    /// Servers and categories by their names, and those of each entry.
    pub(super) group_names: HashMap<String, u32>,
    pub(super) groups: Vec<Vec<u32>>,
    pub(super) synonyms: Synonyms,
    /// Least probability that any entry fits; below it the verdict is `no_match`.
    pub(super) min_match_likelihood: f32,
}

impl Index {
    /// An index of these entries.
    pub fn new(entries: &[IndexEntry]) -> Self {
        Self::with(entries, [])
    }

    /// An index that also knows the synonyms of a configuration.
    pub fn with<'s>(
        entries: &[IndexEntry],
        synonyms: impl IntoIterator<Item = (&'s String, &'s Vec<String>)>,
    ) -> Self {
        build(entries, Synonyms::configured(synonyms))
    }

    /// An index with the synonyms and the threshold of the configuration.
    pub fn configured(entries: &[IndexEntry], search: &config::Search) -> Self {
        let index = Self::with(entries, &search.synonyms);
        match search.no_match_below {
            Some(likelihood) => index.no_match_below(likelihood as f32),
            None => index,
        }
    }

    /// The same index with another least probability that any entry fits, from 0 (the verdict is always `match`) to
    /// 1.
    pub fn no_match_below(mut self, likelihood: f32) -> Self {
        self.min_match_likelihood = likelihood;
        self
    }

    /// Number of entries.
    pub(super) fn len(&self) -> usize {
        self.entry_terms.len()
    }

    /// The term with this stem.
    pub(super) fn term(&self, stem: &str) -> Option<Term> {
        self.vocabulary.get(stem)
    }

    pub(super) fn idf(&self, term: Term) -> f32 {
        self.idf[term as usize]
    }

    /// The fields of an entry that contain a term, one bit each; 0 where none does.
    pub(super) fn fields_with(&self, term: Term, entry: u32) -> u8 {
        let terms = &self.entry_terms[entry as usize];
        let place = terms.binary_search_by_key(&term, |(known, _)| *known);
        place.map_or(0, |place| terms[place].1)
    }

    /// The entries with this name, in any letter case.
    pub(super) fn named(&self, name: &str) -> &[u32] {
        self.by_name.get(&name.to_lowercase()).map_or(&[], Vec::as_slice)
    }

    /// The entries whose name consists of just these words: `create issue` or `create an issue` for `create_issue`.
    pub(super) fn named_in_words(&self, query: &str) -> &[u32] {
        let said = words_of_name(query);
        let bare = || said.split(' ').filter(|word| !ARTICLES.contains(word)).collect::<Vec<_>>().join(" ");
        self.by_words.get(&said).or_else(|| self.by_words.get(&bare())).map_or(&[], Vec::as_slice)
    }
}

/// Words of a request that its name leaves out.
const ARTICLES: [&str; 7] = ["a", "an", "the", "this", "that", "my", "our"];

/// The words of a name.
pub(super) fn words_of_name(name: &str) -> String {
    let mut text = String::with_capacity(name.len());
    words(name, |word| text.extend([if text.is_empty() { "" } else { " " }, word]));
    text
}

// Builds an index from entries.

/// Weight of each field, and the influence of its length.
const FIELDS: [(Field, f32, f32); 8] = [
    (Field::Name, 3.0, 0.3),
    (Field::Alias, 1.5, 0.3),
    (Field::Short, 0.8, 0.5),
    (Field::Long, 1.5, 0.5),
    (Field::Parameter, 0.8, 0.5),
    (Field::ParameterText, 0.7, 0.5),
    (Field::Label, 1.0, 0.3),
    (Field::Example, 0.4, 0.5),
];
/// Saturation of repeated words (BM25's k1).
const SATURATION: f32 = 1.2;
/// Exponent of BM25's idf; below 1, rare words count less.
const IDF_POWER: f32 = 0.85;
/// Least weight of a word, as a share of the largest.
const MIN_IDF_SHARE: f32 = 0.1;
/// Bytes of a description that have a meaning, and the weight of its first sentence in hundredths.
const MAX_MEANT: usize = 300;
const FIRST_SENTENCE: i32 = 35;
/// Bytes of a description in which its verb is.
const MAX_VERB: usize = 60;
/// Longest entry that is read; the rest is ignored.
const MAX_WORDS: usize = 4_000;
/// Most words of descriptions of parameters, values and examples.
const MAX_DETAILS: usize = 150;

/// A number for each field.
type OfFields<N> = [N; FIELDS.len()];

/// The terms of one entry.
struct Terms {
    /// The number of each term in each field, sorted by term.
    counts: Vec<(Term, OfFields<u16>)>,
    length: OfFields<f32>,
    meaning: Meaning,
    phrases: Vec<Meaning>,
    nouns: Vec<Term>,
    does: Does,
}

/// Reads entries, one after another.
#[derive(Default)]
struct IndexBuilder {
    vocabulary: TextTable,
    /// Each word in its written form.
    known: HashMap<String, Known>,
    /// The meaning of each term of a shown field, in its first form.
    term_meanings: Vec<Meaning>,
    /// The sums of words in names and descriptions.
    sums: Vec<Sum>,
    /// Whether entries are of several servers.
    has_servers: bool,
    /// Names of entries that cannot be ordinary words.
    names: HashSet<String>,
    /// The terms of the entry that is read, each with its field in the last byte.
    counted: Vec<u64>,
}

/// A word that was read.
#[derive(Clone, Copy)]
struct Known {
    term: Term,
    is_stop: bool,
    /// The place of its sum.
    sum: Option<u32>,
}

/// An index of these entries.
pub(super) fn build(entries: &[IndexEntry], synonyms: Synonyms) -> Index {
    let names = entries.iter().flat_map(|entry| &entry.exact).filter(|name| name.contains(['_', '.']));
    let names = names.map(|name| name.to_lowercase()).collect();
    let has_servers = entries.iter().any(|entry| entry.server != entries[0].server);
    let mut building = IndexBuilder { names, has_servers, ..IndexBuilder::default() };
    let mut read: Vec<Terms> = entries.iter().map(|entry| building.read(entry)).collect();
    let IndexBuilder { vocabulary, known, term_meanings, .. } = building;
    let mut having = vec![0; vocabulary.len()];
    read.iter().flat_map(|terms| &terms.counts).for_each(|(term, _)| having[*term as usize] += 1);
    let postings = postings(&read, &having);
    let idf: Vec<f32> = having.into_iter().map(|having| idf_of(having, entries.len())).collect();
    let max_idf = idf_of(0, entries.len());
    let mut group_names = HashMap::new();
    let groups = entries.iter().map(|entry| groups_of(entry, &mut group_names)).collect();
    Index {
        meanings: read.iter().map(|terms| terms.meaning).collect(),
        does: read.iter().map(|terms| terms.does).collect(),
        effects: entries.iter().map(|entry| entry.effect).collect(),
        term_meanings,
        group_names,
        groups,
        postings,
        entry_terms: read.iter().map(Terms::with_fields).collect(),
        phrases: read.iter_mut().map(|terms| std::mem::take(&mut terms.phrases)).collect(),
        nouns: read.iter_mut().map(|terms| std::mem::take(&mut terms.nouns)).collect(),
        by_name: by_name(entries, |name| name.trim().to_lowercase()),
        by_words: by_name(entries, words_of_name),
        spelling: Spelling::of(
            known.keys().map(String::as_str).filter(|word| !is_dense(word)).chain(verbs()),
        ),
        min_match_likelihood: MIN_MATCH_LIKELIHOOD,
        idf,
        max_idf,
        synonyms,
        vocabulary,
    }
}

impl IndexBuilder {
    fn read(&mut self, entry: &IndexEntry) -> Terms {
        let mut length = OfFields::default();
        let mut counted = std::mem::take(&mut self.counted);
        let mut left = MAX_WORDS;
        let mut details = MAX_DETAILS;
        let mut seen: HashSet<&str> = HashSet::with_capacity(entry.texts.len());
        let texts = |wanted: Field| entry.texts.iter().filter(move |(field, _)| *field == wanted);
        let text = |wanted: Field| texts(wanted).map(|(_, text)| text.as_str()).next().unwrap_or_default();
        let about = [text(Field::Long), text(Field::Short)].into_iter().find(|text| !text.is_empty());
        let meant = about.map_or("", |about| &about[..about.floor_char_boundary(MAX_MEANT)]);
        let first_end = meant.split_inclusive(['.', '!', '?', '\n']).next().map_or(0, str::len);
        let mut whole = Sum::default();
        let mut first = Sum::default();
        let mut beginning = Vec::new();
        for (field, text) in &entry.texts {
            // Overlays and servers say the same thing twice.
            if !seen.insert(text) {
                continue;
            }
            let is_detail = matches!(field, Field::ParameterText | Field::Example);
            let is_said = matches!(field, Field::Name | Field::Alias | Field::Parameter | Field::Label);
            let meant = if about == Some(text) { meant.len() } else { 0 };
            for written in text.split_ascii_whitespace() {
                if is_detail && details == 0 || left == 0 {
                    break;
                }
                if !is_said && self.is_name(written) {
                    continue;
                }
                let at = written.as_ptr() as usize - text.as_ptr() as usize;
                words(written, |word| {
                    let Known { term, is_stop, sum } = *self.known(word);
                    if at < meant {
                        let sum = match sum {
                            Some(place) => &self.sums[place as usize],
                            None => self.sum_of(word),
                        };
                        whole.add(sum);
                        if at < first_end {
                            first.add(sum);
                        }
                        if at < first_end.min(MAX_VERB) {
                            beginning.push(word.to_string());
                        }
                    }
                    if field.bit() & SHOWN != 0 && self.term_meanings[term as usize].is_empty() {
                        self.shown(word);
                    }
                    if is_stop {
                        return;
                    }
                    let left = if is_detail { &mut details } else { &mut left };
                    *left = left.saturating_sub(1);
                    counted.push(u64::from(term) << 8 | *field as u64);
                    length[*field as usize] += 1.0;
                });
            }
        }
        counted.sort_unstable();
        let mut counts: Vec<(Term, OfFields<u16>)> = Vec::new();
        for (term, field) in counted.drain(..).map(|counted| ((counted >> 8) as Term, counted as u8)) {
            if counts.last().is_none_or(|(last, _)| *last != term) {
                counts.push((term, OfFields::default()));
            }
            counts.iter_mut().last().into_iter().for_each(|(_, of)| of[field as usize] += 1);
        }
        self.counted = counted;
        let name = plain(text(Field::Name));
        let named = self.sum(&name);
        whole.add(&named);
        if let Some(server) = entry.server.as_deref().filter(|_| self.has_servers) {
            whole.add(&self.sum(&plain(server)));
        }
        let meaning = whole.meaning().with(&first.meaning(), FIRST_SENTENCE);
        let values: Vec<Vec<String>> = entry.actions.iter().map(|value| plain(value)).collect();
        let mut phrases = vec![named.meaning()];
        for value in &values {
            let object = name.iter().filter(|word| value.len() < 2 && !is_verb(word));
            phrases.push(self.sum(value.iter().chain(object)).meaning());
        }
        let nouns = nouns(&name).map(|word| self.shown(word)).collect();
        let does = Does::read(&name, &beginning, &values);
        Terms { counts, length, meaning, phrases, nouns, does }
    }

    fn sum<'w>(&mut self, words: impl IntoIterator<Item = &'w String>) -> Sum {
        let mut sum = Sum::default();
        words.into_iter().for_each(|word| sum.add(self.sum_of(word)));
        sum
    }

    fn sum_of(&mut self, word: &str) -> &Sum {
        let next = self.sums.len() as u32;
        let place = *self.known(word).sum.get_or_insert(next);
        if place == next {
            self.sums.push(Sum::of_word(word));
        }
        &self.sums[place as usize]
    }

    /// The term of a word in a shown field, which has a meaning.
    fn shown(&mut self, word: &str) -> Term {
        let term = self.known(word).term;
        if self.term_meanings[term as usize].is_empty() {
            self.term_meanings[term as usize] = self.sum_of(word).meaning();
        }
        term
    }

    /// Whether a word is the name of an entry: text about other tools does not describe this tool.
    fn is_name(&self, written: &str) -> bool {
        written.contains(['_', '.'])
            && self.names.contains(&written.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase())
    }

    fn known(&mut self, word: &str) -> &mut Known {
        let Self { vocabulary, known, term_meanings, .. } = self;
        known.entry_ref(word).or_insert_with(|| {
            let term = vocabulary.number(&stemmed(word));
            if term_meanings.len() <= term as usize {
                term_meanings.push(Meaning::default());
            }
            Known { term, is_stop: is_stop(word), sum: None }
        })
    }
}

impl Terms {
    /// The terms, each with the fields that contain it.
    fn with_fields(&self) -> Vec<(Term, u8)> {
        self.counts.iter().map(|(term, counts)| (*term, bits(counts))).collect()
    }
}

/// The fields that contain a term, one bit each.
fn bits(counts: &OfFields<u16>) -> u8 {
    let has = FIELDS.iter().zip(counts).filter(|(_, count)| **count > 0);
    has.fold(0, |bits, ((field, ..), _)| bits | field.bit())
}

fn idf_of(having: usize, all: usize) -> f32 {
    let having = having as f32;
    let all = all as f32;
    let tells = |having: f32| (1.0 + (all - having + 0.5) / (having + 0.5)).ln().powf(IDF_POWER);
    // A word that all entries have at least shows which catalog this is.
    tells(having).max(MIN_IDF_SHARE * tells(0.0))
}

fn postings(read: &[Terms], having: &[usize]) -> Vec<Vec<(u32, f32)>> {
    let entries = read.len().max(1) as f32;
    let mut mean = OfFields::<f32>::default();
    for terms in read {
        mean.iter_mut().zip(&terms.length).for_each(|(mean, length)| *mean += length / entries);
    }
    let weight = |counts: &OfFields<u16>, length: &OfFields<f32>| {
        let mut weight = 0.0;
        for (field, (_, scale, evens)) in FIELDS.iter().enumerate().filter(|(field, _)| counts[*field] > 0) {
            let length = 1.0 - evens + evens * length[field] / mean[field].max(1.0);
            weight += scale * f32::from(counts[field]) / length;
        }
        weight * (SATURATION + 1.0) / (weight + SATURATION)
    };
    let mut postings: Vec<Vec<(u32, f32)>> =
        having.iter().map(|having| Vec::with_capacity(*having)).collect();
    for (Terms { counts, length, .. }, entry) in read.iter().zip(0..) {
        for (term, counts) in counts {
            postings[*term as usize].push((entry, weight(counts, length)));
        }
    }
    postings
}

/// The entries with each of these keys of names.
fn by_name(entries: &[IndexEntry], key: impl Fn(&str) -> String) -> HashMap<String, Vec<u32>> {
    let mut named = HashMap::<String, Vec<u32>>::new();
    for (entry, place) in entries.iter().zip(0..) {
        for name in entry.exact.iter().map(|name| key(name)).filter(|name| !name.is_empty()) {
            let places = named.entry(name).or_default();
            if places.last() != Some(&place) {
                places.push(place);
            }
        }
    }
    named
}

// Entries of an index: a tool or a category, as texts with a field each.

/// Field of a text in an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Field {
    /// Its name.
    Name,
    /// Other names: op, aliases, title.
    Alias,
    /// Purpose, in one line.
    Short,
    /// The rest of the author's text about it.
    Long,
    /// Names of parameters.
    Parameter,
    /// Descriptions of parameters, and their allowed values.
    ParameterText,
    /// Labels, categories, server.
    Label,
    /// Examples, notes, policy.
    Example,
}

impl Field {
    pub(super) const fn bit(self) -> u8 {
        1 << (self as u8)
    }
}

/// The fields that show what an entry is about, one bit each.
pub(super) const SHOWN: u8 = Field::Name.bit() | Field::Alias.bit() | Field::Short.bit() | Field::Label.bit();

/// A tool or a category that can be found.
#[derive(Clone, Debug, Default)]
pub struct IndexEntry {
    /// Names that match a query as a whole.
    pub exact: Vec<String>,
    /// Its texts.
    pub texts: Vec<(Field, String)>,
    /// Strongest change that it may make.
    pub effect: Option<Effect>,
    /// The server it belongs to.
    pub server: Option<String>,
    /// The categories it belongs to.
    pub categories: Vec<String>,
    /// Values of its argument that selects an action.
    pub actions: Vec<String>,
}

/// Names of arguments that select an action, and most values of one.
const SELECTORS: [&str; 7] = ["method", "action", "operation", "command", "op", "mode", "subcommand"];
const MAX_ACTIONS: usize = 40;

/// The values of arguments that select an action.
fn actions(schema: &Value) -> Vec<String> {
    let properties = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
    let selectors = properties.filter(|(name, _)| SELECTORS.contains(&name.to_lowercase().as_str()));
    let values = selectors.filter_map(|(_, property)| property.get("enum")?.as_array()).flatten();
    values.filter_map(Value::as_str).take(MAX_ACTIONS).map(str::to_string).collect()
}

// Servers and categories that a query names.

/// Words of a server's name that do not name a product.
const NOT_A_PRODUCT: [&str; 6] = ["mcp", "server", "api", "openapi", "official", "remote"];
/// Words before the name of a server or a category.
const BEFORE_GROUP: [&str; 8] = ["on", "in", "at", "from", "via", "with", "using", "to"];
/// Most words of such a name.
const MAX_GROUP: usize = 3;

/// The groups of an entry, by the letters and digits of their names.
fn groups_of(entry: &IndexEntry, names: &mut HashMap<String, u32>) -> Vec<u32> {
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
    pub(super) fn groups_in(&self, query: &str) -> Vec<u32> {
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

// A table of texts.

/// Texts, each with a number, in the order in which they came.
#[derive(Clone, Debug, Default)]
pub(super) struct TextTable(IndexSet<Box<str>, DefaultHashBuilder>);

impl TextTable {
    /// The number of a text; a new text gets the next one.
    pub(super) fn number(&mut self, text: &str) -> u32 {
        self.get(text).unwrap_or_else(|| self.0.insert_full(text.into()).0 as u32)
    }

    /// The number of a known text.
    pub(super) fn get(&self, text: &str) -> Option<u32> {
        self.0.get_index_of(text).map(|number| number as u32)
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }
}

// A tool as an entry: its author's texts, and its parameters.

/// Deepest level of parameters, and most parameters of a tool, that are read.
const MAX_DEPTH: usize = 3;
const MAX_PARAMETERS: usize = 200;
/// Most values of an enumeration that are read.
const MAX_VALUES: usize = 40;

impl From<&Tool> for IndexEntry {
    fn from(tool: &Tool) -> Self {
        let definition = &tool.definition;
        let mut exact: Vec<String> = vec![tool.name.clone()];
        for name in [&tool.safe_name, &tool.op].into_iter().chain(&tool.aliases) {
            if !exact.contains(name) {
                exact.push(name.clone());
            }
        }
        let mut texts = vec![(Field::Name, definition.name.clone()), (Field::Alias, tool.op.clone())];
        texts.extend(tool.aliases.iter().map(|alias| (Field::Alias, alias.clone())));
        texts.extend(definition.title.iter().map(|title| (Field::Alias, title.clone())));
        texts.push((Field::Short, tool.short.clone()));
        texts.push((Field::Long, tool.description.clone()));
        texts.extend(tool.returns.iter().map(|returns| (Field::Long, returns.clone())));
        texts.extend(definition.tags.iter().map(|tag| (Field::Label, tag.clone())));
        texts.extend(tool.categories.iter().map(|path| (Field::Label, path.to_string())));
        texts.extend(tool.server.iter().map(|server| (Field::Label, server.clone())));
        texts.extend(tool.notes.iter().map(|note| (Field::Example, note.clone())));
        let titles = tool.examples.iter().filter_map(|example| example.title.clone());
        texts.extend(titles.map(|title| (Field::Example, title)));
        let mut left = MAX_PARAMETERS;
        parameters(tool.parameters.schema(), 0, &mut left, &mut texts);
        Self {
            exact,
            texts,
            effect: Some(tool.effect),
            server: tool.server.clone(),
            categories: tool.categories.iter().map(ToString::to_string).collect(),
            actions: actions(tool.parameters.schema()),
        }
    }
}

/// Reads the properties of a schema, and those below them.
fn parameters(schema: &Value, depth: usize, left: &mut usize, texts: &mut Vec<(Field, String)>) {
    let properties = schema.get("properties").and_then(Value::as_object);
    for (name, property) in properties.into_iter().flatten() {
        if *left == 0 || depth > MAX_DEPTH {
            return;
        }
        *left -= 1;
        texts.push((Field::Parameter, name.clone()));
        let text = property.get("description").and_then(Value::as_str);
        texts.extend(text.map(|text| (Field::ParameterText, text.to_string())));
        let values = property.get("enum").and_then(Value::as_array).into_iter().flatten();
        let values = values.filter_map(Value::as_str).take(MAX_VALUES);
        texts.extend(values.map(|value| (Field::ParameterText, value.to_string())));
        parameters(property, depth + 1, left, texts);
    }
    for below in ["items", "anyOf", "oneOf", "allOf"] {
        match schema.get(below) {
            Some(Value::Array(several)) => {
                several.iter().for_each(|one| parameters(one, depth + 1, left, texts));
            }
            Some(one) => parameters(one, depth + 1, left, texts),
            None => {}
        }
    }
}
