//! Columns: numbers, and lists of them, as they lie in a file. An index uses them in place, so that it is read by reading its
//! bytes.

use std::ops::Range;

use bytes::Bytes;

/// A number as it lies in a column, the least byte first.
pub(super) type Number = [u8; 4];

/// Reads a number of a column.
#[inline]
pub(super) fn integer(number: Number) -> u32 {
    u32::from_le_bytes(number)
}

/// Reads a number of a column that is a fraction.
#[inline]
pub(super) fn float(number: Number) -> f32 {
    f32::from_le_bytes(number)
}

/// A column of numbers.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Numbers(Bytes);

impl Numbers {
    #[inline]
    pub(super) fn all(&self) -> &[Number] {
        self.0.as_chunks().0
    }

    /// The number at a place; 0 where there is none.
    #[inline]
    pub(super) fn integer(&self, place: usize) -> u32 {
        self.all().get(place).map_or(0, |number| integer(*number))
    }

    /// The fraction at a place; 0 where there is none.
    #[inline]
    pub(super) fn float(&self, place: usize) -> f32 {
        self.all().get(place).map_or(0.0, |number| float(*number))
    }

    #[inline]
    pub(super) fn len(&self) -> usize {
        self.all().len()
    }
}

impl FromIterator<u32> for Numbers {
    fn from_iter<I: IntoIterator<Item = u32>>(numbers: I) -> Self {
        Self(numbers.into_iter().flat_map(u32::to_le_bytes).collect())
    }
}

impl FromIterator<f32> for Numbers {
    fn from_iter<I: IntoIterator<Item = f32>>(numbers: I) -> Self {
        numbers.into_iter().map(f32::to_bits).collect()
    }
}

/// Lists of records of `N` numbers each; a list is known by its row.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Rows<const N: usize> {
    /// The first record of each row; the last number is that of all records.
    starts: Numbers,
    records: Numbers,
}

impl<const N: usize> Rows<N> {
    /// Rows of these records, in their order.
    pub(super) fn of<R: IntoIterator<Item = [u32; N]>>(rows: impl IntoIterator<Item = R>) -> Self {
        let (mut starts, mut records) = (vec![0], Vec::new());
        for row in rows {
            row.into_iter().flatten().for_each(|number| records.extend(number.to_le_bytes()));
            starts.push((records.len() / (4 * N)) as u32);
        }
        Self { starts: starts.into_iter().collect(), records: Numbers(records.into()) }
    }

    /// Rows of records that come in another order; the records of a row keep theirs.
    pub(super) fn grouped(rows: usize, records: &[(u32, [u32; N])]) -> Self {
        let mut starts = vec![0_u32; rows + 1];
        records.iter().for_each(|(row, _)| starts[*row as usize + 1] += 1);
        for row in 0..rows {
            starts[row + 1] += starts[row];
        }
        let mut next = starts.clone();
        let mut grouped = vec![[[0; 4]; N]; records.len()];
        for (row, record) in records {
            let place = &mut next[*row as usize];
            grouped[*place as usize] = record.map(u32::to_le_bytes);
            *place += 1;
        }
        let records = Numbers(grouped.into_flattened().into_flattened().into());
        Self { starts: starts.into_iter().collect(), records }
    }

    /// Number of rows.
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// The places of a row's records among all records.
    #[inline]
    pub(super) fn range(&self, row: usize) -> Range<usize> {
        self.starts.integer(row) as usize..self.starts.integer(row + 1) as usize
    }

    /// The records of a row; none where there is no such row.
    #[inline]
    pub(super) fn row(&self, row: usize) -> &[[Number; N]] {
        self.all().get(self.range(row)).unwrap_or_default()
    }

    /// All records.
    #[inline]
    pub(super) fn all(&self) -> &[[Number; N]] {
        self.records.all().as_chunks().0
    }

    /// Whether the first number of every record is below a limit.
    pub(super) fn are_below(&self, limit: usize) -> bool {
        self.all().iter().all(|record| (integer(record[0]) as usize) < limit)
    }
}

/// Something that is stored as one or several columns.
pub(super) trait Columns: Sized {
    fn write(&self, to: &mut ColumnWriter);
    /// Reads what [`Columns::write`] wrote; `None` where that is something else.
    fn read(from: &mut ColumnReader) -> Option<Self>;
}

/// Columns, one after another, each behind its length.
#[derive(Debug, Default)]
pub(super) struct ColumnWriter(Vec<u8>);

impl ColumnWriter {
    pub(super) fn add(&mut self, column: &[u8]) {
        self.0.extend((column.len() as u64).to_le_bytes());
        self.0.extend(column);
        self.0.resize(self.0.len().next_multiple_of(size_of::<u64>()), 0);
    }

    pub(super) fn finish(self) -> Vec<u8> {
        self.0
    }
}

/// The columns that are still to be read.
#[derive(Debug)]
pub(super) struct ColumnReader(pub(super) Bytes);

impl ColumnReader {
    pub(super) fn next(&mut self) -> Option<Bytes> {
        let length = usize::try_from(u64::from_le_bytes(*self.0.first_chunk()?)).ok()?;
        let end = size_of::<u64>().checked_add(length)?;
        if self.0.len() < end {
            return None;
        }
        let column = self.0.slice(size_of::<u64>()..end);
        self.0 = self.0.slice(end.checked_next_multiple_of(size_of::<u64>())?.min(self.0.len())..);
        Some(column)
    }
}

impl Columns for Bytes {
    fn write(&self, to: &mut ColumnWriter) {
        to.add(self);
    }

    fn read(from: &mut ColumnReader) -> Option<Self> {
        from.next()
    }
}

impl Columns for Numbers {
    fn write(&self, to: &mut ColumnWriter) {
        self.0.write(to);
    }

    fn read(from: &mut ColumnReader) -> Option<Self> {
        from.next().map(Self)
    }
}

impl<const N: usize> Columns for Rows<N> {
    fn write(&self, to: &mut ColumnWriter) {
        self.starts.write(to);
        self.records.write(to);
    }

    fn read(from: &mut ColumnReader) -> Option<Self> {
        Some(Self { starts: Columns::read(from)?, records: Columns::read(from)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_come_back_from_their_bytes_and_broken_bytes_give_none() {
        let rows = Rows::of([vec![[1, 2], [3, 4]], vec![], vec![[5, 6]]]);
        assert_eq!(rows.row(0), [[[1, 0, 0, 0], [2, 0, 0, 0]], [[3, 0, 0, 0], [4, 0, 0, 0]]]);
        assert_eq!((rows.len(), rows.row(1).len(), rows.row(2).len(), rows.row(3).len()), (3, 0, 1, 0));
        assert!(rows.are_below(6) && !rows.are_below(5));
        let mut writer = ColumnWriter::default();
        rows.write(&mut writer);
        let bytes = Bytes::from(writer.finish());
        assert_eq!(Columns::read(&mut ColumnReader(bytes.clone())), Some(rows));
        for length in 0..bytes.len() - 7 {
            let short = Rows::<2>::read(&mut ColumnReader(bytes.slice(..length)));
            assert!(short.is_none(), "{length} bytes");
        }
    }
}
