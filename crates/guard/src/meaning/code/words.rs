//! How the words of code are to be taken: whole names, strings that are
//! built, and strings with something computed in them.

/// Does the code before a parenthesis end with this name, as a whole word?
pub fn ends_with_name(before: &str, name: &str) -> bool {
    before.strip_suffix(name).is_some_and(|rest| {
        name.starts_with('.')
            || rest.is_empty()
            || !rest.ends_with(|c: char| {
                c.is_alphanumeric()
                    || c == '_'
                    || (c == '.'
                        && one_of!(
                            name,
                            "open exec eval spawn fetch unlink rmdir system rimraf popen"
                        )
                        && !trusted_receiver(rest))
            })
    })
}

/// `os.system`, `fs.rmdir`: the object before the name is the library.
fn trusted_receiver(rest: &str) -> bool {
    let rest = rest.trim_end_matches('.');
    words!("os fs io subprocess shell cp child_process Kernel pty IO commands")
        .iter()
        .any(|name| rest.ends_with(name))
        || rest.ends_with(')')
}

/// Does the text build its strings so that they can't be read?
pub fn obfuscated(text: &str) -> bool {
    has_any!(
        text,
        "base64 Base64 decode64 unpack( b64decode atob fromCharCode chr( bytes.fromhex
         unhexlify decode( rot13 rot_13 [::-1] .reverse() getattr( __import__ sys.argv
         process.argv input( stdin pack( Buffer.from \\x"
    )
}

pub fn with_unknown(text: &str) -> String {
    let mut plain = String::new();
    let mut depth = 0_usize;
    for character in text.chars() {
        match character {
            '{' => {
                if depth == 0 {
                    plain.push(crate::mark::UNKNOWN);
                }
                depth += 1;
            }
            '}' => depth = depth.saturating_sub(1),
            other if depth == 0 => plain.push(other),
            _ => {}
        }
    }
    plain
}
