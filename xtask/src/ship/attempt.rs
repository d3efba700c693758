//! `cargo xtask dist --try`: each package installed and used where nothing of
//! this project is: the archive by its installer, npm from its tarballs, and
//! the steps of the Containerfile, with the Debian package, on a bare Debian.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{SUMS, version};
use crate::{cargo, fresh, tools};

const CONTAINERFILE: &str = include_str!("../../../packaging/Containerfile");

pub fn run(root: &Path, folder: &Path) -> Result<(), Vec<String>> {
    let version = version(root).map_err(|e| vec![e])?;
    let trial = Trial {
        folder: folder.to_owned(),
        version,
        place: cargo::target(root).join("packages-try"),
    };
    type Attempt = fn(&Trial) -> Result<(), String>;
    let tries: [(&str, Attempt); 4] = [
        ("the archive by install.sh", Trial::installer),
        ("an archive that was changed", Trial::changed_archive),
        ("npm from tarballs", Trial::npm),
        ("the Containerfile, with the .deb", Trial::container),
    ];
    let mut problems = Vec::new();
    for (what, attempt) in tries {
        println!("== {what}");
        match attempt(&trial) {
            Ok(()) => println!("   works"),
            Err(problem) => problems.push(format!("{what}: {problem}")),
        }
    }
    match problems.is_empty() {
        true => Ok(()),
        false => Err(problems),
    }
}

struct Trial {
    folder: PathBuf,
    version: String,
    place: PathBuf,
}

impl Trial {
    /// A folder of its own, empty.
    fn clean(&self, name: &str) -> Result<PathBuf, String> {
        let dir = self.place.join(name);
        let failed = |e: std::io::Error| format!("{}: {e}", dir.display());
        if dir.exists() {
            fs::remove_dir_all(&dir).map_err(failed)?;
        }
        fs::create_dir_all(&dir).map_err(failed)?;
        Ok(dir)
    }

    fn install(&self, from: &Path, home: &Path) -> Command {
        let mut sh = Command::new("sh");
        sh.arg(self.folder.join("install.sh"))
            .arg("--from")
            .arg(from)
            .env("HOME", home);
        sh
    }

    fn installer(&self) -> Result<(), String> {
        let home = self.clean("home")?;
        cargo::succeed(&mut self.install(&self.folder, &home))?;
        use_it(&home.join(".local/bin/ralph"), &[], &home)?;
        let page = home.join(".local/share/man/man1/ralph.1");
        match page.is_file() {
            true => Ok(()),
            false => Err("no man page was installed".into()),
        }
    }

    /// One byte more, and nothing is installed.
    fn changed_archive(&self) -> Result<(), String> {
        let (from, home) = (self.clean("changed")?, self.clean("home-changed")?);
        let name = format!("ralph-{}-x86_64-unknown-linux-musl.tar.gz", self.version);
        let failed = |e: std::io::Error| e.to_string();
        let mut bytes = fs::read(self.folder.join(&name)).map_err(failed)?;
        bytes.push(0);
        fs::write(from.join(&name), bytes).map_err(failed)?;
        fs::copy(self.folder.join(SUMS), from.join(SUMS)).map_err(failed)?;
        let refused = self.install(&from, &home).output().map_err(failed)?;
        let said = String::from_utf8_lossy(&refused.stderr);
        match refused.status.success() || home.join(".local/bin/ralph").exists() {
            true => Err("it was installed".into()),
            false if said.contains("checksum") => Ok(()),
            false => Err(said.into_owned()),
        }
    }

    fn npm(&self) -> Result<(), String> {
        let dir = self.clean("npm")?;
        let file = |name: String| self.folder.join(name);
        let mut npm = Command::new(cargo::program("npm"));
        // The other platforms are in no registry yet.
        npm.current_dir(&dir)
            .args(["install", "--omit=optional", "--no-audit", "--no-fund"])
            .args(["--prefix", ".", "--loglevel=error"])
            .arg(file(format!("ralph-loop-linux-x64-{}.tgz", self.version)))
            .arg(file(format!("ralph-loop-{}.tgz", self.version)));
        cargo::succeed(&mut npm)?;
        use_it(&dir.join("node_modules/.bin/ralph"), &[], &dir)
    }

    /// The steps as they stand in the file, in a Debian made for it.
    fn container(&self) -> Result<(), String> {
        if !tools::is_root() || tools::on_path("apt-get").is_none() {
            return Err("this needs root on Debian: it makes a root of its own".into());
        }
        let debian = self.place.join("debian");
        if !debian.join("usr/bin/apt-get").exists() {
            fresh::debootstrap(&debian, "ca-certificates")?;
        }
        fresh::share_network(&debian);
        for step in steps(CONTAINERFILE) {
            match step {
                Step::Run(line) => {
                    println!("   RUN {line}");
                    fresh::inside(&debian, &line)?;
                }
                Step::Copy(from, to) => {
                    let from = match from.as_str() {
                        "ralph-loop.deb" => format!("ralph-loop_{}_amd64.deb", self.version),
                        other => return Err(format!("{other} is not a part of a release")),
                    };
                    let to = debian.join(to.trim_start_matches('/'));
                    fs::copy(self.folder.join(from), to).map_err(|e| e.to_string())?;
                }
            }
        }
        fresh::inside(
            &debian,
            "ralph demo >/tmp/demo.log && man_there=/usr/share/man/man1/ralph.1.gz && test -s $man_there && grep -q COMPLETE /tmp/demo.log",
        )?;
        fresh::inside(&debian, "dpkg --remove ralph-loop && ! command -v ralph")
    }
}

/// The two runs that show that a program works where it was put.
fn use_it(ralph: &Path, args: &[&str], home: &Path) -> Result<(), String> {
    for verb in ["self-check", "demo"] {
        let mut command = Command::new(ralph);
        command.args(args).arg(verb).env("HOME", home);
        let output = command
            .output()
            .map_err(|e| format!("{}: {e}", ralph.display()))?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            return Err(format!("ralph {verb}: {}: {said}", output.status));
        }
    }
    Ok(())
}

enum Step {
    Run(String),
    Copy(String, String),
}

/// What a builder of containers would do; what only names something is left
/// out.
fn steps(file: &str) -> Vec<Step> {
    let step = |line: &str| {
        let (verb, rest) = line.split_once(' ')?;
        match verb {
            "RUN" => Some(Step::Run(rest.to_owned())),
            "COPY" => {
                let (from, to) = rest.split_once(' ')?;
                Some(Step::Copy(from.to_owned(), to.to_owned()))
            }
            _ => None,
        }
    };
    file.lines().filter_map(step).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// No step of our own file is overlooked.
    #[test]
    fn every_step_of_the_file_is_understood() {
        let done = steps(CONTAINERFILE).len();
        let named = ["FROM ", "ENTRYPOINT ", "#"];
        let others = CONTAINERFILE
            .lines()
            .filter(|line| named.iter().any(|start| line.starts_with(start)));
        assert_eq!(done + others.count(), CONTAINERFILE.lines().count());
    }
}
