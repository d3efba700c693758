//! String literals of Rust: what they say, and which placeholders they hold.

use std::collections::BTreeSet;

/// The value of a plain string literal as it stands in the source.
pub fn value(source: &str) -> Option<String> {
    let inner = source.strip_prefix('"')?.strip_suffix('"')?;
    let mut value = String::with_capacity(inner.len());
    let mut rest = inner.chars().peekable();
    while let Some(c) = rest.next() {
        if c != '\\' {
            value.push(c);
            continue;
        }
        match rest.next()? {
            'n' => value.push('\n'),
            't' => value.push('\t'),
            'r' => value.push('\r'),
            '0' => value.push('\0'),
            '\n' => while rest.next_if(|c| c.is_whitespace()).is_some() {},
            'x' => {
                let digits: String = rest.by_ref().take(2).collect();
                value.push(char::from(u8::from_str_radix(&digits, 16).ok()?));
            }
            'u' => {
                let digits: String = rest.by_ref().skip(1).take_while(|c| *c != '}').collect();
                value.push(char::from_u32(u32::from_str_radix(&digits, 16).ok()?)?);
            }
            other => value.push(other),
        }
    }
    Some(value)
}

/// A placeholder that only one of two format strings has. What shapes only
/// English (a plural's ending) has a name in `_en`, and may be left out.
pub fn placeholder_missing(english: &str, other: &str) -> Option<String> {
    let (ours, theirs) = (placeholders(english), placeholders(other));
    let odd = ours.symmetric_difference(&theirs);
    odd.into_iter().find(|name| !name.ends_with("_en")).cloned()
}

/// The names in a format string, without how they are shown.
fn placeholders(format: &str) -> BTreeSet<String> {
    let unescaped = format.replace("{{", "").replace("}}", "");
    let mut names = BTreeSet::new();
    for part in unescaped.split('{').skip(1) {
        let inside = part.split('}').next().unwrap_or_default();
        let name = inside.split(':').next().unwrap_or_default();
        names.insert(name.trim().to_owned());
    }
    names
}

#[cfg(test)]
mod tests {
    use super::{placeholder_missing, value};

    #[test]
    fn a_literal_is_read_as_the_compiler_reads_it() {
        for (source, want) in [
            (r#""plain""#, Some("plain")),
            (r#""a \"b\" \\ \n""#, Some("a \"b\" \\ \n")),
            (r#""\u{1f4e6} \x41""#, Some("\u{1f4e6} A")),
            ("\"one \\\n     two\"", Some("one two")),
            ("3", None),
        ] {
            assert_eq!(value(source).as_deref(), want, "{source}");
        }
    }

    #[test]
    fn every_placeholder_has_to_be_spoken() {
        for (english, other, want) in [
            ("{a} of {b:>3}", "{b} 之 {a}", None),
            ("{a}", "无", Some("a")),
            ("none", "{b}", Some("b")),
            ("{{json}} {n} task{s_en}", "{n} 個任務", None),
        ] {
            let odd = placeholder_missing(english, other);
            assert_eq!(odd.as_deref(), want, "{english} / {other}");
        }
    }
}
