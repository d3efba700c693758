//! Hosts: every spelling of an address folds to the address.

use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// A host as the network will see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Host {
    V4(Ipv4Addr),
    V6(Ipv6Addr),
    Name(String),
}

/// How far away a host is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reach {
    Public,
    /// A name without a dot: only a local resolver knows it.
    LocalName,
    Loopback,
    Private,
    /// Services that hand out credentials to who asks.
    Metadata,
}

impl From<IpAddr> for Host {
    fn from(address: IpAddr) -> Host {
        match address {
            IpAddr::V4(address) => Host::V4(address),
            IpAddr::V6(address) => Host::V6(address),
        }
    }
}

impl Host {
    pub fn parse(written: &str) -> Host {
        let decoded = percent_decode(written);
        let folded: String = decoded.chars().filter_map(fold).collect();
        let name = folded.to_lowercase();
        if let Some(inner) = name.strip_prefix('[') {
            let inner = inner.trim_end_matches(']');
            let inner = inner.split('%').next().unwrap_or(inner);
            return match inner.parse() {
                Ok(address) => Host::V6(address),
                Err(_) => Host::Name(name.clone()),
            };
        }
        if let Ok(address) = name.parse::<Ipv6Addr>() {
            return Host::V6(address);
        }
        let name = name.trim_end_matches('.');
        match ipv4(name) {
            Some(address) => Host::V4(address),
            None => Host::Name(name.to_owned()),
        }
    }

    /// Is this the plain, everyday spelling?
    pub fn is_plainly(&self, written: &str) -> bool {
        match self {
            Host::V4(address) => address.to_string() == written,
            Host::V6(address) => format!("[{address}]") == written,
            Host::Name(name) => name == &written.to_lowercase(),
        }
    }

    pub fn reach(&self) -> Reach {
        match self {
            Host::V4(address) => reach_v4(*address),
            Host::V6(address) => reach_v6(*address),
            Host::Name(name) => reach_name(name),
        }
    }
}

fn reach_v4(address: Ipv4Addr) -> Reach {
    match address.octets() {
        [169, 254, 169, 254]
        | [169, 254, 170, 2]
        | [100, 100, 100, 200]
        | [192, 0, 0, 192]
        | [168, 63, 129, 16] => Reach::Metadata,
        [0 | 127, ..] => Reach::Loopback,
        [10, ..] | [192, 168, ..] | [169, 254, ..] | [192, 0, 0, _] | [224..=255, ..] => {
            Reach::Private
        }
        [172, second, ..] if (16..32).contains(&second) => Reach::Private,
        [100, second, ..] if (64..128).contains(&second) => Reach::Private,
        [198, 18 | 19, ..] => Reach::Private,
        _ => Reach::Public,
    }
}

fn reach_v6(address: Ipv6Addr) -> Reach {
    let segments = address.segments();
    let embedded = |high: u16, low: u16| {
        let [a, b] = high.to_be_bytes();
        let [c, d] = low.to_be_bytes();
        reach_v4(Ipv4Addr::new(a, b, c, d))
    };
    match segments {
        [0, 0, 0, 0, 0, 0, 0, 0 | 1] => Reach::Loopback,
        [0xfd00, 0x0ec2, 0, 0, 0, 0, 0, 0x254] => Reach::Metadata,
        // IPv4-mapped, IPv4-compatible, IPv4-translated.
        [0, 0, 0, 0, 0, 0xffff | 0, high, low] | [0, 0, 0, 0, 0xffff, 0, high, low] => {
            embedded(high, low)
        }
        // NAT64, well-known and local.
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] => embedded(high, low),
        [0x64, 0xff9b, 1, ..] => Reach::Private,
        // 6to4 and Teredo.
        [0x2002, high, low, ..] => embedded(high, low),
        [0x2001, 0, _, _, _, _, high, low] => embedded(!high, !low),
        [first, ..] if first & 0xfe00 == 0xfc00 => Reach::Private,
        [first, ..] if first & 0xff80 == 0xfe80 => Reach::Private,
        [first, ..] if first & 0xff00 == 0xff00 => Reach::Private,
        _ => Reach::Public,
    }
}

const LOOPBACK_NAMES: &[&str] = words!(
    "localhost localhost.localdomain ip6-localhost ip6-loopback localtest.me lvh.me vcap.me
     lacolhost.com loopback localhost6"
);

const METADATA_NAMES: &[&str] = words!(
    "metadata.azure.com metadata.google.internal metadata metadata.goog instance-data
     instance-data.ec2.internal metadata.azure.internal"
);

/// Endings of names that only an internal network knows.
const PRIVATE_ENDINGS: &[&str] = words!(
    ".internal .local .lan .intranet .corp .home.arpa .localdomain .private .svc .cluster.local
     .consul .default .home .in-addr.arpa .onion"
);

fn reach_name(name: &str) -> Reach {
    let below = |parent: &str| {
        name.strip_suffix(parent)
            .is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
    };
    if METADATA_NAMES.contains(&name) || below("metadata.google.internal") {
        return Reach::Metadata;
    }
    if LOOPBACK_NAMES.iter().any(|loopback| below(loopback)) {
        return Reach::Loopback;
    }
    if PRIVATE_ENDINGS.iter().any(|ending| name.ends_with(ending)) {
        return Reach::Private;
    }
    for service in words!(".nip.io .sslip.io .xip.io .traefik.me .rbndr.us .1u.ms") {
        if let Some(rest) = name.strip_suffix(service) {
            return embedded_in_name(rest);
        }
    }
    if !name.contains('.') && !name.is_empty() {
        return Reach::LocalName;
    }
    Reach::Public
}

/// `app.10-0-0-1` and `10.0.0.1` as names carry an address.
fn embedded_in_name(name: &str) -> Reach {
    let mut worst = Reach::Public;
    for label in name.split('.') {
        let dashed: Vec<&str> = label.split('-').collect();
        for four in dashed.windows(4) {
            if let Ok(address) = four.join(".").parse() {
                worst = worst.max(reach_v4(address));
            }
        }
        let label = label.strip_prefix("0x").unwrap_or(label);
        if let (8, Ok(number)) = (label.len(), u32::from_str_radix(label, 16)) {
            worst = worst.max(reach_v4(number.into()));
        }
    }
    let labels: Vec<&str> = name.split('.').collect();
    for four in labels.windows(4) {
        if let Ok(address) = four.join(".").parse() {
            worst = worst.max(reach_v4(address));
        }
    }
    worst
}

/// One to four numbers in decimal, octal or hexadecimal.
fn ipv4(name: &str) -> Option<Ipv4Addr> {
    let parts: Vec<&str> = name.split('.').collect();
    if parts.len() > 4 {
        return None;
    }
    let numbers: Vec<u64> = parts
        .iter()
        .map(|part| number(part))
        .collect::<Option<_>>()?;
    let (last, first) = numbers.split_last()?;
    let mut address: u64 = 0;
    for part in first {
        if *part > 255 {
            return None;
        }
        address = address << 8 | part;
    }
    let bits = 8 * (4 - u32::try_from(first.len()).ok()?);
    if *last >= 1_u64.checked_shl(bits)? {
        return None;
    }
    let address = u32::try_from(address << bits | last).ok()?;
    Some(address.into())
}

fn number(text: &str) -> Option<u64> {
    let (digits, radix) = if let Some(hex) = text.strip_prefix("0x") {
        (hex, 16)
    } else if text.len() > 1 && text.starts_with('0') {
        (text.get(1..)?, 8)
    } else {
        (text, 10)
    };
    if digits.is_empty() {
        return (radix == 16).then_some(0);
    }
    u64::from_str_radix(digits, radix)
        .ok()
        .filter(|_| !digits.starts_with('+'))
}

/// One character as compatibility decomposition folds it; `None` for those
/// that are ignored.
fn fold(character: char) -> Option<char> {
    let code = u32::from(character);
    let ascii = |base: char, offset: u32| char::from_u32(u32::from(base) + offset);
    match code {
        0x00AD | 0x200B..=0x200D | 0x2060 | 0xFEFF | 0xFE00..=0xFE0F => None,
        0x3002 | 0xFF0E | 0xFF61 | 0x2024 => Some('.'),
        0xFF01..=0xFF5E => ascii('!', code - 0xFF01),
        0x2070 => Some('0'),
        0x00B9 => Some('1'),
        0x00B2 => Some('2'),
        0x00B3 => Some('3'),
        0x2074..=0x2079 => ascii('4', code - 0x2074),
        0x2080..=0x2089 => ascii('0', code - 0x2080),
        0x24EA => Some('0'),
        0x2460..=0x2468 => ascii('1', code - 0x2460),
        0x24B6..=0x24CF => ascii('a', code - 0x24B6),
        0x24D0..=0x24E9 => ascii('a', code - 0x24D0),
        0x1D7CE..=0x1D7FF => ascii('0', (code - 0x1D7CE) % 10),
        0x1D400..=0x1D6A3 => {
            let letter = (code - 0x1D400) % 52;
            ascii('a', letter % 26)
        }
        0x017F => Some('s'),
        0x212A => Some('k'),
        _ => Some(character),
    }
}

fn percent_decode(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, tail)) = rest.split_first() {
        if *first == b'%'
            && let [high, low, after @ ..] = tail
            && let (Some(high), Some(low)) = (
                char::from(*high).to_digit(16),
                char::from(*low).to_digit(16),
            )
        {
            bytes.push(u8::try_from(high * 16 + low).unwrap_or(b'?'));
            rest = after;
        } else {
            bytes.push(*first);
            rest = tail;
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
