//! What can be told of a test file, a script and a settings file by reading.
//!
//! The readers know the forms of the usual test tools and nothing of the
//! languages; comments are left out line by line. What they do not know is
//! not watched.

use std::collections::BTreeSet;

use super::TestFile;

/// Test files are written by people; anything larger is data.
pub const MAX_BYTES: u64 = 1024 * 1024;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Tongue {
    Rust,
    Script,
    Python,
    Go,
    Ruby,
    Java,
    Bats,
}

fn tongue(path: &str) -> Option<Tongue> {
    let (_, extension) = path.rsplit_once('.')?;
    Some(match extension {
        "rs" => Tongue::Rust,
        "js" | "jsx" | "ts" | "tsx" | "mjs" | "cjs" | "mts" | "cts" | "vue" | "svelte" => {
            Tongue::Script
        }
        "py" => Tongue::Python,
        "go" => Tongue::Go,
        "rb" => Tongue::Ruby,
        "java" | "kt" | "kts" | "scala" | "cs" => Tongue::Java,
        "bats" => Tongue::Bats,
        _ => return None,
    })
}

/// Whether the file may hold tests. In Rust they stand in any file.
pub fn may_hold_tests(path: &str) -> bool {
    tongue(path) == Some(Tongue::Rust) || is_test_file(path)
}

/// Whether the name or the place of a file says that it is there for tests.
pub fn is_test_file(path: &str) -> bool {
    if tongue(path).is_none() {
        return false;
    }
    let mut parts = path.rsplit('/');
    let name = parts.next().unwrap_or_default();
    let stem = name.split('.').next().unwrap_or_default();
    let in_folder = parts.any(|part| {
        matches!(
            part,
            "test" | "tests" | "__tests__" | "spec" | "specs" | "e2e"
        )
    });
    in_folder
        || name.contains(".test.")
        || name.contains(".spec.")
        || name.ends_with(".bats")
        || stem.starts_with("test_")
        || ["_test", "_tests", "_spec", "Test", "Tests", "Spec"]
            .iter()
            .any(|end| stem.ends_with(end))
        || matches!(stem, "tests" | "conftest")
}

/// The tests of a file; `None` where it holds none.
pub fn read_tests(path: &str, text: &str) -> Option<TestFile> {
    let tongue = tongue(path)?;
    let mut reader = Reader {
        tongue,
        file: TestFile::default(),
        marked: false,
        skipped: false,
    };
    for line in text.lines() {
        reader.line(line.trim());
    }
    let file = reader.file;
    (!file.is_empty()).then_some(file)
}

struct Reader {
    tongue: Tongue,
    file: TestFile,
    /// An attribute said that the next function is a test.
    marked: bool,
    /// An attribute said that it does not run.
    skipped: bool,
}

impl Reader {
    fn line(&mut self, line: &str) {
        let comment = match self.tongue {
            Tongue::Python | Tongue::Ruby | Tongue::Bats => "#",
            _ => "//",
        };
        if line.is_empty() || line.starts_with(comment) || line.starts_with("/*") {
            return;
        }
        let asserts = [
            "assert", "expect(", "should", "require.", "t.Error", "t.Fatal",
        ];
        if asserts.iter().any(|word| line.contains(word)) {
            self.file.asserts += 1;
        }
        match self.tongue {
            Tongue::Rust => self.rust(line),
            Tongue::Script => self.script(line),
            Tongue::Python => self.python(line),
            Tongue::Go => self.go(line),
            Tongue::Ruby => self.ruby(line),
            Tongue::Java => self.java(line),
            Tongue::Bats => self.bats(line),
        }
    }

    fn test(&mut self, name: &str) {
        if std::mem::take(&mut self.skipped) {
            return;
        }
        self.file.names.insert(name.to_owned());
    }

    fn skip(&mut self) {
        self.file.skips += 1;
    }

    fn block(&mut self) {
        self.file.blocks += 1;
    }

    fn rust(&mut self, line: &str) {
        if let Some(attribute) = line.strip_prefix("#[") {
            let name = attribute.split(['(', ']', ' ', '=']).next();
            let name = name.unwrap_or_default();
            let last = name.rsplit("::").next().unwrap_or_default();
            if matches!(last, "test" | "rstest" | "test_case" | "proptest") {
                self.marked = true;
            }
            // `cfg(any())` compiles nothing.
            let off = attribute.starts_with("cfg(any())") || attribute.starts_with("cfg(never");
            if last == "ignore" || off {
                self.skip();
                self.skipped = true;
            }
            let attribute_only = line.ends_with(']');
            if attribute_only {
                return;
            }
        }
        let name = after_word(line, "fn ");
        if let Some(name) = name.filter(|_| self.marked) {
            self.marked = false;
            self.test(name);
        }
    }

    fn script(&mut self, line: &str) {
        let calls = ["it", "test", "specify"];
        for call in calls {
            for (form, runs) in [
                ("(", true),
                (".each", true),
                (".skip", false),
                (".todo", false),
            ] {
                if let Some(rest) = called(line, call, form) {
                    match (runs, quoted(rest)) {
                        (true, Some(name)) => self.test(name),
                        (true, None) => {}
                        (false, _) => self.skip(),
                    }
                }
            }
        }
        let off = [
            "xit(", "xtest(", "xspecify(", "it.fails", "test.fails", "test.fixme",
        ];
        if off.iter().any(|word| line.starts_with(word)) {
            self.skip();
        }
        let blocks = [
            "xdescribe(", "describe.skip", "suite.skip", "context.skip", "it.only", "test.only",
            "describe.only",
        ];
        if blocks.iter().any(|word| line.starts_with(word)) {
            self.block();
        }
    }

    fn python(&mut self, line: &str) {
        let decorators = [
            "@pytest.mark.skip",
            "@pytest.mark.xfail",
            "@unittest.skip",
            "@unittest.expectedFailure",
            "@skip",
        ];
        if decorators.iter().any(|word| line.starts_with(word)) {
            self.skip();
            self.skipped = true;
            return;
        }
        let calls = [
            "pytest.skip(",
            "self.skipTest(",
            "unittest.SkipTest",
            "pytestmark = pytest.mark.skip",
        ];
        if calls.iter().any(|word| line.contains(word)) {
            self.block();
        }
        let function = line.strip_prefix("async ").unwrap_or(line);
        if let Some(name) = after_word(function, "def ").filter(|name| name.starts_with("test")) {
            self.test(name);
        } else if line.starts_with("class ") && std::mem::take(&mut self.skipped) {
            // The mark was one of the whole class.
            self.file.skips = self.file.skips.saturating_sub(1);
            self.block();
        }
    }

    fn go(&mut self, line: &str) {
        let function = line.strip_prefix("func ").unwrap_or_default();
        let name = function.split('(').next().unwrap_or_default();
        let kinds = ["Test", "Fuzz", "Example", "Benchmark"];
        if kinds.iter().any(|kind| name.starts_with(kind)) {
            self.test(name);
        }
        if ["t.Skip(", "t.SkipNow(", "t.Skipf("]
            .iter()
            .any(|word| line.contains(word))
        {
            self.block();
        }
    }

    fn ruby(&mut self, line: &str) {
        for call in ["it", "specify", "test"] {
            let rest = line
                .strip_prefix(call)
                .filter(|r| r.starts_with([' ', '(']));
            if let Some(name) = rest.and_then(quoted) {
                self.test(name);
            }
        }
        if let Some(name) = after_word(line, "def ").filter(|name| name.starts_with("test_")) {
            self.test(name);
        }
        if ["xit ", "xit("].iter().any(|word| line.starts_with(word)) {
            self.skip();
        }
        let blocks = ["xdescribe ", "xcontext ", "pending", "skip"];
        if blocks.iter().any(|word| line.starts_with(word)) {
            self.block();
        }
    }

    fn java(&mut self, line: &str) {
        let marks = ["@Test", "@ParameterizedTest", "[Fact", "[Theory", "[Test"];
        if marks.iter().any(|mark| line.starts_with(mark)) {
            self.marked = true;
        }
        let off = ["@Disabled", "@Ignore", "[Ignore"];
        if off.iter().any(|mark| line.starts_with(mark)) || line.contains("Skip =") {
            self.skip();
            self.skipped = true;
        }
        let head = line.split('(').next().unwrap_or_default();
        let is_function = line.contains('(') && !line.starts_with(['@', '[']);
        if self.marked && is_function {
            self.marked = false;
            let name = head.split_whitespace().next_back().unwrap_or_default();
            self.test(name);
        }
    }

    fn bats(&mut self, line: &str) {
        if let Some(name) = line.strip_prefix("@test").and_then(quoted) {
            self.test(name);
        }
        if line == "skip" || line.starts_with("skip ") {
            self.block();
        }
    }
}

/// What follows `call` and `form` where the line begins with them.
fn called<'a>(line: &'a str, call: &str, form: &str) -> Option<&'a str> {
    line.strip_prefix("await ")
        .unwrap_or(line)
        .strip_prefix(call)?
        .strip_prefix(form)
}

/// The word behind `keyword`, up to what can't be part of a name.
fn after_word<'a>(line: &'a str, keyword: &str) -> Option<&'a str> {
    let rest = match line.strip_prefix(keyword) {
        Some(rest) => rest,
        None => line.split_once(&format!(" {keyword}"))?.1,
    };
    let name = rest
        .split(|c: char| !c.is_alphanumeric() && c != '_')
        .next()?;
    (!name.is_empty()).then_some(name)
}

/// The first text in quotes.
fn quoted(text: &str) -> Option<&str> {
    let at = text.find(['"', '\'', '`'])?;
    let rest = text.get(at..)?;
    let quote = rest.chars().next()?;
    let inside = rest.get(1..)?;
    inside.split(quote).next()
}

/// The parts of a configuration file of Ralph's that say what is verified, in
/// a form that does not depend on how they are written.
pub fn settings_of(text: &str) -> String {
    let Ok(table) = text.parse::<toml::Table>() else {
        return text.to_owned();
    };
    let parts = ["verify", "gate", "e2e"];
    let of = |name: &&str| table.get(*name).map(|part| format!("{name}={part:?}"));
    parts.iter().filter_map(of).collect::<Vec<_>>().join("\n")
}

/// The commands of a target in a Makefile or a justfile.
pub fn recipe(text: &str, target: &str) -> Option<String> {
    let mut lines = text.lines().skip_while(|line| {
        let head = line.split(':').next().unwrap_or_default();
        let is_rule = line.contains(':') && !line.starts_with([' ', '\t', '#']);
        !(is_rule && head.split_whitespace().any(|word| word == target))
    });
    let head = lines.next()?;
    let depends = head.split_once(':')?.1.trim().to_owned();
    let body = lines.take_while(|line| line.starts_with([' ', '\t']));
    let all: Vec<&str> = std::iter::once(depends.as_str())
        .chain(body.map(str::trim))
        .filter(|line| !line.is_empty())
        .collect();
    Some(all.join("\n"))
}

/// Whether a script can only succeed.
pub fn trivial(script: &str) -> bool {
    let harmless: BTreeSet<&str> = ["true", ":", "exit", "echo", "printf", "exit 0"].into();
    let mut any = false;
    let only_harmless = script
        .split(['\n', ';'])
        .flat_map(|line| line.split("&&"))
        .map(|part| part.trim().trim_start_matches(['@', '-']).trim())
        .filter(|part| !part.is_empty())
        .all(|part| {
            any = true;
            let word = part.split_whitespace().next().unwrap_or_default();
            harmless.contains(word) && part != "exit 1"
        });
    let forgiven = ["|| true", "||true", "|| :", "|| exit 0"]
        .iter()
        .any(|end| script.trim_end().ends_with(end));
    !any || only_harmless || forgiven
}
