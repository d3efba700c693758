//! By what the processes of a run are found again.

use std::path::Path;

use ralph_core::text::digest::hex_sha256;

/// What every process of a run carries in its environment, and no process of
/// another run does. The name alone is not enough: runs of two projects may
/// have been named in the same moment, and only folders differ for certain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tag {
    name: String,
    value: String,
}

impl Tag {
    pub const VARIABLE: &str = "RALPH_RUN_TAG";

    /// The tag of the run of this name whose folder stands in `runs`, however
    /// the way there is spelled.
    pub fn of_run(runs: &Path, name: &str) -> Tag {
        let runs = runs.canonicalize().unwrap_or_else(|_| runs.to_owned());
        let place = hex_sha256(runs.as_os_str().as_encoded_bytes());
        let place = place.get(..16).unwrap_or(&place);
        Tag {
            value: format!("{name}-{place}"),
            name: name.to_owned(),
        }
    }

    /// For commands that belong to no run.
    pub fn of_this_process(what: &str) -> Tag {
        let name = format!("{what}-{}", std::process::id());
        Tag {
            value: name.clone(),
            name,
        }
    }

    /// As scripts know the run.
    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn value(&self) -> &str {
        &self.value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_one_name_in_two_places_differ() {
        let dir = tempfile::tempdir().unwrap();
        let place = |name: &str| dir.path().join(name);
        std::fs::create_dir(place("a")).unwrap();
        std::fs::create_dir(place("b")).unwrap();
        let of = |name: &str| Tag::of_run(&place(name), "20261115-021030-1a2b3c4d");
        assert_ne!(of("a").value(), of("b").value());
        assert_eq!(of("a").name(), of("b").name());
        assert_eq!(of("a"), of("b/../a"), "the same folder by another way");
    }
}
