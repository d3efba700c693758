//! Where there is no wall yet: it is said, and nothing is held.

use std::ffi::OsString;
use std::io;

use ralph_core::lang::{Lang, Say};
use ralph_core::machine::{Denial, WallFacts, WallKind};
use ralph_store::guard_log::Report;
use ralph_store::layout::{Layout, RunPaths};

use super::{Wanted, Who};
use crate::supervise::Spec;

#[derive(Debug)]
pub enum Wall {}

/// Nobody lives behind what is not there.
#[derive(Debug)]
pub struct Lodging;

impl Wall {
    pub fn dress(&self, _who: &Who, _spec: Spec) -> io::Result<(Spec, Lodging)> {
        match *self {}
    }

    pub async fn tried(&self) -> io::Result<Vec<(Try, Held)>> {
        match *self {}
    }

    pub fn denied(&self) -> Vec<Denial> {
        match *self {}
    }

    pub fn closed(&self, _path: String) {
        match *self {}
    }

    pub fn belongs_to(&self, _layout: Layout, _run: RunPaths) {}
}

/// Nobody can try what is not there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Held {
    Yes,
    No,
    NotKept,
}

#[derive(Clone, Copy, Debug)]
pub enum Try {}

impl Try {
    pub fn into_str(self) -> &'static str {
        match self {}
    }
}

impl Say for Try {
    fn say(&self, _lang: Lang) -> String {
        match *self {}
    }
}

pub async fn raise(wanted: &Wanted, _layout: &Layout) -> (WallFacts, Option<std::sync::Arc<Wall>>) {
    use ralph_core::config::SandboxMode;
    let facts = match wanted.settings.mode {
        SandboxMode::Off => WallFacts::default(),
        SandboxMode::Auto | SandboxMode::Strict => WallFacts {
            kind: WallKind::None,
            why: "Ralph has none for this system yet".into(),
            ..WallFacts::default()
        },
    };
    (facts, None)
}

pub fn enter_mode(_args: &[OsString]) -> io::Error {
    io::ErrorKind::Unsupported.into()
}

pub fn is_around_us() -> bool {
    false
}

pub fn tell(_report: &Report) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}
