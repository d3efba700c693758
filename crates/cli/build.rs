//! Tells which tests lack what they need.

fn main() {
    ralph_needs::tell();
}
