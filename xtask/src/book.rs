//! `cargo xtask book`: the manual, as a tree that mdBook reads and as HTML.
//!
//! Chapters lie in `docs/book/src` and include the pages of `docs`; the
//! reference is made by the program itself. Every link has to lead somewhere.
//! Where mdBook is not installed, a small renderer of our own does.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::process::{Command, Stdio};

use pulldown_cmark::{Event, Options, Parser, Tag, html};

use crate::{cargo, tools};

const SOURCE: &str = "docs/book/src";
const SUMMARY: &str = "SUMMARY.md";
const INCLUDE: &str = "{{#include ";

pub fn run(root: &Path) -> Result<(), Vec<String>> {
    let ralph = cargo::debug_ralph(root).map_err(|e| vec![e])?;
    let place = cargo::target(root).join("book");
    let book = Book::lay(root, &place, &ralph).map_err(|e| vec![e])?;
    let problems = book.dead_links();
    if !problems.is_empty() {
        return Err(problems);
    }
    book.write().map_err(|e| vec![e])?;
    fs::copy(root.join("docs/book/book.toml"), place.join("book.toml"))
        .map_err(|e| vec![e.to_string()])?;
    if tools::on_path("mdbook").is_some() {
        // Versions of mdBook differ on what a relative place is relative to.
        let html = place.join("html");
        let mut mdbook = Command::new("mdbook");
        mdbook.arg("build").arg(&place).arg("-d").arg(&html);
        cargo::succeed(&mut mdbook).map_err(|e| vec![e])?;
        println!("made by mdBook: {}", html.join("index.html").display());
    } else {
        book.render().map_err(|e| vec![e])?;
        println!(
            "mdBook is not installed (`cargo install mdbook`): made by a small renderer, without \
             its search and themes\n{}",
            place.join("html/index.html").display()
        );
    }
    Ok(())
}

/// Every chapter by its path below the source, as it will be read.
struct Book {
    place: PathBuf,
    chapters: BTreeMap<String, String>,
    pictures: PathBuf,
}

impl Book {
    fn lay(root: &Path, place: &Path, ralph: &Path) -> Result<Book, String> {
        let mut chapters = BTreeMap::new();
        let source = root.join(SOURCE);
        read_all(&source, &source, &mut chapters)?;
        let homes = homes(&chapters);
        for (name, text) in &mut chapters {
            *text = include(&source, name, &own_pictures(name, text), &homes)?;
        }
        type Made = fn(&Path) -> Result<String, String>;
        let reference: [(&str, Made); 3] = [
            ("reference/verbs.md", verbs),
            ("reference/settings.md", settings),
            ("reference/events.md", events),
        ];
        for (name, make) in reference {
            chapters.insert(name.to_owned(), make(ralph)?);
        }
        Ok(Book {
            place: place.to_owned(),
            chapters,
            pictures: root.join("docs/pictures"),
        })
    }

    /// Links of the table of contents and of chapters that lead nowhere, and
    /// chapters that nobody finds.
    fn dead_links(&self) -> Vec<String> {
        let mut problems = Vec::new();
        for (name, text) in &self.chapters {
            for target in links(text) {
                let file = target.split('#').next().unwrap_or_default();
                if file.is_empty() || file.contains("://") || file.starts_with("mailto:") {
                    continue;
                }
                let path = beside(name, file);
                let is_there = self.chapters.contains_key(&path)
                    || path
                        .strip_prefix("pictures/")
                        .is_some_and(|picture| self.pictures.join(picture).is_file());
                if !is_there {
                    problems.push(format!("{name}: {target} leads nowhere"));
                }
            }
        }
        let listed = self.listed();
        for name in self.chapters.keys().filter(|name| *name != SUMMARY) {
            if !listed.iter().any(|(listed, _)| listed == name) {
                problems.push(format!("{name} does not stand in {SUMMARY}"));
            }
        }
        problems
    }

    /// The chapters in their order, with their titles.
    fn listed(&self) -> Vec<(String, String)> {
        let summary = self.chapters.get(SUMMARY).map_or("", String::as_str);
        let entry = |line: &str| {
            let (title, rest) = line
                .trim_start_matches([' ', '-'])
                .strip_prefix('[')?
                .split_once("](")?;
            Some((rest.strip_suffix(')')?.to_owned(), title.to_owned()))
        };
        summary.lines().filter_map(entry).collect()
    }

    fn write(&self) -> Result<(), String> {
        let src = self.place.join("src");
        for (name, text) in &self.chapters {
            put(&src.join(name), text.as_bytes())?;
        }
        self.copy_pictures(&src)
    }

    fn copy_pictures(&self, to: &Path) -> Result<(), String> {
        let pictures = fs::read_dir(&self.pictures).map_err(|e| e.to_string())?;
        for picture in pictures.flatten() {
            let bytes = fs::read(picture.path()).map_err(|e| e.to_string())?;
            put(&to.join("pictures").join(picture.file_name()), &bytes)?;
        }
        Ok(())
    }

    /// One page per chapter, with the table of contents beside it.
    fn render(&self) -> Result<(), String> {
        let out = self.place.join("html");
        let listed = self.listed();
        for (at, (name, title)) in listed.iter().enumerate() {
            let depth = name.matches('/').count();
            let up = "../".repeat(depth);
            let mut contents = String::new();
            for (other, title) in &listed {
                let mark = if other == name {
                    " aria-current=\"page\""
                } else {
                    ""
                };
                let href = page_name(other);
                contents.push_str(&format!(
                    "<li><a href=\"{up}{href}\"{mark}>{title}</a></li>\n"
                ));
            }
            let next = listed.get(at + 1).map_or(String::new(), |(next, title)| {
                format!("<p><a href=\"{up}{}\">{title} →</a></p>", page_name(next))
            });
            let body = to_html(&self.chapters[name]);
            let page = format!(
                "<!doctype html>\n<html lang=\"{}\">\n<meta charset=\"utf-8\">\n\
                 <meta name=\"viewport\" content=\"width=device-width\">\n\
                 <title>{title}</title>\n<style>{STYLE}</style>\n\
                 <nav><ul>\n{contents}</ul></nav>\n<main>\n{body}\n{next}\n</main>\n</html>\n",
                language(name)
            );
            put(&out.join(page_name(name)), page.as_bytes())?;
        }
        if let Some((first, _)) = listed.first() {
            fs::copy(out.join(page_name(first)), out.join("index.html"))
                .map_err(|e| e.to_string())?;
        }
        self.copy_pictures(&out)
    }
}

const STYLE: &str = "body{margin:0;font:16px/1.6 system-ui,sans-serif;display:flex;\
color:#1b1b1b;background:#fff}nav{flex:0 0 17rem;padding:1rem;height:100vh;overflow:auto;\
position:sticky;top:0;box-sizing:border-box;border-right:1px solid #ccc}nav ul{list-style:none;\
padding:0}main{padding:1rem 2rem;max-width:52rem;min-width:0}pre{overflow:auto;padding:.8rem;\
background:#f3f3f3}table{border-collapse:collapse;display:block;overflow:auto}td,th{border:1px \
solid #ccc;padding:.3rem .6rem;vertical-align:top}img{max-width:100%}[aria-current]{font-weight:\
bold}@media(prefers-color-scheme:dark){body{color:#ddd;background:#161616}pre{background:#222}\
a{color:#8ab4f8}}@media(max-width:50rem){body{display:block}nav{height:auto;position:static}}";

fn language(name: &str) -> &'static str {
    match name.split('/').next() {
        Some("zh-TW") => "zh-TW",
        Some("zh-CN") => "zh-CN",
        _ => "en",
    }
}

fn options() -> Options {
    Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS
}

fn to_html(text: &str) -> String {
    let parser = Parser::new_ext(text, options()).map(|event| match event {
        Event::Start(Tag::Link {
            link_type,
            dest_url,
            title,
            id,
        }) if !dest_url.contains("://") => Event::Start(Tag::Link {
            link_type,
            dest_url: dest_url.replace(".md", ".html").into(),
            title,
            id,
        }),
        other => other,
    });
    let mut page = String::new();
    html::push_html(&mut page, parser);
    page
}

fn page_name(chapter: &str) -> String {
    chapter.replace(".md", ".html")
}

/// Where every link and picture of a page leads.
fn links(text: &str) -> Vec<String> {
    let events = Parser::new_ext(text, options());
    let target = |event| match event {
        Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
            Some(dest_url.into_string())
        }
        _ => None,
    };
    events.filter_map(target).collect()
}

fn read_all(
    dir: &Path,
    source: &Path,
    chapters: &mut BTreeMap<String, String>,
) -> Result<(), String> {
    let failed = |e: std::io::Error| format!("{}: {e}", dir.display());
    for entry in fs::read_dir(dir).map_err(failed)?.flatten() {
        let path = entry.path();
        if path.is_dir() {
            read_all(&path, source, chapters)?;
            continue;
        }
        let name = path.strip_prefix(source).unwrap_or(&path);
        let name = name.to_string_lossy().replace('\\', "/");
        chapters.insert(name, fs::read_to_string(&path).map_err(failed)?);
    }
    Ok(())
}

/// The file that a line includes.
fn included(line: &str) -> Option<&str> {
    line.strip_prefix(INCLUDE)?.strip_suffix("}}")
}

/// Which chapter holds which page of `docs`.
fn homes(chapters: &BTreeMap<String, String>) -> BTreeMap<String, String> {
    let mut homes = BTreeMap::new();
    for (name, text) in chapters {
        for file in text.lines().filter_map(included) {
            let page = file.rsplit('/').next().unwrap_or(file);
            homes.insert(page.to_owned(), name.clone());
        }
    }
    homes
}

/// A chapter with the pages that it includes, whose links lead to chapters.
fn include(
    source: &Path,
    name: &str,
    text: &str,
    homes: &BTreeMap<String, String>,
) -> Result<String, String> {
    let up = "../".repeat(name.matches('/').count());
    let mut whole = String::new();
    let alone = text.lines().filter(|line| !line.is_empty()).count() == 1;
    for line in text.lines() {
        let Some(file) = included(line) else {
            whole.push_str(line);
            whole.push('\n');
            continue;
        };
        let path = source.join(name).with_file_name("").join(file);
        let page = fs::read_to_string(&path).map_err(|e| format!("{name}: {file}: {e}"))?;
        for line in page.lines() {
            let line = moved_links(line, &up, homes);
            // Below other text its title is one among others.
            let lower = !alone && line.starts_with('#');
            whole.push_str(if lower { "#" } else { "" });
            whole.push_str(&line);
            whole.push('\n');
        }
    }
    Ok(whole)
}

/// Links between pages of `docs` lead to the chapters that hold them; those to
/// what is not in the book keep their words only.
fn moved_links(line: &str, up: &str, homes: &BTreeMap<String, String>) -> String {
    let mut moved = String::new();
    let mut rest = line;
    while let Some(at) = rest.find("](") {
        let (before, after) = rest.split_at(at);
        let Some(end) = after.find(')') else { break };
        let target = &after[2..end];
        rest = &after[end + 1..];
        let (file, mark) = match target.split_once('#') {
            Some((file, mark)) => (file, format!("#{mark}")),
            None => (target, String::new()),
        };
        let bare = file.trim_start_matches("../").trim_start_matches("docs/");
        moved.push_str(before);
        if file.contains("://") || file.is_empty() {
            moved.push_str(&format!("]({target})"));
        } else if bare.starts_with("pictures/") {
            moved.push_str(&format!("]({up}{bare})"));
        } else if let Some(home) = homes.get(bare) {
            moved.push_str(&format!("]({up}{home}{mark})"));
        } else if let Some(open) = moved.rfind('[') {
            moved.remove(open);
        }
    }
    moved + rest
}

/// A chapter names a picture from where it lies in the repository; in the book
/// pictures lie beside the chapters.
fn own_pictures(chapter: &str, text: &str) -> String {
    let up = "../".repeat(chapter.matches('/').count());
    text.replace(
        &format!("](../../{up}pictures/"),
        &format!("]({up}pictures/"),
    )
}

/// The path of a link that stands in a chapter, below the source.
fn beside(chapter: &str, link: &str) -> String {
    let mut parts: Vec<String> = Vec::new();
    let path = Path::new(chapter).with_file_name("").join(link);
    for part in path.components() {
        match part {
            Component::ParentDir if parts.last().is_some_and(|part| part != "..") => {
                parts.pop();
            }
            // It leads out of the book.
            Component::ParentDir => parts.push("..".into()),
            Component::Normal(part) => parts.push(part.to_string_lossy().into_owned()),
            _ => {}
        }
    }
    parts.join("/")
}

fn asked(ralph: &Path, args: &[&str]) -> Result<String, String> {
    let mut command = Command::new(ralph);
    command
        .args(args)
        .env("LANG", "C.UTF-8")
        .env("COLUMNS", "100")
        .env("RALPH_SANDBOX_MODE", "off")
        .stdin(Stdio::null());
    let output = command.output().map_err(|e| e.to_string())?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        false => Err(format!("ralph {}: {}", args.join(" "), output.status)),
    }
}

fn verbs(ralph: &Path) -> Result<String, String> {
    let help = asked(ralph, &["--help"])?;
    let mut page = format!("# Verbs\n\n```text\n{help}```\n");
    let listed = help
        .lines()
        .skip_while(|line| !line.ends_with("Start here:"));
    let listed = listed.take_while(|line| *line != "Options:");
    for line in listed {
        let Some(verb) = line
            .strip_prefix("  ")
            .and_then(|line| line.split(' ').next())
        else {
            continue;
        };
        let told = asked(ralph, &[verb, "--help"])?;
        page.push_str(&format!("\n## `ralph {verb}`\n\n```text\n{told}```\n"));
    }
    Ok(page)
}

fn settings(ralph: &Path) -> Result<String, String> {
    let reference = asked(ralph, &["config", "reference"])?;
    Ok(format!(
        "# Settings\n\n`.ralph/config.toml`, then the environment (`RALPH_LIMITS_MAX_ITERATIONS=20`), \
         then flags. `ralph config show --origin` says where each value comes from, `ralph config \
         check` names every mistake.\n\n```toml\n{reference}```\n"
    ))
}

/// Those of a whole run, with the first of each kind.
fn events(ralph: &Path) -> Result<String, String> {
    let told = asked(ralph, &["demo", "--json"])?;
    let mut first: Vec<(String, serde_json::Value)> = Vec::new();
    for line in told.lines() {
        let event: serde_json::Value = serde_json::from_str(line).map_err(|e| e.to_string())?;
        let name = event["event"].as_str().unwrap_or_default().to_owned();
        if !first.iter().any(|(known, _)| *known == name) {
            first.push((name, event));
        }
    }
    let mut page =
        "# Events\n\n`ralph run --json` prints one object per line, `ralph events` those \
                    of a run. This is the first of each kind in `ralph demo --json`; others are \
                    told where they happen.\n"
            .to_owned();
    for (name, event) in first {
        let text = serde_json::to_string_pretty(&event).map_err(|e| e.to_string())?;
        page.push_str(&format!("\n## `{name}`\n\n```json\n{text}\n```\n"));
    }
    Ok(page)
}

fn put(path: &Path, bytes: &[u8]) -> Result<(), String> {
    let failed = |e: std::io::Error| format!("{}: {e}", path.display());
    if let Some(dir) = path.parent() {
        fs::create_dir_all(dir).map_err(failed)?;
    }
    fs::write(path, bytes).map_err(failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_of_included_pages_lead_to_chapters() {
        let homes = BTreeMap::from([("guard.md".to_owned(), "guard-rules.md".to_owned())]);
        let moved = |line| moved_links(line, "../", &homes);
        assert_eq!(moved("a [b](guard.md#x) c"), "a [b](../guard-rules.md#x) c");
        assert_eq!(moved("![p](pictures/a.webp)"), "![p](../pictures/a.webp)");
        assert_eq!(moved("see [how](design/x.md)."), "see how.");
        assert_eq!(
            moved("[w](https://example.com)"),
            "[w](https://example.com)"
        );
        assert_eq!(moved("no [link"), "no [link");
    }

    #[test]
    fn a_link_is_meant_from_its_chapter() {
        let outside = "../../pictures/a.svg";
        assert_eq!(beside("start.md", outside), outside);
        let picture = own_pictures("zh-TW/a.md", "![p](../../../pictures/a.svg)");
        assert_eq!(picture, "![p](../pictures/a.svg)");
        assert_eq!(beside("zh-TW/start.md", "decides.md"), "zh-TW/decides.md");
        assert_eq!(beside("zh-TW/start.md", "../decides.md"), "decides.md");
        assert_eq!(
            beside("start.md", "reference/files.md"),
            "reference/files.md"
        );
    }

    /// A chapter that nobody lists and a link to nothing are told.
    #[test]
    fn what_leads_nowhere_is_told() {
        let chapters = [
            (SUMMARY, "[One](one.md)\n- [Gone](gone.md)\n"),
            ("one.md", "[self](#x) [two](two.md)"),
            ("two.md", ""),
        ];
        let chapters = chapters.map(|(name, text)| (name.to_owned(), text.to_owned()));
        let book = Book {
            place: PathBuf::new(),
            chapters: chapters.into(),
            pictures: PathBuf::new(),
        };
        assert_eq!(
            book.dead_links(),
            [
                "SUMMARY.md: gone.md leads nowhere",
                "two.md does not stand in SUMMARY.md"
            ]
        );
    }
}
