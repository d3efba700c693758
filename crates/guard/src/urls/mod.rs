//! URLs: which host is meant, however it is written, and whether it lies
//! within the machine or its network.

mod host;

pub use host::{Host, Reach};

/// A URL taken apart as browsers do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Url {
    pub scheme: String,
    pub host: Host,
    pub port: Option<u16>,
    /// Was there anything before an `@`?
    pub has_user: bool,
    /// The host exactly as it was written.
    pub written: String,
    pub path: String,
}

/// Schemes after which any number of slashes, in any direction, is skipped.
const SPECIAL: [&str; 5] = ["http", "https", "ws", "wss", "ftp"];

/// Takes a URL apart; where no scheme is written, `http` is meant.
pub fn parse(text: &str) -> Option<Url> {
    let text: String = text
        .trim_matches(|c: char| c <= ' ')
        .chars()
        .filter(|c| !matches!(c, '\t' | '\n' | '\r'))
        .collect();
    let (scheme, rest) = split_scheme(&text);
    let special = SPECIAL.contains(&scheme.as_str());
    let rest = if special {
        rest.trim_start_matches(['/', '\\'])
    } else {
        rest.strip_prefix("//").unwrap_or(rest)
    };
    let end = rest
        .find(|c| matches!(c, '/' | '?' | '#') || (special && c == '\\'))
        .unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    let (user, host_port) = match authority.rsplit_once('@') {
        Some((user, host)) => (Some(user), host),
        None => (None, authority),
    };
    let (written, port) = split_port(host_port);
    if written.is_empty() && special {
        return None;
    }
    Some(Url {
        scheme,
        host: Host::parse(written),
        port: port.and_then(|port| port.parse().ok()),
        has_user: user.is_some(),
        written: written.to_owned(),
        path: path.to_owned(),
    })
}

fn split_scheme(text: &str) -> (String, &str) {
    if let Some((scheme, rest)) = text.split_once(':') {
        let is_scheme = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'));
        // `localhost:3000` is a host and a port, `file:x` is a scheme.
        let port_follows = rest.starts_with(|c: char| c.is_ascii_digit());
        if is_scheme && !port_follows && (!scheme.contains('.') || rest.starts_with("//")) {
            return (scheme.to_ascii_lowercase(), rest);
        }
    }
    ("http".to_owned(), text)
}

fn split_port(host: &str) -> (&str, Option<&str>) {
    if let Some(end) = host.rfind(']') {
        let port = host.get(end + 1..).and_then(|rest| rest.strip_prefix(':'));
        return (host.get(..=end).unwrap_or(host), port);
    }
    match host.rsplit_once(':') {
        Some((name, port)) if !name.contains(':') => (name, Some(port)),
        _ => (host, None),
    }
}

#[cfg(test)]
mod tests;
