//! Rust keeps tests beside the product: a file is split into both, so that
//! each can be brought back alone.

/// The byte ranges of the `#[cfg(test)]` items of a file.
fn test_parts(source: &str) -> Vec<std::ops::Range<usize>> {
    let mut parts = Vec::new();
    let mut from = 0;
    while let Some(found) = source.get(from..).and_then(|rest| rest.find(MARK)) {
        let start = from + found;
        let is_code = source
            .get(..start)
            .and_then(|before| before.rsplit('\n').next())
            .is_some_and(|line| line.trim().is_empty());
        let end = is_code
            .then(|| end_of_item(source, start + MARK.len()))
            .flatten();
        match end {
            Some(end) => {
                parts.push(start..end);
                from = end;
            }
            None => from = start + MARK.len(),
        }
    }
    parts
}

const MARK: &str = "#[cfg(test)]";

/// Where the item ends that begins at `at`: behind its block, or behind `;`.
fn end_of_item(source: &str, at: usize) -> Option<usize> {
    let bytes = source.as_bytes();
    let (mut i, mut depth) = (at, 0usize);
    while let Some(&byte) = bytes.get(i) {
        match byte {
            b'/' if bytes.get(i + 1) == Some(&b'/') => {
                i += source.get(i..)?.find('\n').unwrap_or(source.len() - i);
                continue;
            }
            b'/' if bytes.get(i + 1) == Some(&b'*') => {
                i += source.get(i..)?.find("*/")? + 2;
                continue;
            }
            b'"' => {
                i = end_of_string(bytes, i)?;
                continue;
            }
            b'\'' => {
                i = end_of_char(bytes, i);
                continue;
            }
            b';' if depth == 0 => return Some(i + 1),
            b'{' | b'(' | b'[' => depth += 1,
            b'}' | b')' | b']' => {
                depth = depth.checked_sub(1)?;
                if depth == 0 && byte == b'}' {
                    return Some(i + 1);
                }
            }
            _ => {}
        }
        i += 1;
    }
    None
}

fn end_of_string(bytes: &[u8], at: usize) -> Option<usize> {
    let hashes = bytes
        .get(..at)?
        .iter()
        .rev()
        .take_while(|&&byte| byte == b'#')
        .count();
    let is_raw = bytes.get(..at - hashes)?.last() == Some(&b'r');
    let mut i = at + 1;
    while let Some(&byte) = bytes.get(i) {
        match byte {
            b'\\' if !is_raw => i += 1,
            b'"' if !is_raw => return Some(i + 1),
            b'"' => {
                let closing = bytes
                    .get(i + 1..)?
                    .iter()
                    .take_while(|&&byte| byte == b'#')
                    .count();
                if closing >= hashes {
                    return Some(i + 1 + hashes);
                }
            }
            _ => {}
        }
        i += 1;
    }
    None
}

/// A character, or the name of a lifetime.
fn end_of_char(bytes: &[u8], at: usize) -> usize {
    let escaped = bytes.get(at + 1) == Some(&b'\\');
    let most = bytes.get(at + 1..).unwrap_or_default().iter().take(12);
    let skip = usize::from(escaped) * 2;
    match most.skip(skip).position(|&byte| byte == b'\'') {
        Some(end) if escaped || end <= 4 => at + 2 + skip + end,
        _ => at + 1,
    }
}

pub fn has_tests(source: &str) -> bool {
    !test_parts(source).is_empty()
}

/// The product of a file, without its tests.
pub fn product(source: &str) -> String {
    let mut rest = String::with_capacity(source.len());
    let mut from = 0;
    for part in test_parts(source) {
        rest.push_str(source.get(from..part.start).unwrap_or_default());
        from = part.end;
    }
    rest.push_str(source.get(from..).unwrap_or_default());
    rest
}

fn tests(source: &str) -> String {
    let parts = test_parts(source);
    let texts = parts.into_iter().filter_map(|part| source.get(part));
    texts.map(|text| format!("\n{text}\n")).collect()
}

/// The product of one text with the tests of another.
pub fn with_tests_of(product_of: &str, tests_of: &str) -> String {
    if tests(product_of) == tests(tests_of) {
        return product_of.to_owned();
    }
    product(product_of) + &tests(tests_of)
}

#[cfg(test)]
mod unit {
    use super::*;

    const SOURCE: &str = "pub fn a() -> char { '{' }\n\n#[cfg(test)]\nmod tests {\n    // }\n    const S: &str = \"}\";\n    const R: &str = r#\"}\"}\"#;\n    #[test]\n    fn b() { assert_eq!(super::a(), '}') }\n}\n";

    #[test]
    fn a_file_is_split_and_put_together() {
        let product = product(SOURCE);
        assert!(
            product.contains("pub fn a") && !product.contains("mod tests"),
            "{product}"
        );
        let other = "pub fn a() -> char { 'x' }\n#[cfg(test)]\nmod tests { #[test] fn c() {} }\n";
        let mixed = with_tests_of(SOURCE, other);
        assert!(
            mixed.contains("'{'") && mixed.contains("fn c") && !mixed.contains("fn b"),
            "{mixed}"
        );
        assert_eq!(with_tests_of(SOURCE, SOURCE), SOURCE);
    }

    #[test]
    fn lifetimes_and_words_in_strings_mislead_nobody() {
        let source =
            "fn f<'a>(x: &'a str) -> &'a str { x }\nconst S: &str = \"#[cfg(test)] mod x {\";\n";
        assert_eq!(product(source), source);
        assert!(!has_tests(source));
    }
}
