//! Vectors by the hash of model and text: in memory, and in a file if the operator names one.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};

/// A hash of model and text.
pub(super) type Key = [u8; 32];

/// First bytes of a file.
const MAGIC: &[u8; 20] = b"toolcrib vectors 01\n";
/// Largest file, in bytes.
const MAX_BYTES: u64 = 4 << 30;
/// Most vectors of other catalogs that a file keeps.
const MAX_OTHERS: usize = 50_000;

/// The file of vectors cannot be written.
#[derive(Debug, thiserror::Error)]
#[error("cannot write {}: {cause}", file.display())]
pub(super) struct SaveError {
    file: PathBuf,
    cause: std::io::Error,
}

/// Vectors by key.
#[derive(Debug)]
pub(super) struct VectorStore {
    identity: String,
    file: Option<PathBuf>,
    vectors: HashMap<Key, UnitVector>,
    length: Option<usize>,
    saved: usize,
}

impl VectorStore {
    /// The stored vectors of a model; an incomplete file counts as empty.
    pub(super) fn open(identity: &str, folder: Option<&Path>) -> Self {
        let name = blake3::hash(identity.as_bytes()).to_hex();
        let file = folder.map(|folder| folder.join(format!("{}.vectors", &name[..16])));
        let vectors = file.as_deref().and_then(|file| read(file, identity)).unwrap_or_default();
        let length = vectors.values().next().map(|vector| vector.len());
        Self { identity: identity.into(), file, saved: vectors.len(), vectors, length }
    }

    /// The key of a text.
    pub(super) fn key(&self, text: &str) -> Key {
        let mut hash = blake3::Hasher::new();
        hash.update(&(self.identity.len() as u64).to_le_bytes());
        hash.update(self.identity.as_bytes()).update(text.as_bytes());
        *hash.finalize().as_bytes()
    }

    pub(super) fn get(&self, key: &Key) -> Option<&UnitVector> {
        self.vectors.get(key)
    }

    pub(super) fn has(&self, key: &Key) -> bool {
        self.vectors.contains_key(key)
    }

    /// The length of all vectors.
    pub(super) fn length(&self) -> Option<usize> {
        self.length
    }

    /// Whether a vector is as long as the stored ones; otherwise the model has changed.
    pub(super) fn takes(&self, vector: &[f32]) -> bool {
        self.length.is_none_or(|length| length == vector.len())
    }

    /// Number of vectors that are not in the file.
    pub(super) fn unsaved(&self) -> usize {
        self.vectors.len().abs_diff(self.saved)
    }

    /// Removes all vectors.
    pub(super) fn clear(&mut self) {
        self.vectors.clear();
        (self.length, self.saved) = (None, 0);
    }

    /// Keeps a vector.
    pub(super) fn insert(&mut self, key: Key, vector: &[f32]) {
        self.length = Some(vector.len());
        self.vectors.insert(key, unit(vector));
    }

    /// Removes the vectors that are not among these, once there are many of them.
    pub(super) fn keep(&mut self, wanted: &HashSet<Key>) {
        if self.vectors.len() > wanted.len() + MAX_OTHERS {
            self.vectors.retain(|key, _| wanted.contains(key));
        }
    }

    /// Writes the file if there are new vectors; whole, or not at all.
    pub(super) fn save(&mut self) -> Result<(), SaveError> {
        let Some(file) = &self.file else { return Ok(()) };
        let (Some(length), true) = (self.length, self.vectors.len() != self.saved) else { return Ok(()) };
        let mut bytes = MAGIC.to_vec();
        let sizes = [self.identity.len(), length, self.vectors.len()];
        sizes.iter().for_each(|size| bytes.extend((*size as u64).to_le_bytes()));
        bytes.extend(self.identity.as_bytes());
        let mut sorted: Vec<(&Key, &UnitVector)> = self.vectors.iter().collect();
        sorted.sort_by_key(|(key, _)| **key);
        for (key, vector) in sorted {
            bytes.extend(key);
            vector.iter().for_each(|number| bytes.extend(number.to_le_bytes()));
        }
        bytes.extend(blake3::hash(&bytes).as_bytes());
        write(file, &bytes).map_err(|cause| SaveError { file: file.clone(), cause })?;
        self.saved = self.vectors.len();
        Ok(())
    }
}

fn write(file: &Path, bytes: &[u8]) -> std::io::Result<()> {
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder)?;
    }
    // Several processes may write at once; the last one wins.
    let aside = file.with_extension(format!("{}.tmp", std::process::id()));
    let written = fs::File::create(&aside).and_then(|mut file| {
        file.write_all(bytes)?;
        file.sync_all()
    });
    let moved = written.and_then(|()| fs::rename(&aside, file));
    if moved.is_err() {
        let _ = fs::remove_file(&aside);
    }
    moved
}

/// The vectors of a file, if it is complete and of this model.
fn read(file: &Path, identity: &str) -> Option<HashMap<Key, UnitVector>> {
    if fs::metadata(file).ok()?.len() > MAX_BYTES {
        return None;
    }
    let bytes = fs::read(file).ok()?;
    let (body, sum) = bytes.split_last_chunk::<32>()?;
    if blake3::hash(body).as_bytes() != sum {
        return None;
    }
    let mut rest = body.strip_prefix(MAGIC)?;
    let mut size = || {
        let (size, more) = rest.split_first_chunk::<8>()?;
        rest = more;
        usize::try_from(u64::from_le_bytes(*size)).ok()
    };
    let (named, length, count) = (size()?, size()?, size()?);
    let rows = rest.strip_prefix(identity.as_bytes())?;
    let width = length.checked_mul(4)?.checked_add(32)?;
    if named != identity.len() || length == 0 || rows.len() != width.checked_mul(count)? {
        return None;
    }
    let vectors = rows.chunks_exact(width).filter_map(|row| {
        let (key, numbers) = row.split_first_chunk::<32>()?;
        let numbers = numbers.as_chunks::<4>().0.iter().map(|number| f32::from_le_bytes(*number));
        let vector: UnitVector = numbers.collect();
        vector.iter().all(|number| number.is_finite()).then_some((*key, vector))
    });
    Some(vectors.collect())
}

// The vectors of the tools of one catalog view, and similarities of queries to them.

/// A vector of length one, or of length zero for a text without a direction.
pub(super) type UnitVector = Arc<[f32]>;

/// Texts that no tool is about. The similarity of a query to these is the baseline of the model: some models find all
/// texts alike.
pub const UNRELATED: [&str; 12] = [
    "the old lighthouse keeper counted seagulls until dawn",
    "a recipe for plum jam with cinnamon",
    "glaciers carved this valley over thousands of years",
    "the orchestra tuned while rain fell on the roof",
    "knitting a woollen scarf in two colours",
    "medieval monks brewed beer in stone cellars",
    "the goalkeeper slipped on the wet grass",
    "volcanic soil is good for growing coffee",
    "her grandmother taught her to whistle",
    "dinosaur footprints in red sandstone",
    "a quiet canal with painted wooden boats",
    "owls hunt at night and sleep during the day",
];

/// The vectors of some tools, in their order.
#[derive(Debug)]
pub struct Vectors {
    pub(super) tools: Vec<UnitVector>,
    pub(super) unrelated: Vec<UnitVector>,
}

/// Texts whose vectors are wanted, and the vectors once they are there.
#[derive(Debug)]
pub struct VectorSlot {
    pub(super) texts: Vec<String>,
    pub(super) vectors: OnceLock<Vectors>,
    /// Whether its vectors have been requested.
    pub(super) is_wanted: AtomicBool,
}

/// Similarities of a query to each tool.
#[derive(Clone, Debug, PartialEq)]
pub struct Similarities {
    /// The cosine with each tool, in their order.
    pub cosine: Vec<f32>,
    /// The cosine with each of [`UNRELATED`].
    pub unrelated: f32,
}

impl VectorSlot {
    /// A slot for the vectors of these texts.
    pub fn new(texts: Vec<String>) -> Self {
        Self { texts, vectors: OnceLock::new(), is_wanted: AtomicBool::new(false) }
    }

    /// The vectors, once they are there.
    pub fn vectors(&self) -> Option<&Vectors> {
        self.vectors.get()
    }
}

impl Vectors {
    /// Similarities to a query; `None` when its vector has another length, as after a change of the model.
    pub(super) fn similarities(&self, query: &[f32]) -> Option<Similarities> {
        let all = || self.tools.iter().chain(&self.unrelated);
        if all().any(|vector| vector.len() != query.len()) {
            return None;
        }
        let near = |vectors: &[UnitVector]| vectors.iter().map(|vector| dot(vector, query)).collect();
        Some(Similarities::new(near(&self.tools), near(&self.unrelated)))
    }
}

/// Normalised similarities at which confidence is full, and at which it begins.
const SURE: f32 = 0.65;
const UNSURE: f32 = 0.15;

impl Similarities {
    /// Similarities from the cosines with tools, and with [`UNRELATED`].
    pub fn new(cosine: Vec<f32>, mut unrelated: Vec<f32>) -> Self {
        unrelated.sort_by(f32::total_cmp);
        let unrelated = unrelated.get(unrelated.len() / 2).copied().unwrap_or_default();
        Self { cosine, unrelated }
    }

    /// Similarity of the tool at this position, scaled from unrelated texts (0) to the query itself (1).
    pub fn normalized(&self, place: usize) -> f32 {
        let cosine = self.cosine.get(place).copied().unwrap_or_default();
        ((cosine - self.unrelated) / (1.0 - self.unrelated).max(0.05)).clamp(0.0, 1.0)
    }

    /// Confidence in the tool at this position by similarity alone, from 0 to 1.
    pub fn confidence(&self, place: usize) -> f32 {
        ((self.normalized(place) - UNSURE) / (SURE - UNSURE)).clamp(0.0, 1.0)
    }
}

/// A vector of length one in the same direction.
pub(super) fn unit(vector: &[f32]) -> UnitVector {
    let size = vector.iter().map(|number| f64::from(*number).powi(2)).sum::<f64>().sqrt();
    let factor = if size > 0.0 { 1.0 / size } else { 0.0 };
    vector.iter().map(|number| (f64::from(*number) * factor) as f32).collect()
}

/// Eight sums at once, which the compiler turns into vector instructions.
fn dot(one: &[f32], other: &[f32]) -> f32 {
    let (ones, others) = (one.chunks_exact(8), other.chunks_exact(8));
    let rest: f32 = ones.remainder().iter().zip(others.remainder()).map(|(one, other)| one * other).sum();
    let mut sums = [0.0_f32; 8];
    for (one, other) in ones.zip(others) {
        for (sum, (one, other)) in sums.iter_mut().zip(one.iter().zip(other)) {
            *sum += one * other;
        }
    }
    rest + sums.iter().sum::<f32>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_back_and_a_damaged_one_is_as_good_as_none() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = VectorStore::open("model", Some(folder.path()));
        let key = store.key("text");
        assert_ne!(key, VectorStore::open("other", None).key("text"));
        store.insert(key, &[3.0, 4.0]);
        store.save().unwrap();
        let kept = VectorStore::open("model", Some(folder.path()));
        assert_eq!(&kept.get(&key).unwrap()[..], [0.6, 0.8]);
        assert!(!VectorStore::open("other", Some(folder.path())).has(&key));

        let file = store.file.clone().unwrap();
        let whole = fs::read(&file).unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is left aside");
        for end in 0..whole.len() {
            fs::write(&file, &whole[..end]).unwrap();
            assert!(!VectorStore::open("model", Some(folder.path())).has(&key));
        }
        for place in 0..whole.len() {
            let mut bytes = whole.clone();
            bytes[place] ^= 1;
            fs::write(&file, &bytes).unwrap();
            assert!(!VectorStore::open("model", Some(folder.path())).has(&key));
        }
        assert!(store.takes(&[1.0, 0.0]) && !store.takes(&[1.0]));
    }
}
