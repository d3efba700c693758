//! Scripts whose end is all that a check sees of them, whatever calls them and
//! however it finds them: empty they pass, and with nothing but a failure they
//! fail. Who changes one says itself what is green.

use super::scripts::{Language, first_line, language};

/// A script that does nothing, or nothing but fail; `None` for a file that
/// nobody can start as it is.
pub(super) fn only_ends(path: &str, content: &[u8], fails: bool) -> Option<Vec<u8>> {
    let text = String::from_utf8_lossy(content);
    let failure = match language(path, &text)? {
        Language::Shell | Language::PowerShell | Language::Ruby | Language::Perl => "exit 1",
        Language::Python => "raise SystemExit(1)",
        Language::JavaScript => "throw new Error('1')",
        Language::Php => "<?php exit(1);",
    };
    let lines = [first_line(&text), fails.then_some(failure)];
    let lines = lines
        .into_iter()
        .flatten()
        .map(|line| line.to_owned() + "\n");
    Some(lines.collect::<String>().into_bytes())
}

#[cfg(test)]
mod tests {
    use super::only_ends;

    #[test]
    fn a_script_is_emptied_in_its_own_language() {
        for (path, text, empty, failing) in [
            ("a.sh", "true\n", "", "exit 1\n"),
            ("a", "#!/bin/sh\nx\n", "#!/bin/sh\n", "#!/bin/sh\nexit 1\n"),
            (
                "bin/a",
                "#!/usr/bin/env python3\nx\n",
                "#!/usr/bin/env python3\n",
                "#!/usr/bin/env python3\nraise SystemExit(1)\n",
            ),
            ("a.mjs", "x", "", "throw new Error('1')\n"),
        ] {
            let ended = |fails| only_ends(path, text.as_bytes(), fails).unwrap();
            assert_eq!(String::from_utf8(ended(false)).unwrap(), empty, "{path}");
            assert_eq!(String::from_utf8(ended(true)).unwrap(), failing, "{path}");
        }
        assert_eq!(only_ends("README", b"words", true), None);
        assert_eq!(only_ends("a.rs", b"fn main() {}", true), None);
    }
}
