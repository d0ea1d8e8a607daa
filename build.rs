//! Compiles the word lists of search (`src/search/words/`): reading and stemming them at each start would take longer
//! than all else. `src/search/word_list.rs` reads the outcome.

// Modules of the crate, which this program needs in part.
#[allow(dead_code)]
#[path = "src/search/columns.rs"]
mod columns;
#[allow(dead_code)]
#[path = "src/finding/nearest.rs"]
mod nearest;
#[allow(dead_code)]
#[path = "src/search/reference_lines.rs"]
mod reference_lines;
#[allow(dead_code)]
#[path = "src/search/relations.rs"]
mod relations;
#[allow(dead_code)]
#[path = "src/search/spelling.rs"]
mod spelling;
#[allow(dead_code)]
#[path = "src/search/stemming.rs"]
mod stemming;
#[allow(dead_code)]
#[path = "src/search/text_table.rs"]
mod text_table;
#[allow(dead_code)]
#[path = "src/search/thesaurus.rs"]
mod thesaurus;
#[allow(dead_code)]
#[path = "src/search/topics.rs"]
mod topics;
#[allow(dead_code)]
#[path = "src/search/vocabulary.rs"]
mod vocabulary;
#[allow(dead_code)]
#[path = "src/search/weights.rs"]
mod weights;
#[allow(dead_code)]
#[path = "src/search/word_list.rs"]
mod word_list;
#[allow(dead_code)]
#[path = "src/search/words.rs"]
mod words;

mod finding {
    pub(crate) use super::nearest::SlipPolicy;
}

/// The English list, as this program has just compiled it.
mod languages {
    use std::sync::LazyLock;

    use super::word_list::WordList;

    pub(crate) static ENGLISH: LazyLock<WordList> = LazyLock::new(|| {
        let read = |ending| std::fs::read(super::outcome("english", ending)).expect("the compiled list");
        let text = String::from_utf8(read("txt")).expect("the words of the list");
        WordList::new(text.leak(), read("table").leak())
    });
}

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::{env, fs, io};

use columns::{ColumnWriter, Columns, Rows};
use languages::ENGLISH;
use reference_lines::ReferenceLines;
use spelling::Spelling;
use text_table::TextTable;
use thesaurus::Thesaurus;
use topics::{TopicReader, TopicVector};
use word_list::{ACTION, BEGINS, MEANT, NONE, STOP, WEAK, hash};

/// Words of a list, each with its stem where it is known, and with facts.
type Words = BTreeMap<String, (Option<String>, u32)>;

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=src/search");
    println!("cargo::rerun-if-changed=src/tool/action_words.txt");
    println!("cargo::rustc-env=SEARCH_VERSION={:016x}", version(Path::new("src/search"), FNV_OFFSET)?);
    let english = Thesaurus::read(&list("english")?, thesaurus::phrase);
    compile("english", &english, english_words()?)?;
    write(&Spelling::of(english.meanings.keys().map(|key| &**key)), "english", "spelling")?;
    for (language, algorithm) in stemming::FOREIGN {
        let key = |text: &str| stemming::foreign_stem(&words::plain(text).join(" "), algorithm).into_owned();
        compile(language, &Thesaurus::read(&list(language)?, key), Words::new())?;
    }
    let dense: String = [list("zh")?, list("ja")?, list("ko")?].concat();
    compile("dense", &Thesaurus::read(&dense, str::to_string), Words::new())?;
    write(&reference_lines(&list("world")?), "world", "columns")
}

/// A file that this program makes.
fn outcome(name: &str, ending: &str) -> PathBuf {
    PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default()).join(name).with_extension(ending)
}

fn write(columns: &impl Columns, name: &str, ending: &str) -> io::Result<()> {
    let mut writer = ColumnWriter::default();
    columns.write(&mut writer);
    fs::write(outcome(name, ending), writer.finish())
}

/// Each line as a topic vector.
fn reference_lines(text: &str) -> ReferenceLines {
    let (mut vocabulary, synonyms) = (TextTable::default(), Thesaurus::default());
    let mut number = |word: &String| vocabulary.number(&ENGLISH.stemmed(word));
    let lines: Vec<Vec<u32>> =
        text.lines().map(|line| words::plain(line).iter().map(&mut number).collect()).collect();
    let mut reading = TopicReader::new(&vocabulary, &synonyms, vec![1.0; vocabulary.len()]);
    let about: Vec<TopicVector> = lines.iter().map(|line| reading.entry(line)).collect();
    let mut by_topic = Vec::new();
    for (about, line) in about.iter().zip(0..) {
        by_topic.extend(about.iter().map(|(topic, weight)| (*topic, [line, weight.to_bits()])));
    }
    let topics = by_topic.iter().map(|(topic, _)| topic + 1).max().unwrap_or_default();
    let records = |about: &TopicVector| -> Vec<[u32; 2]> {
        about.iter().map(|(topic, weight)| [*topic, weight.to_bits()]).collect()
    };
    ReferenceLines {
        lines: Rows::of(about.iter().map(records)),
        by_topic: Rows::grouped(topics as usize, &by_topic),
        topics: reading.into_topics(),
    }
}

const FNV_OFFSET: u64 = 0xcbf2_9ce4_8422_2325;

/// A hash of all files in a folder (FNV-1a): an index that other code made, or other lists, is not used.
fn version(folder: &Path, before: u64) -> io::Result<u64> {
    let mut paths: Vec<PathBuf> =
        fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<io::Result<_>>()?;
    paths.sort();
    paths.iter().try_fold(before, |hash, path| match path.is_dir() {
        true => version(path, hash),
        false => Ok(fs::read(path)?
            .into_iter()
            .fold(hash, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))),
    })
}

fn list(name: &str) -> io::Result<String> {
    fs::read_to_string(Path::new("src/search/words").join(name).with_extension("txt"))
}

/// The stems of all words of the English list, and the words that have a role of their own.
fn english_words() -> io::Result<Words> {
    let mut known = Words::new();
    words::words(&list("english")?, |word| {
        let stem = stemming::stemmed(word.text).into_owned();
        known.entry(word.text.to_string()).or_default().0 = Some(stem);
    });
    let mut mark = |text: &str, fact: u32, form: fn(&str) -> String| {
        let lines = text.lines().filter(|line| !line.starts_with('#'));
        lines.flat_map(str::split_whitespace).for_each(|word| known.entry(form(word)).or_default().1 |= fact);
    };
    let stem = |word: &str| stemming::stemmed(word).into_owned();
    mark(&list("stop")?, STOP, str::to_string);
    mark(&list("weak")?, WEAK, stem);
    mark(&fs::read_to_string("src/tool/action_words.txt")?, ACTION, stem);
    Ok(known)
}

/// Writes the text and the table of a list.
fn compile(name: &str, thesaurus: &Thesaurus, mut words: Words) -> io::Result<()> {
    for first in &thesaurus.phrases {
        words.entry(first.to_string()).or_default().1 |= BEGINS;
    }
    for (key, meanings) in &thesaurus.meanings {
        words.entry(key.to_string()).or_default();
        meanings.iter().for_each(|(stem, _)| words.entry(stem.to_string()).or_default().1 += 1 << MEANT);
    }
    for stem in words.values().filter_map(|(stem, _)| stem.clone()).collect::<Vec<_>>() {
        words.entry(stem).or_default();
    }
    let numbers: HashMap<&str, u32> = words.keys().map(String::as_str).zip(0..).collect();
    let (mut text, mut records, mut meanings) = (String::new(), Vec::new(), Vec::new());
    for (word, (stem, facts)) in &words {
        let stem = stem.as_ref().map_or(NONE, |stem| numbers[stem.as_str()]);
        records.extend([text.len() as u32, stem, meanings.len() as u32 / 2, *facts]);
        text.push_str(word);
        for (stem, weight) in thesaurus.meanings.get(word.as_str()).into_iter().flatten() {
            meanings.extend([numbers[&**stem], weight.to_bits()]);
        }
    }
    records.extend([text.len() as u32, NONE, meanings.len() as u32 / 2, 0]);
    let header = [thesaurus.meanings.len() as u32, records.len() as u32 / 4, meanings.len() as u32 / 2];
    let table = [&header[..], &records, &meanings, &slots(words.keys())].concat();
    let bytes: Vec<u8> = table.iter().flat_map(|number| number.to_le_bytes()).collect();
    fs::write(outcome(name, "txt"), text)?;
    fs::write(outcome(name, "table"), bytes)
}

/// The numbers of words by their hashes; half of the slots stay empty.
fn slots<'w>(words: impl ExactSizeIterator<Item = &'w String>) -> Vec<u32> {
    let mut slots = vec![NONE; (2 * words.len()).next_power_of_two()];
    let last = slots.len() - 1;
    for (word, number) in words.zip(0..) {
        let mut slot = hash(word) & last;
        while slots[slot] != NONE {
            slot = (slot + 1) & last;
        }
        slots[slot] = number;
    }
    slots
}
