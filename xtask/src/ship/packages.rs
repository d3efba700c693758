//! The packages that are made from one build: archive, Debian, npm, Homebrew.

use serde_json::json;

use super::archive::{self, Entry};
use super::{Build, Release};

/// What npm, Debian and Homebrew call a target; empty where they don't know it.
pub struct Names {
    pub triple: &'static str,
    pub node: (&'static str, &'static str),
    pub debian: &'static str,
}

pub const NAMES: [Names; 4] = [
    Names {
        triple: "x86_64-unknown-linux-musl",
        node: ("linux", "x64"),
        debian: "amd64",
    },
    Names {
        triple: "aarch64-unknown-linux-musl",
        node: ("linux", "arm64"),
        debian: "arm64",
    },
    Names {
        triple: "aarch64-apple-darwin",
        node: ("darwin", "arm64"),
        debian: "",
    },
    Names {
        triple: "x86_64-pc-windows-gnu",
        node: ("win32", "x64"),
        debian: "",
    },
];

impl Names {
    pub fn of(triple: &str) -> Option<&'static Names> {
        NAMES.iter().find(|names| names.triple == triple)
    }

    fn node(&self) -> String {
        format!("{}-{}", self.node.0, self.node.1)
    }
}

const ABOUT: &str = "Works a task list off with a coding agent, and believes evidence, not words";
const LAUNCHER: &str = include_str!("../../../packaging/npm/ralph.js");

/// All that is made from one build, by file name.
pub fn all(release: &Release, build: &Build) -> Result<Vec<(String, Vec<u8>)>, String> {
    let names = Names::of(&build.triple).ok_or_else(|| format!("no names for {}", build.triple))?;
    let mut made = vec![archive_of(release, build)?];
    if !names.debian.is_empty() {
        made.push(debian(release, build, names)?);
    }
    made.push(npm(release, build, names)?);
    made.push((
        format!("ralph-{}-{}.cdx.json", release.version, build.triple),
        build.sbom.clone().into_bytes(),
    ));
    Ok(made)
}

fn archive_of(release: &Release, build: &Build) -> Result<(String, Vec<u8>), String> {
    let name = format!("ralph-{}-{}", release.version, build.triple);
    let mut entries = vec![Entry::program(build.file_name(), build.program.clone())];
    entries.extend(release.papers.iter().cloned());
    entries.extend(release.man.iter().map(|page| page.below("man")));
    entries.extend(
        release
            .completions
            .iter()
            .map(|file| file.below("completions")),
    );
    entries.push(Entry::new("sbom.cdx.json", build.sbom.clone()));
    let entries: Vec<Entry> = entries.iter().map(|entry| entry.below(&name)).collect();
    match build.triple.contains("windows") {
        true => Ok((format!("{name}.zip"), archive::zip(&entries)?)),
        false => Ok((
            format!("{name}.tar.gz"),
            archive::tar_gz(&entries, release.time)?,
        )),
    }
}

/// Where the completions of each shell lie on Debian.
const DEBIAN_COMPLETIONS: [(&str, &str); 3] = [
    ("ralph.bash", "usr/share/bash-completion/completions/ralph"),
    ("_ralph", "usr/share/zsh/vendor-completions/_ralph"),
    (
        "ralph.fish",
        "usr/share/fish/vendor_completions.d/ralph.fish",
    ),
];

fn debian(release: &Release, build: &Build, names: &Names) -> Result<(String, Vec<u8>), String> {
    let mut data = vec![Entry::program("usr/bin/ralph", build.program.clone())];
    for page in &release.man {
        let name = format!("usr/share/man/man1/{}.gz", page.name);
        data.push(Entry::new(name, archive::gzip(&page.bytes)?));
    }
    for (file, place) in DEBIAN_COMPLETIONS {
        let found = release.completions.iter().find(|entry| entry.name == file);
        data.extend(found.map(|entry| Entry::new(place, entry.bytes.clone())));
    }
    for paper in &release.papers {
        let name = match paper.name.as_str() {
            "LICENSE-MIT" => "copyright",
            other => other,
        };
        data.push(
            paper
                .clone()
                .named(format!("usr/share/doc/ralph-loop/{name}")),
        );
    }
    data.push(Entry::new(
        "usr/share/doc/ralph-loop/sbom.cdx.json",
        build.sbom.clone(),
    ));
    let kilobytes = data.iter().map(|entry| entry.bytes.len()).sum::<usize>() / 1024;
    let (version, architecture) = (&release.version, names.debian);
    let control = format!(
        "Package: ralph-loop\nVersion: {version}\nArchitecture: {architecture}\n\
         Maintainer: The Ralph Loop authors <ralph-loop@localhost>\n\
         Installed-Size: {kilobytes}\nRecommends: git, bubblewrap\nSuggests: gh, tmux\n\
         Section: devel\nPriority: optional\nDescription: {ABOUT}\n \
         One static program. An agent is not part of it: `ralph agents` lists\n \
         those that it knows.\n"
    );
    let below = |entries: Vec<Entry>| -> Vec<Entry> {
        entries.iter().map(|entry| entry.below(".")).collect()
    };
    let control = archive::tar_gz(&below(vec![Entry::new("control", control)]), release.time)?;
    let data = archive::tar_gz(&below(data), release.time)?;
    let members = [
        ("debian-binary", b"2.0\n".to_vec()),
        ("control.tar.gz", control),
        ("data.tar.gz", data),
    ];
    Ok((
        format!("ralph-loop_{version}_{architecture}.deb"),
        archive::ar(&members, release.time),
    ))
}

/// The package of one platform, which the launcher depends on.
fn npm(release: &Release, build: &Build, names: &Names) -> Result<(String, Vec<u8>), String> {
    let (os, cpu) = names.node;
    let about = json!({
        "name": format!("@ralph-loop/{}", names.node()),
        "version": release.version,
        "description": format!("{ABOUT}: the program for {os} on {cpu}"),
        "license": "MIT OR Apache-2.0",
        "os": [os],
        "cpu": [cpu],
        "files": ["bin"],
        "preferUnplugged": true,
    });
    let mut entries = vec![
        Entry::new("package/package.json", pretty(&about)?),
        Entry::program(
            format!("package/bin/{}", build.file_name()),
            build.program.clone(),
        ),
    ];
    entries.extend(licences(release));
    let name = format!("ralph-loop-{}-{}.tgz", names.node(), release.version);
    Ok((name, archive::tar_gz(&entries, release.time)?))
}

/// The package that people install: it finds the program of its platform.
pub fn launcher(release: &Release) -> Result<(String, Vec<u8>), String> {
    let optional: serde_json::Map<String, serde_json::Value> = NAMES
        .iter()
        .map(|names| {
            let name = format!("@ralph-loop/{}", names.node());
            (name, json!(release.version))
        })
        .collect();
    let about = json!({
        "name": "ralph-loop",
        "version": release.version,
        "description": ABOUT,
        "license": "MIT OR Apache-2.0",
        "bin": { "ralph": "bin/ralph.js" },
        "files": ["bin"],
        "engines": { "node": ">=18" },
        "optionalDependencies": optional,
    });
    let mut entries = vec![
        Entry::new("package/package.json", pretty(&about)?),
        Entry::program("package/bin/ralph.js", LAUNCHER),
    ];
    entries.extend(licences(release));
    let readme = release
        .papers
        .iter()
        .filter(|paper| paper.name == "README.md");
    entries.extend(readme.map(|paper| paper.below("package")));
    let name = format!("ralph-loop-{}.tgz", release.version);
    Ok((name, archive::tar_gz(&entries, release.time)?))
}

fn licences(release: &Release) -> impl Iterator<Item = Entry> {
    let papers = release.papers.iter();
    papers
        .filter(|paper| paper.name.starts_with("LICENSE"))
        .map(|paper| paper.below("package"))
}

fn pretty(value: &serde_json::Value) -> Result<String, String> {
    let text = serde_json::to_string_pretty(value).map_err(|e| e.to_string())?;
    Ok(text + "\n")
}

/// For whoever has Homebrew: the archives of the release, each with its sum.
/// `sums` are those of `SHA256SUMS`; a target that was not built is left out.
pub fn formula(version: &str, base_url: &str, sums: &[(String, String)]) -> String {
    let block = |system: &str, triple: &str, condition: &str| {
        let file = format!("ralph-{version}-{triple}.tar.gz");
        let sum = sums.iter().find(|(name, _)| *name == file);
        sum.map(|(_, sum)| {
            format!(
                "  on_{system} do\n    if {condition}\n      url \"{base_url}/{file}\"\n      \
                 sha256 \"{sum}\"\n    end\n  end\n"
            )
        })
    };
    let blocks: String = [
        block("macos", "aarch64-apple-darwin", "Hardware::CPU.arm?"),
        block("linux", "x86_64-unknown-linux-musl", "Hardware::CPU.intel?"),
        block("linux", "aarch64-unknown-linux-musl", "Hardware::CPU.arm?"),
    ]
    .into_iter()
    .flatten()
    .collect();
    format!(
        "class RalphLoop < Formula\n  desc \"{ABOUT}\"\n  version \"{version}\"\n  \
         license any_of: [\"MIT\", \"Apache-2.0\"]\n{blocks}\n  def install\n    \
         bin.install \"ralph\"\n    man1.install Dir[\"man/*.1\"]\n    \
         bash_completion.install \"completions/ralph.bash\" => \"ralph\"\n    \
         zsh_completion.install \"completions/_ralph\"\n    \
         fish_completion.install \"completions/ralph.fish\"\n  end\n\n  test do\n    \
         assert_match version.to_s, shell_output(\"#{{bin}}/ralph --version\")\n    \
         system bin/\"ralph\", \"self-check\"\n  end\nend\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A formula names what was built and nothing else.
    #[test]
    fn a_formula_names_only_what_was_built() {
        let sums = [(
            "ralph-1.2.3-aarch64-apple-darwin.tar.gz".to_owned(),
            "ab".to_owned(),
        )];
        let text = formula("1.2.3", "https://example.com/v1.2.3", &sums);
        assert!(text.contains("on_macos do"), "{text}");
        assert!(text.contains("/v1.2.3/ralph-1.2.3-aarch64-apple-darwin.tar.gz\""));
        assert!(text.contains("sha256 \"ab\""));
        assert!(!text.contains("on_linux"), "{text}");
    }
}
