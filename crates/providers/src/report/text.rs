//! Numbers, columns and notes as text for people.

/// Columns at which a note is wrapped.
const WIDTH: usize = 110;

/// `1,234,567`.
pub fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Rounded to one decimal.
pub(crate) fn tenth(number: f64) -> f64 {
    (number * 10.0).round() / 10.0
}

/// Rows as columns: the first to the left, the others to the right.
pub(crate) fn aligned(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width =
        |column: usize| rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max();
    let widths: Vec<usize> = (0..columns).map(|column| width(column).unwrap_or(0)).collect();
    let line = |row: &Vec<String>| {
        let cells = row.iter().zip(&widths).enumerate().map(|(column, (cell, &width))| match column {
            0 => format!("{cell:<width$}"),
            _ => format!("{cell:>width$}"),
        });
        format!("{}\n", cells.collect::<Vec<_>>().join("  ").trim_end())
    };
    rows.iter().map(line).collect()
}

/// A share of `most` as a bar, in a column of `width` characters.
pub fn bar(count: usize, most: usize, width: usize) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let eighths = if most == 0 { 0 } else { (count.min(most) * width * 8).div_ceil(most) };
    let bar = "█".repeat(eighths / 8) + EIGHTHS[eighths % 8];
    format!("{bar:width$}")
}

/// A note as an item of a list.
pub(crate) fn wrapped(note: &str) -> String {
    let mut lines = vec![String::from("-")];
    for word in note.split_whitespace() {
        let line = lines.last().map_or(0, |line| line.chars().count());
        match lines.last_mut() {
            Some(last) if line + 1 + word.chars().count() <= WIDTH => *last += &format!(" {word}"),
            _ => lines.push(format!("  {word}")),
        }
    }
    lines.iter().map(|line| format!("{line}\n")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped_by_thousands() {
        let numbers = [0, 999, 1000, 12_345, 1_234_567];
        assert_eq!(numbers.map(grouped), ["0", "999", "1,000", "12,345", "1,234,567"]);
    }

    #[test]
    fn a_bar_is_as_long_as_its_share() {
        let bars = [0, 1, 50, 100].map(|count| bar(count, 100, 4));
        assert_eq!(bars, ["    ", "▏   ", "██  ", "████"]);
        assert_eq!(bar(3, 0, 2), "  ");
    }

    #[test]
    fn columns_stand_under_each_other() {
        let rows = [["a", "bound"], ["longer", "1"]].map(|row| row.map(str::to_string).to_vec());
        assert_eq!(aligned(&rows), "a       bound\nlonger      1\n");
    }
}
