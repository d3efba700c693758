//! Does nothing: the least that starting and waiting for a process can cost.

fn main() {}
