//! Settings that users of other tools already have on disk.
//!
//! Their files are only read. Whatever is wrong with one is a warning: it
//! belongs to another tool, which may know better than this one.

mod ralphrc;
mod skillpack;
#[cfg(test)]
mod tests;
mod worktree;

use toml::Value;

use super::layer::Layer;
use super::nearest::nearest;
use super::origin::{Origin, Place};
use super::schema::{Kind, Schema};
use super::warning::ConfigWarning;
use super::words::Found;

/// The files of other tools that are read, the first of which decides where
/// two disagree.
pub const FOREIGN_FILES: [&str; 4] = [
    ".skillpackrc", ".ideal/worktree.yaml", ".trellis/worktree.yaml", ".ralphrc",
];

impl Layer {
    /// Reads a file of another tool; which tool, its name says.
    pub fn foreign(name: &str, text: &str) -> (Layer, Vec<ConfigWarning>) {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let mut import = Import::new(name);
        if name.ends_with(".skillpackrc") {
            skillpack::read(text, &mut import);
        } else if name.ends_with(".yaml") || name.ends_with(".yml") {
            worktree::read(text, &mut import);
        } else {
            ralphrc::read(text, &mut import);
        }
        (import.layer, import.warnings)
    }
}

/// What the other tool's file has to hold for a value of our kind: it counts
/// time in whole minutes and knows no percentages.
fn as_written_there(kind: &Kind) -> Kind {
    match kind {
        Kind::Duration | Kind::CountOrPercent => Kind::Count { at_least: 0 },
        kind => kind.clone(),
    }
}

/// A key as the file has it, and where.
#[derive(Clone, Copy)]
struct ForeignKey<'a> {
    name: &'a str,
    line: Option<usize>,
}

/// What has been read of one file so far.
struct Import {
    file: String,
    layer: Layer,
    warnings: Vec<ConfigWarning>,
}

impl Import {
    fn new(file: &str) -> Import {
        Import {
            file: file.to_owned(),
            layer: Layer::default(),
            warnings: Vec::new(),
        }
    }

    /// Takes a value for our key `key`, if it is of its kind. `found` is the
    /// value as the file has it.
    fn set(&mut self, from: ForeignKey<'_>, key: &str, value: &Value, found: Found) {
        let Some(known) = Schema::get().key(key) else {
            return;
        };
        let place = Place::new(Origin::Foreign(self.file.clone()), from.line);
        if self.layer.set(known, value, place).is_err() {
            self.warnings.push(ConfigWarning::BadForeignValue {
                file: self.file.clone(),
                line: from.line,
                key: from.name.to_owned(),
                expected: as_written_there(&known.kind),
                found,
            });
        }
    }

    fn unreadable(&mut self, line: Option<usize>, detail: &str) {
        self.warnings.push(ConfigWarning::Unreadable {
            file: self.file.clone(),
            line,
            detail: detail.to_owned(),
        });
    }

    fn unknown<'a>(&mut self, from: ForeignKey<'_>, known: impl IntoIterator<Item = &'a str>) {
        self.warnings.push(ConfigWarning::UnknownForeignKey {
            file: self.file.clone(),
            line: from.line,
            key: from.name.to_owned(),
            nearest: nearest(from.name, known).map(str::to_owned),
        });
    }
}
