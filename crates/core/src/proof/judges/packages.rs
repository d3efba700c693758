//! The packages of Node: their scripts, and what they offer to others.

use super::super::files;
use super::{Court, MOST, Part, joined};

impl Court<'_> {
    /// Whether the package offers it to others as its program.
    pub(super) fn is_offered(&self, name: &str) -> bool {
        let package = self.read("package.json").unwrap_or_default();
        let package: serde_json::Value = serde_json::from_str(&package).unwrap_or_default();
        let is_it = |file: &serde_json::Value| {
            let file = file.as_str().map(|file| joined("", file));
            file.is_some_and(|file| file == name) && !files::says_check(name)
        };
        let bin = &package["bin"];
        let programs = bin.as_object().into_iter().flat_map(|all| all.values());
        programs.chain([bin, &package["main"]]).any(is_it)
    }

    /// `npm test`, `yarn check`.
    pub(super) fn package_script(&mut self, args: &[String], folder: &str) -> Part {
        const ELSEWHERE: [&str; 7] = [
            "--prefix", "-C", "--dir", "--cwd", "-w", "--workspace", "--filter",
        ];
        let mut folders = vec![joined(folder, "package.json")];
        let mut words: Vec<&str> = Vec::new();
        let mut left = args.iter();
        while let Some(arg) = left.next() {
            let (option, value) = arg.split_once('=').unwrap_or((arg, ""));
            if ELSEWHERE.contains(&option) {
                let place = if value.is_empty() { left.next() } else { None };
                let place = place.map_or(value, String::as_str);
                if option != "-w" && option != "--workspace" {
                    folders.clear();
                }
                folders.extend(self.packages(place, folder));
            } else if ["-r", "-ws", "--workspaces", "--recursive"].contains(&option) {
                folders.extend(self.packages("", folder));
            } else if arg == "workspace" {
                let place = left.next().map_or("", String::as_str);
                folders.extend(self.packages(place, folder));
            } else if !arg.starts_with('-') {
                words.push(arg);
            }
        }
        let name = match words.as_slice() {
            ["run" | "run-script", name, ..] => *name,
            ["t" | "tst", ..] => "test",
            [name, ..] => *name,
            [] => return Part::None,
        };
        let name = name.to_owned();
        let mut part = Part::None;
        for file in folders {
            let package = self.read(&file).unwrap_or_default();
            let package: serde_json::Value = serde_json::from_str(&package).unwrap_or_default();
            let folder = file.trim_end_matches("package.json").trim_end_matches('/');
            for name in [format!("pre{name}"), name.clone(), format!("post{name}")] {
                if let Some(text) = package["scripts"][&name].as_str()
                    && self.hand_on(text, folder, "") == Part::Tests
                {
                    part = Part::Tests;
                }
            }
        }
        part
    }

    /// The packages of the project that a folder or a name means; all of them
    /// where nothing is named.
    fn packages(&self, meant: &str, folder: &str) -> Vec<String> {
        let place = joined(&joined(folder, meant), "package.json");
        if !meant.is_empty() && self.read(&place).is_some() {
            return vec![place];
        }
        let is_named = |file: &&String| {
            let package = self.read(file).unwrap_or_default();
            let package: serde_json::Value = serde_json::from_str(&package).unwrap_or_default();
            meant.is_empty() || package["name"] == meant
        };
        let all = self.then.files.iter();
        let packages = all.filter(|file| file.ends_with("/package.json"));
        packages.take(MOST).filter(is_named).cloned().collect()
    }
}
