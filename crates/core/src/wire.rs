//! How values that people read too are written for programs: names, and
//! English, which programs and agents read whatever a person reads.

use std::fmt::Display;

use serde::{Serialize, Serializer};

use crate::lang::{Lang, Say};

/// The name of a variant, without what it holds.
pub fn name<T, S: Serializer>(of: &T, to: S) -> Result<S::Ok, S::Error>
where
    for<'a> &'a T: Into<&'static str>,
{
    to.serialize_str(of.into())
}

pub fn names<T, S: Serializer>(all: &[T], to: S) -> Result<S::Ok, S::Error>
where
    for<'a> &'a T: Into<&'static str>,
{
    to.collect_seq(all.iter().map(Into::into))
}

pub fn english<S: Serializer>(one: &impl Say, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(&one.say(Lang::En))
}

pub fn all_english<S: Serializer>(all: &[impl Say], to: S) -> Result<S::Ok, S::Error> {
    to.collect_seq(all.iter().map(|one| one.say(Lang::En)))
}

pub fn display<S: Serializer>(one: &impl Display, to: S) -> Result<S::Ok, S::Error> {
    to.collect_str(one)
}

/// Milliseconds on the wall clock as a time that people can read.
pub fn time<S: Serializer>(ms: &Option<i64>, to: S) -> Result<S::Ok, S::Error> {
    ms.map(crate::machine::iso_utc).serialize(to)
}
