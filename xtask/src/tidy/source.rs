//! A Rust file as the rules see it: code without comments, texts and tests.
//!
//! Parsed just enough: every byte keeps its place, so that lines can be told.

use std::ops::Range;

/// The production part of a file.
#[derive(Debug)]
pub struct Source {
    /// The file with everything blanked that is a comment, a literal text, or
    /// there for tests only.
    pub code: String,
    /// Lines that are there for production.
    pub lines: usize,
}

/// A function, from its `fn` to its last brace.
#[derive(Debug, PartialEq, Eq)]
pub struct Function {
    pub name: String,
    /// Counted from 1.
    pub line: usize,
    pub lines: usize,
}

impl Source {
    pub fn read(text: &str) -> Source {
        let mut code = mask(text);
        let mut lines = text.lines().count();
        while let Some(range) = next_test_item(&code) {
            let item = range.clone().map(|i| code.as_bytes()[i]);
            lines -= item.filter(|&b| b == b'\n').count();
            blank(&mut code, range);
        }
        Source { code, lines }
    }

    pub fn functions(&self) -> Vec<Function> {
        let bytes = self.code.as_bytes();
        let mut functions = Vec::new();
        for start in words(&self.code, "fn") {
            let name = identifier(&self.code, skip_space(bytes, start + 2));
            // Without a name it is the type of a function.
            if name.is_empty() {
                continue;
            }
            let Some(open) = body(bytes, start) else {
                continue;
            };
            let end = matching(bytes, open);
            let line_of = |at: usize| 1 + bytes[..at].iter().filter(|&&b| b == b'\n').count();
            functions.push(Function {
                name: name.to_owned(),
                line: line_of(start),
                lines: 1 + line_of(end) - line_of(start),
            });
        }
        functions
    }
}

/// Where a word stands by itself.
pub fn words<'a>(code: &'a str, word: &'a str) -> impl Iterator<Item = usize> + 'a {
    let bytes = code.as_bytes();
    code.match_indices(word)
        .map(|(at, _)| at)
        .filter(move |&at| {
            let before = at.checked_sub(1).map(|i| bytes[i]);
            let after = bytes.get(at + word.len()).copied();
            ![before, after].into_iter().flatten().any(is_part)
        })
}

/// The identifier that begins here; empty where none does.
pub fn identifier(code: &str, at: usize) -> &str {
    let rest = code.get(at..).unwrap_or_default();
    let end = rest.bytes().position(|b| !is_part(b));
    &rest[..end.unwrap_or(rest.len())]
}

pub fn is_part(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

pub fn skip_space(bytes: &[u8], mut at: usize) -> usize {
    while bytes.get(at).is_some_and(u8::is_ascii_whitespace) {
        at += 1;
    }
    at
}

/// The bracket that closes the one at `open`; the end where none does.
pub fn matching(bytes: &[u8], open: usize) -> usize {
    let mut depth = 0_usize;
    for (at, byte) in bytes.iter().enumerate().skip(open) {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return at;
                }
            }
            _ => {}
        }
    }
    bytes.len().saturating_sub(1)
}

/// The brace of a function's body; none where it is only declared.
fn body(bytes: &[u8], mut at: usize) -> Option<usize> {
    loop {
        match bytes.get(at)? {
            b'{' => return Some(at),
            b';' => return None,
            b'(' | b'[' => at = matching(bytes, at) + 1,
            _ => at += 1,
        }
    }
}

fn blank(code: &mut String, range: Range<usize>) {
    let keep = |c: char| {
        if c == '\n' {
            "\n".into()
        } else {
            " ".repeat(c.len_utf8())
        }
    };
    let blanks: String = code[range.clone()].chars().map(keep).collect();
    code.replace_range(range, &blanks);
}

/// Blanks comments and the insides of texts and characters.
pub fn mask(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut code = bytes.to_vec();
    let mut at = 0;
    while at < bytes.len() {
        let end = hidden_end(bytes, at);
        match end {
            Some(end) => {
                let hidden = code[at..end].iter_mut().filter(|b| **b != b'\n');
                hidden.for_each(|b| *b = b' ');
                at = end;
            }
            None => at += 1,
        }
    }
    String::from_utf8_lossy(&code).into_owned()
}

/// Where what begins here and is no code ends, if it does begin here.
fn hidden_end(bytes: &[u8], at: usize) -> Option<usize> {
    let rest = &bytes[at..];
    let ends_at = |end: Option<usize>| at + end.unwrap_or(rest.len());
    if rest.starts_with(b"//") {
        return Some(ends_at(rest.iter().position(|&b| b == b'\n')));
    }
    if rest.starts_with(b"/*") {
        return Some(ends_at(block_comment(rest)));
    }
    let begins_word = at == 0 || !is_part(bytes[at - 1]);
    match rest.first()? {
        b'"' => Some(ends_at(text_end(rest))),
        b'\'' => character_end(rest).map(|end| at + end),
        b'r' | b'b' | b'c' if begins_word => raw_end(rest).map(|end| at + end),
        _ => None,
    }
}

/// Comments may stand in comments.
fn block_comment(rest: &[u8]) -> Option<usize> {
    let mut depth = 0;
    let mut at = 0;
    while at + 1 < rest.len() {
        match &rest[at..at + 2] {
            b"/*" => (depth, at) = (depth + 1, at + 2),
            b"*/" => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
        if depth == 0 {
            return Some(at);
        }
    }
    None
}

fn text_end(rest: &[u8]) -> Option<usize> {
    let mut at = 1;
    while at < rest.len() {
        match rest[at] {
            b'\\' => at += 2,
            b'"' => return Some(at + 1),
            _ => at += 1,
        }
    }
    None
}

/// `'x'`, `'\n'`, `'\u{1b}'`, but not the lifetime `'x`.
fn character_end(rest: &[u8]) -> Option<usize> {
    if rest.get(1) == Some(&b'\\') {
        let end = rest.iter().skip(3).position(|&b| b == b'\'')?;
        return Some(end + 4);
    }
    // One character of up to four bytes.
    let end = rest.iter().take(6).skip(2).position(|&b| b == b'\'')? + 2;
    let inside = std::str::from_utf8(&rest[1..end]).ok()?;
    (inside.chars().count() == 1).then_some(end + 1)
}

/// `r"…"`, `r#"…"#`, and with `b` or `c` in front.
fn raw_end(rest: &[u8]) -> Option<usize> {
    let prefix = usize::from(matches!(rest[0], b'b' | b'c'));
    if rest.get(prefix) != Some(&b'r') {
        return None;
    }
    let hashes = rest[prefix + 1..]
        .iter()
        .take_while(|&&b| b == b'#')
        .count();
    let open = prefix + 1 + hashes;
    if rest.get(open) != Some(&b'"') {
        return None;
    }
    let close: Vec<u8> = [&b"\""[..], &b"#".repeat(hashes)].concat();
    let inside = &rest[open + 1..];
    let end = inside.windows(close.len()).position(|w| w == close);
    Some(end.map_or(rest.len(), |end| open + 1 + end + close.len()))
}

/// The next attribute that is for tests only, with its item.
fn next_test_item(code: &str) -> Option<Range<usize>> {
    let starts = ["#[cfg(test)]", "#[cfg(all(test"];
    let start = starts.iter().filter_map(|mark| code.find(mark)).min()?;
    Some(start..item_end(code, start))
}

/// Behind the item that the attribute at `start` belongs to.
fn item_end(code: &str, start: usize) -> usize {
    let bytes = code.as_bytes();
    let mut at = start;
    while bytes.get(at) == Some(&b'#') {
        at = skip_space(bytes, matching(bytes, at + 1) + 1);
    }
    let mut word = identifier(code, at);
    let mut begin = at;
    while ["pub", "async", "unsafe", "extern"].contains(&word) {
        begin = skip_space(bytes, begin + word.len());
        if bytes.get(begin) == Some(&b'(') {
            begin = skip_space(bytes, matching(bytes, begin) + 1);
        }
        word = identifier(code, begin);
    }
    let ends_with_brace = [
        "fn", "mod", "impl", "struct", "enum", "trait", "union", "macro_rules",
    ];
    let ends_with_semicolon = ["use", "const", "static", "type", "let"];
    let is_const_fn = word == "const" && code[begin..].starts_with("const fn");
    let (brace, comma) = match () {
        () if ends_with_brace.contains(&word) || is_const_fn => (true, false),
        () if ends_with_semicolon.contains(&word) => (false, false),
        // A field, an arm, a statement.
        () => (false, true),
    };
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'{' if brace => return matching(bytes, at) + 1,
            b'(' | b'[' | b'{' => at = matching(bytes, at) + 1,
            b';' => return at + 1,
            b',' if comma => return at + 1,
            b')' | b']' | b'}' => return at,
            _ => at += 1,
        }
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_code_is_blanked() {
        let check = |text: &str, want: &str| {
            let masked = mask(text);
            assert_eq!(masked.len(), text.len(), "{text}");
            let words: Vec<&str> = masked.split_whitespace().collect();
            assert_eq!(words.join(" "), want, "{text}");
        };
        check("a // b\nc", "a c");
        check("a /* b /* c */ d */ e", "a e");
        check(r#"f("}\"{", b)"#, "f( , b)");
        check(r##"f(r#"}"{"#, b)"##, "f( , b)");
        check("f('{', '\\'', '\\u{1b}')", "f( , , )");
        check("fn f<'a>(x: &'a str)", "fn f<'a>(x: &'a str)");
        check("'é' é", "é");
        check("for r in b", "for r in b");
    }

    fn production(text: &str) -> String {
        let source = Source::read(text);
        source.code.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn exactly_the_item_behind_the_attribute_goes() {
        let check = |text: &str, want: &str| assert_eq!(production(text), want, "{text}");
        check("#[cfg(test)]\nmod tests;\nfn a() {}", "fn a() {}");
        check(
            "#[cfg(test)]\nmod t { fn x() { \"}\" } }\nfn a() {}",
            "fn a() {}",
        );
        check("#[cfg(test)]\nuse a::{b, c};\nfn a() {}", "fn a() {}");
        check(
            "#[cfg(test)]\n#[derive(Debug)]\npub(crate) struct X(u8);\nfn a() {}",
            "fn a() {}",
        );
        check(
            "#[cfg(test)]\nconst X: [u8; 2] = [1, 2];\nfn a() {}",
            "fn a() {}",
        );
        check(
            "#[cfg(test)]\npub const fn x() -> u8 { 1 }\nfn a() {}",
            "fn a() {}",
        );
        check(
            "struct S { #[cfg(test)] a: u8, b: u8 }",
            "struct S { b: u8 }",
        );
        check("enum E { A, #[cfg(test)] B }", "enum E { A, }");
        check(
            "#[cfg(all(test, unix))]\nimpl X { }\nfn a() {}",
            "fn a() {}",
        );
        check("// #[cfg(test)]\nfn a() {}", "fn a() {}");
    }

    #[test]
    fn lines_are_those_of_production() {
        let text = "//! A\n\nfn a() {}\n\n#[cfg(test)]\nmod tests {\n    x\n}\nfn b() {}\n";
        assert_eq!(Source::read(text).lines, 6);
    }

    #[test]
    fn functions_are_measured_to_their_last_brace() {
        let text = "fn a(x: [u8; 2]) {\n  let f: fn(u8) = b;\n  '}';\n}\ntrait T { fn t(); }\n";
        let functions = Source::read(text).functions();
        let a = Function {
            name: "a".into(),
            line: 1,
            lines: 4,
        };
        assert_eq!(functions, [a]);
    }
}
