//! The order of tasks as a picture: columns from left to right, what can go
//! side by side below each other.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::order::{Piece, Why};
use crate::text::{escape, one_line};

const WIDTH: usize = 220;
const HEIGHT: usize = 44;
const ACROSS: usize = 60;
const DOWN: usize = 16;
/// As many characters as fit into a box.
const LONGEST: usize = 26;

/// An SVG of what waits for what.
pub fn picture(pieces: &[Piece]) -> String {
    let columns = columns(pieces);
    let mut rows: BTreeMap<usize, usize> = BTreeMap::new();
    let mut places: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for (piece, &column) in pieces.iter().zip(&columns) {
        let row = rows.entry(column).or_default();
        let x = DOWN + column * (WIDTH + ACROSS);
        let y = DOWN + *row * (HEIGHT + DOWN);
        *row += 1;
        places.insert(&piece.id, (x, y));
    }
    let wide = columns.iter().max().map_or(0, |last| last + 1);
    let high = rows.values().max().copied().unwrap_or(0);
    let width = 2 * DOWN + wide * WIDTH + wide.saturating_sub(1) * ACROSS;
    let height = DOWN + high * (HEIGHT + DOWN);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" font-family=\"sans-serif\" font-size=\"13\">\n"
    );
    for piece in pieces {
        lines_to(piece, &places, &mut out);
    }
    for piece in pieces {
        let Some((x, y)) = places.get(piece.id.as_str()) else {
            continue;
        };
        let (id, text) = (
            escape(&one_line(&piece.id)),
            escape(&one_line(&shortened(&piece.text))),
        );
        let (left, first, second) = (x + 10, y + 18, y + 35);
        let _ = writeln!(
            out,
            "<rect x=\"{x}\" y=\"{y}\" width=\"{WIDTH}\" height=\"{HEIGHT}\" rx=\"6\" fill=\"#f4f6f8\" stroke=\"#57606a\"/>\n<text x=\"{left}\" y=\"{first}\" font-weight=\"bold\">{id}</text>\n<text x=\"{left}\" y=\"{second}\">{text}</text>"
        );
    }
    out.push_str("</svg>\n");
    out
}

fn lines_to(piece: &Piece, places: &BTreeMap<&str, (usize, usize)>, out: &mut String) {
    let Some(&(x, y)) = places.get(piece.id.as_str()) else {
        return;
    };
    for before in &piece.after {
        let Some(&(from_x, from_y)) = places.get(before.id.as_str()) else {
            continue;
        };
        let (x1, y1, y2) = (from_x + WIDTH, from_y + HEIGHT / 2, y + HEIGHT / 2);
        let dashes = match before.why {
            Why::Depends => "",
            Why::Phase | Why::Order => " stroke-dasharray=\"4 4\"",
        };
        let bend = x1 + ACROSS / 2;
        let _ = writeln!(
            out,
            "<path d=\"M{x1} {y1} C{bend} {y1} {bend} {y2} {x} {y2}\" fill=\"none\" stroke=\"#8c959f\"{dashes}/>"
        );
    }
}

/// Each stands one column behind the last that it waits for.
fn columns(pieces: &[Piece]) -> Vec<usize> {
    let mut columns = vec![0; pieces.len()];
    let place: BTreeMap<&str, usize> = {
        let ids = pieces.iter().enumerate();
        ids.map(|(n, piece)| (piece.id.as_str(), n)).collect()
    };
    // A cycle would go on for ever; no way is longer than all of them.
    for _ in 0..pieces.len() {
        let mut changed = false;
        for (n, piece) in pieces.iter().enumerate() {
            let before = piece.after.iter().filter_map(|b| place.get(b.id.as_str()));
            let column = before.filter_map(|&b| columns.get(b)).max();
            let column = column
                .map_or(0, |column: &usize| column + 1)
                .min(pieces.len());
            if let Some(known) = columns.get_mut(n)
                && *known < column
            {
                *known = column;
                changed = true;
            }
        }
        if !changed {
            break;
        }
    }
    columns
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or(text)),
        None => text.to_owned(),
    }
}
