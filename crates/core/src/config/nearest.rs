//! The known name that a person most likely meant.

/// The name among `known` that is nearest to `name`, if it is near enough to
/// be a slip: a letter or two, or the right word in the wrong section.
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let wanted = normal(name);
    let allowed = (wanted.chars().count() / 3).clamp(1, 4);
    known
        .into_iter()
        .map(|candidate| (distance_of(&wanted, &normal(candidate), allowed), candidate))
        .filter(|(distance, _)| *distance <= allowed)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Spelling that does not matter to a person: case, `-` for `_`.
fn normal(name: &str) -> String {
    name.to_lowercase().replace('-', "_")
}

/// The distance between two names, or one more than that between their last
/// parts where these stand in different sections.
fn distance_of(wanted: &str, candidate: &str, allowed: usize) -> usize {
    let whole = edit_distance(wanted, candidate, allowed);
    if !wanted.contains('.') && !candidate.contains('.') {
        return whole;
    }
    let last_parts = edit_distance(last_part(wanted), last_part(candidate), allowed);
    whole.min(last_parts.saturating_add(1))
}

fn last_part(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}

/// Insertions, deletions, replacements and swaps of neighbours that turn one
/// text into the other; counted no further than it matters, since every
/// variable of somebody else's that begins with RALPH_ is compared.
fn edit_distance(from: &str, to: &str, allowed: usize) -> usize {
    let from: Vec<char> = from.chars().collect();
    let to: Vec<char> = to.chars().collect();
    let at_least = from.len().abs_diff(to.len());
    if at_least > allowed {
        return at_least;
    }
    let mut before_last: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=to.len()).collect();
    for (i, &a) in from.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, &b) in to.iter().enumerate() {
            let replaced = last[j] + usize::from(a != b);
            let mut best = replaced.min(last[j + 1] + 1).min(row[j] + 1);
            let swapped = i > 0 && j > 0 && a == to[j - 1] && from[i - 1] == b;
            if swapped {
                best = best.min(before_last[j - 1] + 1);
            }
            row.push(best);
        }
        before_last = std::mem::replace(&mut last, row);
    }
    last[to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_are_counted() {
        for (from, to, want) in [
            ("", "", 0),
            ("abc", "", 3),
            ("", "abc", 3),
            ("stalled", "stalled", 0),
            ("staled", "stalled", 1),
            ("satlled", "stalled", 1),
            ("kitten", "sitting", 3),
            ("任務", "任务", 1),
        ] {
            assert_eq!(edit_distance(from, to, 9), want, "{from:?} {to:?}");
        }
    }

    #[test]
    fn slips_find_their_name_and_other_words_find_none() {
        let known = [
            "lang", "limits", "limits.max_iterations", "limits.max_duration", "agent.retry.max",
        ];
        for (name, want) in [
            ("limits.max_iteration", Some("limits.max_iterations")),
            ("limits.max-iterations", Some("limits.max_iterations")),
            ("limits.MaxIterations", Some("limits.max_iterations")),
            ("max_iterations", Some("limits.max_iterations")),
            ("loop.max_iterations", Some("limits.max_iterations")),
            ("limit", Some("limits")),
            ("lagn", Some("lang")),
            ("colour", None),
            ("x", None),
        ] {
            assert_eq!(nearest(name, known), want, "{name}");
        }
    }
}
