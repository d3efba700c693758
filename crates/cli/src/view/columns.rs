//! Rows of words in columns that stand in line.

use ralph_core::text::width;

/// One line per row; every column but the last is as wide as its widest word.
pub fn columns<const N: usize>(rows: &[[String; N]]) -> String {
    let widest = |column: usize| {
        let words = rows.iter().filter_map(|row| row.get(column));
        words.map(|word| width::width(word)).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..N).map(widest).collect();
    let line = |row: &[String; N]| {
        let words = row.iter().zip(&widths);
        let padded: Vec<String> = words.map(|(word, &w)| width::pad_right(word, w)).collect();
        padded.join("  ").trim_end().to_owned() + "\n"
    };
    rows.iter().map(line).collect()
}
