//! A static embedding model in a folder: a vector for each piece of a word, and a text is the mean of its pieces.
//!
//! 1. [`wordpiece`] takes a text apart, as `tokenizer.json` says.
//! 2. The vectors are those of `model.safetensors`.

mod wordpiece;

use std::collections::HashMap;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;

use wordpiece::WordPiece;

use super::{EmbeddingModel, MAX_DIMENSIONS, ModelError, problem_of_vectors};

/// Most bytes of a file that are read.
const MAX_TOKENIZER: u64 = 64 << 20;
const MAX_TENSORS: u64 = 2 << 30;
const MAX_CONFIG: u64 = 1 << 20;
/// Most pieces of a text that count.
const MAX_PIECES: usize = 512;

/// A static embedding model.
pub struct StaticModel {
    identity: String,
    pieces: WordPiece,
    /// The vectors of all pieces, one after the other.
    vectors: Vec<f32>,
    length: usize,
    /// The row and the weight of each piece, where the model has them.
    rows: Option<Vec<usize>>,
    weights: Option<Vec<f32>>,
    normalize: bool,
}

impl std::fmt::Debug for StaticModel {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        to.debug_struct("StaticModel").field("identity", &self.identity).finish_non_exhaustive()
    }
}

impl StaticModel {
    /// Reads the model in a folder: `tokenizer.json`, `model.safetensors`, `config.json`.
    pub fn open(folder: &Path) -> Result<Self, ModelError> {
        let mut hash = blake3::Hasher::new();
        let mut file = |name: &str, max: u64| {
            let bytes = read(&folder.join(name), max)
                .map_err(|problem| ModelError::Configuration(format!("{name} of the model: {problem}")))?;
            hash.update(&(bytes.len() as u64).to_le_bytes()).update(&bytes);
            Ok(bytes)
        };
        let tokenizer = file("tokenizer.json", MAX_TOKENIZER)?;
        let tensors = file("model.safetensors", MAX_TENSORS)?;
        let config = file("config.json", MAX_CONFIG)?;
        let identity = format!("folder {}", hash.finalize().to_hex());
        Self::read(&tokenizer, &tensors, &config, identity).map_err(ModelError::Configuration)
    }

    fn read(tokenizer: &[u8], tensors: &[u8], config: &[u8], identity: String) -> Result<Self, String> {
        let pieces = WordPiece::read(tokenizer).map_err(|problem| format!("tokenizer.json: {problem}"))?;
        let config: Value =
            serde_json::from_slice(config).map_err(|error| format!("config.json is not JSON: {error}"))?;
        let normalize = config.get("normalize").and_then(Value::as_bool).unwrap_or(true);
        let wrong = |problem: String| format!("model.safetensors: {problem}");
        let tensors = Tensors::read(tensors).map_err(wrong)?;
        let (vectors, shape) = tensors.numbers(&["embeddings", "0", "embedding.weight"]).map_err(wrong)?;
        let [count, length] = shape[..] else { return Err(wrong("`embeddings` is no table".into())) };
        if length == 0 || length > MAX_DIMENSIONS || count == 0 {
            return Err(wrong(format!("`embeddings` has {count} rows of {length} numbers")));
        }
        if vectors.iter().any(|number| !number.is_finite()) {
            return Err(wrong("`embeddings` has an invalid number".into()));
        }
        let rows = match tensors.has("mapping") {
            true => Some(tensors.numbers(&["mapping"]).map_err(wrong)?.0),
            false => None,
        };
        let rows: Option<Vec<usize>> =
            rows.map(|rows| rows.into_iter().map(|row| row.max(0.0) as usize).collect());
        let weights = match tensors.has("weights") {
            true => Some(tensors.numbers(&["weights"]).map_err(wrong)?.0),
            false => None,
        };
        let last = pieces.last();
        let known = rows.as_ref().map_or(count, Vec::len).min(weights.as_ref().map_or(usize::MAX, Vec::len));
        let is_beyond = rows.iter().flatten().any(|row| *row >= count);
        if last >= known || is_beyond {
            return Err(wrong(format!(
                "it has {known} vectors, and tokenizer.json wants more: {}",
                last + 1
            )));
        }
        if weights.iter().flatten().any(|weight| !weight.is_finite()) {
            return Err(wrong("`weights` has an invalid number".into()));
        }
        Ok(Self { identity, pieces, vectors, length, rows, weights, normalize })
    }

    fn vector(&self, text: &str) -> Vec<f32> {
        let mut sum = vec![0.0_f32; self.length];
        let pieces = self.pieces.split(text, MAX_PIECES);
        for &piece in &pieces {
            let row = self.rows.as_ref().map_or(piece, |rows| rows[piece]);
            let weight = self.weights.as_ref().map_or(1.0, |weights| weights[piece]);
            let vector = &self.vectors[row * self.length..(row + 1) * self.length];
            sum.iter_mut().zip(vector).for_each(|(sum, number)| *sum += weight * number);
        }
        let count = pieces.len().max(1) as f32;
        sum.iter_mut().for_each(|number| *number /= count);
        let size = sum.iter().map(|number| number * number).sum::<f32>().sqrt();
        if self.normalize && size > 0.0 {
            sum.iter_mut().for_each(|number| *number /= size);
        }
        sum
    }
}

impl EmbeddingModel for StaticModel {
    fn identity(&self) -> &str {
        &self.identity
    }

    fn embed(&self, texts: &[String], _: Duration) -> Result<Vec<Vec<f32>>, ModelError> {
        let vectors: Vec<Vec<f32>> = texts.iter().map(|text| self.vector(text)).collect();
        match problem_of_vectors(&vectors, texts.len()) {
            Some(problem) => Err(ModelError::Configuration(format!("the model answers {problem}"))),
            None => Ok(vectors),
        }
    }
}

fn read(path: &Path, max: u64) -> Result<Vec<u8>, String> {
    let file = File::open(path).map_err(|error| error.to_string())?;
    let mut bytes = Vec::new();
    let size = file.take(max + 1).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    if size as u64 > max { Err(format!("it is larger than {} MB", max >> 20)) } else { Ok(bytes) }
}

// `model.safetensors`: a header in JSON, then the numbers of named tables.

/// Longest header that is read, in bytes.
const MAX_HEADER: u64 = 16 << 20;

/// Named tables of numbers.
struct Tensors<'b> {
    tables: HashMap<String, Table>,
    data: &'b [u8],
}

#[derive(Deserialize)]
struct Table {
    dtype: String,
    shape: Vec<usize>,
    data_offsets: (usize, usize),
}

impl<'b> Tensors<'b> {
    /// Reads the header.
    fn read(bytes: &'b [u8]) -> Result<Self, String> {
        let cut = || "it is cut short".to_string();
        let (size, rest) = bytes.split_first_chunk::<8>().ok_or_else(cut)?;
        let size = u64::from_le_bytes(*size);
        if size > MAX_HEADER {
            return Err("this is no safetensors file".into());
        }
        let (header, data) = rest.split_at_checked(size as usize).ok_or_else(cut)?;
        let header: HashMap<String, Value> =
            serde_json::from_slice(header).map_err(|_| "this is no safetensors file".to_string())?;
        let tables = header.into_iter().filter(|(name, _)| name != "__metadata__");
        let tables = tables.map(|(name, table)| Ok((name, serde_json::from_value(table)?)));
        let tables: Result<_, serde_json::Error> = tables.collect();
        Ok(Self { tables: tables.map_err(|error| format!("its header: {error}"))?, data })
    }

    /// Whether there is a table of this name.
    fn has(&self, name: &str) -> bool {
        self.tables.contains_key(name)
    }

    /// The numbers of the first table with one of these names, and its shape.
    fn numbers(&self, names: &[&str]) -> Result<(Vec<f32>, Vec<usize>), String> {
        let found = names.iter().find_map(|name| Some((name, self.tables.get(*name)?)));
        let (name, table) = found.ok_or_else(|| format!("it has no `{}`", names[0]))?;
        let (from, to) = table.data_offsets;
        let bytes = self.data.get(from..to).ok_or_else(|| format!("`{name}` is cut short"))?;
        let (width, number): (usize, fn(&[u8]) -> f32) = match table.dtype.as_str() {
            "F32" => (4, |bytes| f32::from_le_bytes(fixed(bytes))),
            "F64" => (8, |bytes| f64::from_le_bytes(fixed(bytes)) as f32),
            "F16" => (2, |bytes| half(u16::from_le_bytes(fixed(bytes)))),
            "BF16" => (2, |bytes| f32::from_bits(u32::from(u16::from_le_bytes(fixed(bytes))) << 16)),
            "I8" => (1, |bytes| f32::from(bytes[0] as i8)),
            "I32" => (4, |bytes| i32::from_le_bytes(fixed(bytes)) as f32),
            "I64" => (8, |bytes| i64::from_le_bytes(fixed(bytes)) as f32),
            other => {
                return Err(format!(
                    "`{name}` holds {}, which is not read",
                    toolcrib_definition::clean_line(other)
                ));
            }
        };
        let count = table.shape.iter().try_fold(1_usize, |count, side| count.checked_mul(*side));
        if count.and_then(|count| count.checked_mul(width)) != Some(bytes.len()) {
            return Err(format!("`{name}` has another size than its shape"));
        }
        Ok((bytes.chunks_exact(width).map(number).collect(), table.shape.clone()))
    }
}

fn fixed<const N: usize>(bytes: &[u8]) -> [u8; N] {
    bytes.try_into().unwrap_or([0; N])
}

/// A number of 16 bits: a sign, 5 bits of exponent, 10 of fraction.
fn half(bits: u16) -> f32 {
    let sign = if bits >> 15 == 1 { -1.0 } else { 1.0 };
    let (exponent, fraction) = (i32::from(bits >> 10 & 31), f32::from(bits & 1023));
    match exponent {
        0 => sign * fraction * 2.0_f32.powi(-24),
        31 if fraction == 0.0 => sign * f32::INFINITY,
        31 => f32::NAN,
        _ => sign * (1.0 + fraction / 1024.0) * 2.0_f32.powi(exponent - 15),
    }
}

#[cfg(test)]
mod tests;
