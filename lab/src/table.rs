//! Tables for people, and the same as JSON.

use serde_json::Value;

/// A result, for people and for programs.
pub struct Printed {
    pub table: String,
    pub json: Value,
}

/// Prints the results of all sizes.
pub fn print(results: &[Printed], as_json: bool) {
    if as_json {
        println!("{:#}", Value::Array(results.iter().map(|result| result.json.clone()).collect()));
    } else {
        println!("{}", results.iter().map(|result| result.table.as_str()).collect::<Vec<_>>().join("\n"));
    }
}

/// Rounded to one decimal.
pub fn tenth(number: f64) -> f64 {
    (number * 10.0).round() / 10.0
}

/// Objects as rows, with a column for each field, and a head above it.
pub fn rows(objects: &[Value], columns: &[(&str, &str)]) -> String {
    let heads = columns.iter().map(|(head, _)| head.to_string()).collect();
    let row = |object: &Value| columns.iter().map(|(_, field)| text(&object[*field])).collect();
    let rows: Vec<Vec<String>> = [heads].into_iter().chain(objects.iter().map(row)).collect();
    let width = |column: usize| rows.iter().map(|row| row[column].len()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns.len()).map(width).collect();
    let line = |row: &Vec<String>| {
        let cells = row.iter().zip(&widths).map(|(cell, &width)| format!("{cell:<width$}"));
        format!("{}\n", cells.collect::<Vec<_>>().join("  ").trim_end())
    };
    rows.iter().map(line).collect()
}

/// A value without quotes.
pub fn text(value: &Value) -> String {
    match value {
        Value::Null => "-".into(),
        Value::String(text) => text.clone(),
        Value::Array(values) => values.iter().map(text).collect::<Vec<_>>().join(" "),
        value => value.to_string(),
    }
}
