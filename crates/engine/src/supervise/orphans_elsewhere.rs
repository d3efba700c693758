//! Where the system does not tell who our descendants are, only the group of
//! a child is ended.

pub fn adopt() {}

pub fn end_all() -> usize {
    0
}

pub fn end_tagged(_run_id: &str) -> usize {
    0
}

pub fn carrying(_variable: &str, _value: &str) -> Vec<u32> {
    Vec::new()
}
