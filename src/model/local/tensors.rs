//! `model.safetensors`: a header in JSON, then the numbers of named tables.

use std::collections::HashMap;

use serde::Deserialize;
use serde_json::Value;

/// Longest header that is read, in bytes.
const MAX_HEADER: u64 = 16 << 20;

/// Named tables of numbers.
pub(super) struct Tensors<'b> {
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
    pub(super) fn read(bytes: &'b [u8]) -> Result<Self, String> {
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
    pub(super) fn has(&self, name: &str) -> bool {
        self.tables.contains_key(name)
    }

    /// The numbers of the first table with one of these names, and its shape.
    pub(super) fn numbers(&self, names: &[&str]) -> Result<(Vec<f32>, Vec<usize>), String> {
        let found = names.iter().find_map(|name| Some((name, self.tables.get(*name)?)));
        let (name, table) = found.ok_or_else(|| format!("it has no `{}`", names[0]))?;
        let (from, to) = table.data_offsets;
        let bytes = self.data.get(from..to).ok_or_else(|| format!("`{name}` is cut short"))?;
        let (width, number): (usize, fn(&[u8]) -> f32) = match table.dtype.as_str() {
            "F32" => (4, |bytes| f32::from_le_bytes(four(bytes))),
            "F64" => (8, |bytes| f64::from_le_bytes(eight(bytes)) as f32),
            "F16" => (2, |bytes| half(u16::from_le_bytes(two(bytes)))),
            "BF16" => (2, |bytes| f32::from_bits(u32::from(u16::from_le_bytes(two(bytes))) << 16)),
            "I8" => (1, |bytes| f32::from(bytes[0] as i8)),
            "I32" => (4, |bytes| i32::from_le_bytes(four(bytes)) as f32),
            "I64" => (8, |bytes| i64::from_le_bytes(eight(bytes)) as f32),
            other => {
                return Err(format!("`{name}` holds {}, which is not read", crate::tool::clean_line(other)));
            }
        };
        let count = table.shape.iter().try_fold(1_usize, |count, side| count.checked_mul(*side));
        if count.and_then(|count| count.checked_mul(width)) != Some(bytes.len()) {
            return Err(format!("`{name}` has another size than its shape"));
        }
        Ok((bytes.chunks_exact(width).map(number).collect(), table.shape.clone()))
    }
}

fn two(bytes: &[u8]) -> [u8; 2] {
    bytes.try_into().unwrap_or_default()
}

fn four(bytes: &[u8]) -> [u8; 4] {
    bytes.try_into().unwrap_or_default()
}

fn eight(bytes: &[u8]) -> [u8; 8] {
    bytes.try_into().unwrap_or_default()
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
mod tests {
    use super::*;

    #[test]
    fn halves_are_read() {
        let known = [(0x3c00, 1.0), (0xc000, -2.0), (0x7bff, 65504.0), (0x0001, 2.0_f32.powi(-24)), (0, 0.0)];
        for (bits, number) in known {
            assert_eq!(half(bits), number);
        }
        assert!(half(0x7c01).is_nan() && half(0xfc00) == f32::NEG_INFINITY);
    }
}
