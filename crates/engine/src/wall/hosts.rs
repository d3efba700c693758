//! Which hosts can be reached from behind the wall. A name is read once, and
//! what is not plainly a name that was allowed is closed.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Where a connection wants to go, as it was read.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Target {
    /// In small letters, without a dot at its end.
    pub host: String,
    pub port: u16,
}

impl Target {
    /// `host:port` as in `CONNECT`, or `host` with a port that follows from the
    /// scheme. Nothing but letters, digits, `-`, `_` and dots is a name, so that
    /// no user, escape, other spelling of an address or NUL gets through.
    pub fn read(text: &str, usual: Option<u16>) -> Option<Target> {
        let (host, port) = match text.strip_prefix('[') {
            Some(rest) => {
                let (host, rest) = rest.split_once(']')?;
                host.parse::<Ipv6Addr>().ok()?;
                (host.to_owned(), rest.strip_prefix(':'))
            }
            None => {
                let (host, port) = match text.rsplit_once(':') {
                    Some((host, port)) => (host, Some(port)),
                    None => (text, None),
                };
                (name(host)?, port)
            }
        };
        let port = match port {
            Some(port) if port.bytes().all(|b| b.is_ascii_digit()) => port.parse().ok()?,
            Some(_) => return None,
            None => usual?,
        };
        (port > 0).then_some(Target { host, port })
    }

    /// Of a whole address: `http://host:port/path`.
    pub fn of_url(url: &str) -> Option<Target> {
        let (scheme, rest) = url.split_once("://")?;
        let usual = match scheme {
            "http" => 80,
            "https" => 443,
            _ => return None,
        };
        let authority = rest.split(['/', '?', '#']).next()?;
        Target::read(authority, Some(usual))
    }

    fn address(&self) -> Option<IpAddr> {
        self.host.parse().ok()
    }

    /// On the machine itself.
    pub fn is_loopback(&self) -> bool {
        self.host == "localhost" || self.address().is_some_and(|address| address.is_loopback())
    }
}

impl std::fmt::Display for Target {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.host.contains(':') {
            true => write!(f, "[{}]:{}", self.host, self.port),
            false => write!(f, "{}:{}", self.host, self.port),
        }
    }
}

const LONGEST_NAME: usize = 253;

fn name(host: &str) -> Option<String> {
    let host = host.strip_suffix('.').unwrap_or(host);
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    let is_name = !host.is_empty()
        && host.len() <= LONGEST_NAME
        && host.bytes().all(is_plain)
        && host.split('.').all(|label| !label.is_empty());
    let host = is_name.then(|| host.to_ascii_lowercase())?;
    // The system would take `127.1`, `0x7f.1` and `2130706433` for addresses.
    let last = host.rsplit('.').next()?;
    let is_number = last.bytes().all(|b| b.is_ascii_digit()) || last.starts_with("0x");
    match is_number {
        true => host.parse::<Ipv4Addr>().ok().map(|_| host),
        false => Some(host),
    }
}

/// What can be reached.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Allowed {
    entries: Vec<Entry>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Entry {
    /// With a dot before it, everything below it.
    host: String,
    /// Those of the web where none is given.
    port: Option<u16>,
}

impl Allowed {
    /// The entries that could not be read come back.
    pub fn read<'a>(texts: impl IntoIterator<Item = &'a str>) -> (Allowed, Vec<String>) {
        let mut allowed = Allowed::default();
        let mut bad = Vec::new();
        for text in texts {
            match Entry::read(text.trim()) {
                Some(entry) => allowed.entries.push(entry),
                None => bad.push(text.to_owned()),
            }
        }
        (allowed, bad)
    }

    pub fn add(&mut self, target: &Target) {
        self.entries.push(Entry {
            host: target.host.clone(),
            port: Some(target.port),
        });
    }

    /// What allows it, if anything does.
    pub fn permits(&self, target: &Target) -> Option<Permit> {
        let fits = |entry: &&Entry| {
            let host = match entry.host.strip_prefix('.') {
                Some(domain) => target
                    .host
                    .strip_suffix(domain)
                    .is_some_and(|rest| rest.ends_with('.')),
                None => target.host == entry.host,
            };
            let port = match entry.port {
                Some(port) => target.port == port,
                None => matches!(target.port, 80 | 443),
            };
            host && port
        };
        let entry = self.entries.iter().find(fits)?;
        Some(match entry.port {
            Some(_) => Permit::Anywhere,
            None => Permit::OutThere,
        })
    }

    /// The ports of the machine itself that are open.
    pub fn own_ports(&self) -> Vec<u16> {
        let of_machine = |entry: &&Entry| {
            let port = entry.port.unwrap_or_default();
            let host = entry.host.clone();
            Target { host, port }.is_loopback()
        };
        let mut ports: Vec<u16> = self
            .entries
            .iter()
            .filter(of_machine)
            .filter_map(|entry| entry.port)
            .collect();
        ports.sort_unstable();
        ports.dedup();
        ports
    }
}

impl Entry {
    fn read(text: &str) -> Option<Entry> {
        let (dot, rest) = match text.strip_prefix("*.") {
            Some(rest) => (".", rest),
            None => ("", text),
        };
        if rest.contains(':') {
            let Target { host, port } = Target::read(rest, None)?;
            let host = format!("{dot}{host}");
            let port = Some(port);
            return Some(Entry { host, port });
        }
        let host = format!("{dot}{}", name(rest)?);
        Some(Entry { host, port: None })
    }
}

/// How far a host that is allowed may lead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Permit {
    /// Not into the machine or the network that it stands in: a name can be
    /// made to point there.
    OutThere,
    /// The person named the very port.
    Anywhere,
}

/// Whether an address belongs to the internet, and not to this machine, its
/// network or a way around that.
pub fn is_out_there(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_out_there_v4(address),
        IpAddr::V6(address) => {
            let segments = address.segments();
            // Addresses that carry one of the old kind within.
            let carried = match segments {
                [0, 0, 0, 0, 0, 0xffff | 0, high, low]
                | [0x64, 0xff9b, 0, 0, 0, 0, high, low]
                | [0x2002, high, low, ..] => Some((high, low)),
                _ => None,
            };
            if let Some((high, low)) = carried {
                let [a, b] = high.to_be_bytes();
                let [c, d] = low.to_be_bytes();
                return is_out_there_v4(Ipv4Addr::new(a, b, c, d));
            }
            // 2000::/3 is all that was given out.
            segments[0] & 0xe000 == 0x2000 && segments[0] != 0x2001
                || (segments[0] == 0x2001 && segments[1] >= 0x0200 && segments[1] != 0x0db8)
        }
    }
}

fn is_out_there_v4(address: Ipv4Addr) -> bool {
    let [a, b, ..] = address.octets();
    !(address.is_private()
        || address.is_loopback()
        || address.is_link_local()
        || address.is_broadcast()
        || address.is_multicast()
        || a == 0
        || a >= 240
        || (a == 100 && (64..128).contains(&b))
        || (a == 198 && (18..20).contains(&b))
        || (a == 192 && b == 0 && address.octets()[2] == 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allowed(texts: &[&str]) -> Allowed {
        let (allowed, bad) = Allowed::read(texts.iter().copied());
        assert!(bad.is_empty(), "{bad:?}");
        allowed
    }

    #[test]
    fn a_target_is_a_plain_name_or_address() {
        for (text, expected) in [
            ("pypi.org:443", Some("pypi.org:443")),
            ("PyPI.org.:443", Some("pypi.org:443")),
            ("127.0.0.1:80", Some("127.0.0.1:80")),
            ("[::1]:80", Some("[::1]:80")),
            ("pypi.org", None),
            ("pypi.org:0", None),
            ("pypi.org:+443", None),
            ("pypi.org:99999", None),
            ("pypi.org@evil.example:443", None),
            ("user:pass@pypi.org:443", None),
            ("pypi.org\0.evil.example:443", None),
            ("pypi.org%00.evil.example:443", None),
            ("pypi.org%2eevil.example:443", None),
            ("pypi。org:443", None),
            ("pypi.org/:443", None),
            ("pypi..org:443", None),
            (".pypi.org:443", None),
            ("pypi.org..:443", None),
            ("127.1:80", None),
            ("2130706433:80", None),
            ("0x7f.0x1:80", None),
            ("0x7f000001:80", None),
            ("0177.0.0.1:80", None),
            ("[::1%lo]:80", None),
            ("[pypi.org]:443", None),
            (" pypi.org:443", None),
            ("", None),
            (":443", None),
        ] {
            let read = Target::read(text, None).map(|target| target.to_string());
            assert_eq!(read.as_deref(), expected, "{text:?}");
        }
        let url = |text| Target::of_url(text).map(|target| target.to_string());
        assert_eq!(
            url("http://127.0.0.1:8080/v1").as_deref(),
            Some("127.0.0.1:8080")
        );
        assert_eq!(url("https://a.example").as_deref(), Some("a.example:443"));
        assert_eq!(url("ftp://a.example"), None);
        assert_eq!(url("http://a.example\\@evil.example/"), None);
    }

    #[test]
    fn only_what_is_listed_is_open() {
        let list = allowed(&[
            "pypi.org", "*.example.com", "localhost:5432", "10.0.0.5:443",
        ]);
        for (text, expected) in [
            ("pypi.org:443", Some(Permit::OutThere)),
            ("pypi.org:80", Some(Permit::OutThere)),
            ("pypi.org:22", None),
            ("evil-pypi.org:443", None),
            ("pypi.org.evil.example:443", None),
            ("a.pypi.org:443", None),
            ("a.example.com:443", Some(Permit::OutThere)),
            ("a.b.example.com:443", Some(Permit::OutThere)),
            ("example.com:443", None),
            ("evilexample.com:443", None),
            ("localhost:5432", Some(Permit::Anywhere)),
            ("localhost:22", None),
            ("127.0.0.1:5432", None),
            ("10.0.0.5:443", Some(Permit::Anywhere)),
        ] {
            let target = Target::read(text, None).unwrap();
            assert_eq!(list.permits(&target), expected, "{text}");
        }
        assert_eq!(list.own_ports(), [5432]);
        let (_, bad) = Allowed::read(["a b", "*", "http://x", "", "ok.example"]);
        assert_eq!(bad, ["a b", "*", "http://x", ""]);
    }

    #[test]
    fn addresses_that_lead_home_are_not_out_there() {
        for text in [
            "127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.0.1", "169.254.169.254", "0.0.0.0",
            "100.64.0.1", "198.18.0.1", "224.0.0.1", "240.0.0.1", "255.255.255.255", "::1", "::",
            "fe80::1", "fc00::1", "fec0::1", "::ffff:127.0.0.1", "::127.0.0.1",
            "64:ff9b::127.0.0.1", "2002:7f00:1::", "ff02::1", "2001:db8::1", "2001::1",
        ] {
            assert!(!is_out_there(text.parse().unwrap()), "{text}");
        }
        for text in [
            "1.1.1.1", "203.0.113.80", "151.101.0.223", "2606:4700::1111", "2a04:4e42::223",
            "2001:4860::8888",
        ] {
            assert!(is_out_there(text.parse().unwrap()), "{text}");
        }
    }
}
