//! The translations: what is missing, what nobody says any more, and words
//! that the glossary has another word for.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use proc_macro2::{TokenStream, TokenTree};

#[path = "../../crates/texts/src/literal.rs"]
mod literal;
#[path = "../../crates/texts/src/po.rs"]
mod po;

const LANGUAGES: [&str; 2] = ["zh-TW", "zh-CN"];
const GLOSSARY: &str = "docs/glossary.md";

/// Writes an empty entry for every text that a language lacks, and takes away
/// what is not said any more.
pub fn run(root: &Path) -> Result<(), Vec<String>> {
    for folder in speaking(root) {
        let said = said_in(&folder)?;
        for language in LANGUAGES {
            update(&folder.join("texts").join(language), &said).map_err(|e| vec![e])?;
        }
    }
    match check(root) {
        problems if problems.is_empty() => Ok(()),
        problems => Err(problems),
    }
}

/// What is wrong with the translations; the compiler says what is missing.
pub fn check(root: &Path) -> Vec<String> {
    let mut problems = Vec::new();
    let terms = terms(&std::fs::read_to_string(root.join(GLOSSARY)).unwrap_or_default());
    for folder in speaking(root) {
        let said = match said_in(&folder) {
            Ok(said) => said,
            Err(found) => {
                problems.extend(found);
                continue;
            }
        };
        for language in LANGUAGES {
            for (file, entries) in entries(&folder.join("texts").join(language)) {
                let shown = file.strip_prefix(root).unwrap_or(&file).display();
                for (english, translation) in &entries {
                    if !said.contains_key(english) {
                        problems.push(format!(
                            "{shown}: nobody says {english:?}: `cargo xtask texts` takes it away"
                        ));
                    }
                    if translation.is_empty() {
                        problems.push(format!("{shown}: {english:?} is not translated"));
                    } else if let Some(name) = literal::placeholder_missing(english, translation) {
                        problems.push(format!(
                            "{shown}: {translation:?} is at odds over {{{name}}}"
                        ));
                    }
                    for (word, instead) in terms.get(language).into_iter().flatten() {
                        if translation.contains(word.as_str()) {
                            problems.push(format!(
                                "{shown}: {translation:?} says {word}, the glossary {instead}"
                            ));
                        }
                    }
                }
            }
        }
    }
    problems
}

/// The crates that have texts.
fn speaking(root: &Path) -> Vec<PathBuf> {
    let crates = std::fs::read_dir(root.join("crates"))
        .into_iter()
        .flatten()
        .flatten();
    let mut folders: Vec<_> = crates.map(|entry| entry.path()).collect();
    folders.retain(|folder| folder.join("texts").is_dir());
    folders.sort();
    folders
}

/// Every English text of a crate, and the area that it belongs to.
fn said_in(folder: &Path) -> Result<BTreeMap<String, String>, Vec<String>> {
    let mut said = BTreeMap::new();
    let source = folder.join("src");
    for file in rust_files(&source) {
        let text = std::fs::read_to_string(&file).unwrap_or_default();
        let tokens: TokenStream = match text.parse() {
            Ok(tokens) => tokens,
            Err(error) => return Err(vec![format!("{}: {error}", file.display())]),
        };
        let below = file
            .strip_prefix(&source)
            .unwrap_or(&file)
            .with_extension("");
        let area = below.iter().next().unwrap_or_default().to_string_lossy();
        let area = if area == "lib" {
            "general".into()
        } else {
            area
        };
        let mut texts = BTreeSet::new();
        collect(tokens, &mut texts);
        for english in texts {
            said.entry(english)
                .or_insert_with(|| area.clone().into_owned());
        }
    }
    Ok(said)
}

fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            files.extend(rust_files(&path));
        } else if path.extension().is_some_and(|e| e == "rs") {
            files.push(path);
        }
    }
    files.sort();
    files
}

/// The texts of `tr!(…, "…")`, `text!("…")` and `#[say(…, "…", …)]`.
fn collect(tokens: TokenStream, texts: &mut BTreeSet<String>) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    for (at, token) in tokens.iter().enumerate() {
        let TokenTree::Group(group) = token else {
            continue;
        };
        let name = |back: usize| {
            at.checked_sub(back)
                .and_then(|at| tokens.get(at))
                .map(ToString::to_string)
        };
        let called = name(1).as_deref() == Some("!");
        let spoken = match name(if called { 2 } else { 1 }).as_deref() {
            Some("tr" | "text") if called => true,
            Some("say") if !called => true,
            _ => false,
        };
        if spoken {
            texts.extend(first_text(group.stream()));
        }
        collect(group.stream(), texts);
    }
}

/// The first text that is an argument of its own.
fn first_text(arguments: TokenStream) -> Option<String> {
    let mut begins = true;
    for token in arguments {
        match &token {
            TokenTree::Literal(text) if begins => {
                if let Some(text) = literal::value(&text.to_string()) {
                    return Some(text);
                }
                begins = false;
            }
            TokenTree::Punct(punct) => begins = punct.as_char() == ',',
            _ => begins = false,
        }
    }
    None
}

fn entries(folder: &Path) -> Vec<(PathBuf, Vec<(String, String)>)> {
    let read = |file: PathBuf| {
        let text = std::fs::read_to_string(&file).unwrap_or_default();
        let entries = po::read(&text).unwrap_or_default();
        (file, entries)
    };
    po::files(folder).into_iter().map(read).collect()
}

/// Keeps the order of what is there; new entries stand at the end of the file
/// of their area.
fn update(folder: &Path, said: &BTreeMap<String, String>) -> Result<(), String> {
    let known = po::read_folder(folder)?;
    let mut files: BTreeMap<PathBuf, Vec<(String, String)>> = entries(folder).into_iter().collect();
    for entries in files.values_mut() {
        entries.retain(|(english, _)| said.contains_key(english));
    }
    for (english, area) in said
        .iter()
        .filter(|(english, _)| !known.contains_key(*english))
    {
        let file = folder.join(area).with_extension("po");
        files
            .entry(file)
            .or_default()
            .push((english.clone(), String::new()));
    }
    let language = folder.file_name().unwrap_or_default().to_string_lossy();
    for (file, entries) in files {
        let mut text = format!(
            "msgid \"\"\nmsgstr \"\"\n\"Language: {language}\\n\"\n\"Content-Type: text/plain; charset=UTF-8\\n\"\n"
        );
        for (english, translation) in entries {
            text += &format!(
                "\nmsgid {}\nmsgstr {}\n",
                quoted(&english),
                quoted(&translation)
            );
        }
        std::fs::write(&file, text).map_err(|e| format!("{}: {e}", file.display()))?;
    }
    Ok(())
}

fn quoted(text: &str) -> String {
    let escaped = text.replace('\\', "\\\\").replace('"', "\\\"");
    format!("\"{}\"", escaped.replace('\n', "\\n").replace('\t', "\\t"))
}

/// Language → words that another is used for: the rows of the glossary's
/// table, `| English | zh-TW | zh-CN | not in zh-TW | not in zh-CN |`.
fn terms(glossary: &str) -> BTreeMap<&'static str, Vec<(String, String)>> {
    let mut terms: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for row in glossary.lines().filter_map(|line| line.strip_prefix("| ")) {
        let cells: Vec<&str> = row
            .trim_end_matches(" |")
            .split(" | ")
            .map(str::trim)
            .collect();
        let [_, tw, cn, not_tw, not_cn] = cells.as_slice() else {
            continue;
        };
        for (language, term, wrong) in [("zh-TW", tw, not_tw), ("zh-CN", cn, not_cn)] {
            let words = wrong
                .split('、')
                .map(str::trim)
                .filter(|word| !word.is_empty() && *word != "–");
            let rows = words.map(|word| (word.to_owned(), (*term).to_owned()));
            terms
                .entry(language)
                .or_default()
                .extend(rows.filter(|(word, _)| !word.starts_with("not in")));
        }
    }
    terms
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(source: &str) -> Vec<String> {
        let mut texts = BTreeSet::new();
        collect(source.parse().unwrap(), &mut texts);
        texts.into_iter().collect()
    }

    #[test]
    fn every_way_to_speak_is_found() {
        assert_eq!(said("fn f() { tr!(self.lang, \"a {b}\") }"), ["a {b}"]);
        assert_eq!(said("const A: Text = text!(\"a\");"), ["a"]);
        let source = "enum E { #[say(if x == \"no\", \"a\", b = c(\"no\"))] #[say(\"d\")] A }";
        assert_eq!(said(source), ["a", "d"]);
        assert_eq!(said("fn f() { say(\"a\"); print!(\"b\") }"), ["a"]);
    }

    #[test]
    fn planted_faults_are_found_and_mended() {
        let root = tempfile::tempdir().unwrap();
        let at = |path: &str| root.path().join(path);
        for language in LANGUAGES {
            std::fs::create_dir_all(at("crates/a/texts").join(language)).unwrap();
        }
        std::fs::create_dir_all(at("crates/a/src")).unwrap();
        std::fs::create_dir_all(at("docs")).unwrap();
        std::fs::write(at("crates/a/src/b.rs"), "fn f() { tr!(l, \"exit code\"); }").unwrap();
        std::fs::write(
            at("docs/glossary.md"),
            "| exit code | 結束碼 | 退出码 | 退出碼 | – |\n",
        )
        .unwrap();
        let po = "msgid \"exit code\"\nmsgstr \"退出碼\"\n\nmsgid \"old\"\nmsgstr \"舊\"\n";
        std::fs::write(at("crates/a/texts/zh-TW/b.po"), po).unwrap();
        let problems = check(root.path()).join("\n");
        assert!(problems.contains("nobody says \"old\""), "{problems}");
        assert!(
            problems.contains("says 退出碼, the glossary 結束碼"),
            "{problems}"
        );
        let left = run(root.path()).unwrap_err().join("\n");
        assert!(
            left.contains("zh-CN/b.po: \"exit code\" is not translated"),
            "{left}"
        );
        assert!(!left.contains("old"), "{left}");
    }
}
