//! Where the system does not tell who our descendants are, only the group of
//! a child is ended.

use super::Tag;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ended {
    pub count: usize,
    pub left: Vec<i32>,
}

pub fn adopt() {}

/// Nobody is looked for here.
pub fn hold_off() {}

pub fn end_all() -> Ended {
    Ended::default()
}

/// Nobody is ended here who would have to be spared.
#[derive(Debug)]
pub struct Spared;

pub fn spare(_pid: u32) -> Spared {
    Spared
}

pub fn end_tagged(_tag: &Tag) -> Ended {
    Ended::default()
}

pub fn carrying(_variable: &str, _value: &str) -> Vec<u32> {
    Vec::new()
}
