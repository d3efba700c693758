//! Tells which tests lack what they need.

fn main() {
    ralph_needs::tell();
    // To move 2 MB of addresses takes a quarter of every start, and the tests
    // start it thousands of times. What ships stays where nobody can tell.
    let is = |name: &str, wanted: &str| std::env::var(name).is_ok_and(|value| value == wanted);
    if is("PROFILE", "debug") && is("CARGO_CFG_TARGET_OS", "linux") {
        println!("cargo::rustc-link-arg-bin=ralph=-no-pie");
    }
}
