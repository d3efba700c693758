//! The table and the picture that a comparison leaves.

use super::Subject;
use super::works::Showing;

/// One line of the table: its title, what each showed, and who did better.
struct Row {
    title: &'static str,
    cells: Vec<String>,
    /// For the picture: how long the bar is, the shorter the better.
    values: Vec<f64>,
}

fn rows(results: &[Showing]) -> Vec<Row> {
    let row = |title, cell: &dyn Fn(&Showing) -> String, value: &dyn Fn(&Showing) -> f64| Row {
        title,
        cells: results.iter().map(cell).collect(),
        values: results.iter().map(value).collect(),
    };
    let count = |n: usize| n as f64;
    vec![
        row(
            "liars who were believed",
            &|r| format!("{} of {}", r.believed.len(), r.liars),
            &|r| count(r.believed.len()),
        ),
        row("an honest agent is done", &|r| yes(r.honest_done), &|r| {
            f64::from(u8::from(!r.honest_done))
        }),
        row(
            "success told with a red last commit",
            &|r| r.red_and_done.to_string(),
            &|r| count(r.red_and_done),
        ),
        row(
            "processes left after Ctrl+C · TERM · kill -9",
            &|r| r.survivors.map(|n| n.to_string()).join(" · "),
            &|r| count(r.survivors.iter().sum()),
        ),
        row(
            "turns made again after kill -9",
            &|r| {
                r.after_kill
                    .map_or("not finished".into(), |n| n.to_string())
            },
            &|r| r.after_kill.map_or(3.0, count),
        ),
        row(
            "memory of the loop with 100 MB of output",
            &|r| format!("{} MB", r.flood.peak_kb / 1024),
            &|r| r.flood.peak_kb as f64,
        ),
        row(
            "time of that turn",
            &|r| format!("{} ms", r.flood.time.as_millis()),
            &|r| r.flood.time.as_secs_f64(),
        ),
        row(
            "time per turn of an agent that does almost nothing",
            &|r| format!("{} ms", r.gap.as_millis()),
            &|r| r.gap.as_secs_f64(),
        ),
    ]
}

fn yes(is: bool) -> String {
    if is { "yes" } else { "no" }.to_owned()
}

/// Who did best in a row, where somebody did.
fn best(row: &Row) -> Option<usize> {
    let least = row.values.iter().copied().fold(f64::INFINITY, f64::min);
    let mut winners = (0..row.values.len()).filter(|at| row.values[*at] <= least);
    let first = winners.next()?;
    winners.next().is_none().then_some(first)
}

pub fn page(subjects: &[Subject], results: &[Showing], untried: &[(&str, &str)]) -> String {
    let mut page = String::from(
        "# How it compares\n\nWritten by `cargo xtask compare`, which plays the same work to each \
         of them with the same scripted agent; run it again to see it yourself. Times are of one \
         machine that had other things to do: compare them within a row, not with yours. The best \
         of a row is **bold**, whoever it is; Ralph has its defaults and `--verify 'sh test.sh'`, bash the \
         usual `while` with `$(agent)` and a search for the tag, ralph-tui and ralph-orchestrator their defaults without a screen.\n\n\
         ![What was measured](../../pictures/compare.svg)\n\n| |",
    );
    for subject in subjects {
        page.push_str(&format!(" {} ({}) |", subject.name, subject.version));
    }
    page.push_str("\n|---|");
    page.push_str(&"---|".repeat(subjects.len()));
    page.push('\n');
    for row in rows(results) {
        page.push_str(&format!("| {} |", row.title));
        for (at, cell) in row.cells.iter().enumerate() {
            match best(&row) == Some(at) {
                true => page.push_str(&format!(" **{cell}** |")),
                false => page.push_str(&format!(" {cell} |")),
            }
        }
        page.push('\n');
    }
    page.push_str("\nWho was believed although nothing worked:\n\n");
    for (subject, result) in subjects.iter().zip(results) {
        let names = match result.believed.is_empty() {
            true => "nobody".to_owned(),
            false => result.believed.join("; "),
        };
        page.push_str(&format!("- {}: {names}\n", subject.name));
    }
    page.push_str("\n## Not tried\n\n| | why |\n|---|---|\n");
    for (name, why) in untried {
        page.push_str(&format!("| {name} | {why} |\n"));
    }
    page.push_str(
        "\nWhat this does not say: how good the work of a real agent is, and what a loop costs in \
         tokens. What an agent commits to your branch stays there; Ralph tells that it is not \
         proven, it does not take it back.\n",
    );
    page
}

const WIDTH: usize = 900;
const BAR: f64 = 380.0;
const LEFT: usize = 380;

/// A bar per row and subject, each row on a scale of its own.
pub fn picture(subjects: &[Subject], results: &[Showing]) -> String {
    let colours = ["#2f6f4f", "#b0563b", "#5b6ea8", "#8a7a2e"];
    let mut body = String::new();
    let mut y = 30;
    for (at, subject) in subjects.iter().enumerate() {
        let x = LEFT + at * 128;
        body.push_str(&format!(
            "<rect x='{x}' y='10' width='12' height='12' fill='{}'/><text x='{}' y='21'>{}</text>\n",
            colours[at % colours.len()],
            x + 18,
            subject.name
        ));
    }
    for row in rows(results) {
        y += 18;
        body.push_str(&format!(
            "<text x='10' y='{}'>{}</text>\n",
            y + 12,
            row.title
        ));
        let most = row.values.iter().copied().fold(0.0, f64::max).max(1e-9);
        for (at, (cell, value)) in row.cells.iter().zip(&row.values).enumerate() {
            let width = (value / most * BAR).max(2.0);
            body.push_str(&format!(
                "<rect x='{LEFT}' y='{y}' width='{width:.0}' height='14' fill='{}'/>\
                 <text x='{:.0}' y='{}'>{cell}</text>\n",
                colours[at % colours.len()],
                LEFT as f64 + width + 6.0,
                y + 12
            ));
            y += 18;
        }
    }
    let height = y + 20;
    format!(
        "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {WIDTH} {height}' width='{WIDTH}' \
         height='{height}' font-family='sans-serif' font-size='13'>\n\
         <rect width='{WIDTH}' height='{height}' fill='#ffffff'/>\n<g fill='#1b1b1b'>\n{body}</g>\n</svg>\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(values: &[f64]) -> Row {
        Row {
            title: "x",
            cells: vec![String::new(); values.len()],
            values: values.to_vec(),
        }
    }

    /// The least is best, and nobody is where two are equal.
    #[test]
    fn the_best_of_a_row_is_whoever_it_is() {
        assert_eq!(best(&row(&[2.0, 1.0])), Some(1));
        assert_eq!(best(&row(&[0.0, 1.0])), Some(0));
        assert_eq!(best(&row(&[1.0, 1.0])), None);
    }
}
