//! A column for each turn, in text.

const EIGHTHS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// Lines of `width` columns, the top first. Where there are more values than
/// columns, the last ones are shown.
pub fn columns(values: &[f64], width: usize, height: usize, unicode: bool) -> Vec<String> {
    let from = values.len().saturating_sub(width);
    let values = values.get(from..).unwrap_or_default();
    let most = values.iter().copied().fold(0.0, f64::max);
    let cell = |value: f64, row: usize| {
        let eighths = if most > 0.0 {
            (value / most * (height * 8) as f64).round() as usize
        } else {
            0
        };
        // What is more than nothing is seen.
        let eighths = if value > 0.0 { eighths.max(1) } else { 0 };
        let here = eighths.saturating_sub(row * 8).min(8);
        match (unicode, here) {
            (true, here) => EIGHTHS.get(here).copied().unwrap_or(' '),
            (false, 0) => ' ',
            (false, _) => '#',
        }
    };
    (0..height)
        .rev()
        .map(|row| values.iter().map(|&value| cell(value, row)).collect())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_in_proportion() {
        let shown = columns(&[0.0, 1.0, 2.0, 4.0], 10, 2, true).join("\n");
        assert_eq!(shown, "   █\n ▄██");
        let shown = columns(&[0.0, 0.001, 4.0], 2, 2, false).join("\n");
        assert_eq!(shown, " #\n##");
        assert_eq!(columns(&[], 5, 1, true), [""]);
        assert_eq!(columns(&[0.0], 5, 1, true), [" "]);
    }
}
