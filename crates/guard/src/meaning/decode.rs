//! What `echo`, `printf` and decoders print.

use super::args::NO_VALUES;
use super::command::Command;
use super::env::Flow;

pub fn echo(args: &[String]) -> String {
    let is_flag = |a: &&String| {
        a.len() > 1 && a.starts_with('-') && a.chars().skip(1).all(|c| matches!(c, 'n' | 'e' | 'E'))
    };
    let flags = args.iter().take_while(is_flag).count();
    let escapes = args.iter().take(flags).any(|flag| flag.contains('e'));
    let mut text = args.get(flags..).unwrap_or_default().join(" ");
    if escapes {
        text = unescape(&text);
    }
    text.push('\n');
    text
}

pub fn printf(args: &[String]) -> String {
    let args: Vec<&String> = args.iter().skip_while(|a| a.as_str() == "--").collect();
    let Some((format, values)) = args.split_first() else {
        return String::new();
    };
    let format = unescape(format);
    let mut values = values.iter();
    let mut text = String::new();
    loop {
        let before = values.len();
        let mut characters = format.chars().peekable();
        while let Some(character) = characters.next() {
            if character != '%' {
                text.push(character);
                continue;
            }
            while characters
                .peek()
                .is_some_and(|c| !c.is_ascii_alphabetic() && *c != '%')
            {
                characters.next();
            }
            match characters.next() {
                Some('%') => text.push('%'),
                Some('b') => text.push_str(&unescape(values.next().map_or("", |v| v.as_str()))),
                Some('c') => text.extend(values.next().and_then(|value| value.chars().next())),
                Some(_) => text.push_str(values.next().map_or("", |v| v.as_str())),
                None => {}
            }
        }
        if values.len() == 0 || values.len() == before || text.len() > 65_536 {
            return text;
        }
    }
}

/// Backslash escapes as `echo -e` and `printf` know them.
fn unescape(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        if character != '\\' {
            plain.push(character);
            continue;
        }
        let (radix, most) = match characters.peek() {
            Some('x') => (16, 2),
            Some('u') => (16, 4),
            Some('0'..='7') => (8, 4),
            _ => (0, 0),
        };
        if radix == 0 {
            match characters.next() {
                Some('n') => plain.push('\n'),
                Some('t') => plain.push('\t'),
                Some('r') => plain.push('\r'),
                Some('\\') => plain.push('\\'),
                Some('e') => plain.push('\u{1b}'),
                Some('"') => plain.push('"'),
                Some(other) => plain.extend(['\\', other]),
                None => plain.push('\\'),
            }
            continue;
        }
        if radix == 16 {
            characters.next();
        }
        let most = if radix == 8 && characters.peek() != Some(&'0') {
            3
        } else {
            most
        };
        let mut value = 0;
        for _ in 0..most {
            let Some(digit) = characters.peek().and_then(|c| c.to_digit(radix)) else {
                break;
            };
            characters.next();
            value = value * radix + digit;
        }
        plain.extend(char::from_u32(value));
    }
    plain
}

pub fn decoded(command: &Command) -> Flow {
    let args = command.read(NO_VALUES);
    let decodes = match command.name {
        "xxd" => args.shorts.contains(&'r') || args.long("revert"),
        "rev" => true,
        "openssl" => command.has("-d"),
        _ => args.short('d') || args.short('D') || args.long("decode"),
    };
    if !decodes {
        return command.filtered();
    }
    let bytes = match (command.name, command.stdin) {
        ("rev", Flow::Text(text)) => {
            let lines: Vec<String> = text
                .lines()
                .map(|line| line.chars().rev().collect())
                .collect();
            return Flow::Text(lines.join("\n"));
        }
        ("base64" | "gbase64", Flow::Text(text)) => base64(text),
        ("openssl", Flow::Text(text)) if command.has("base64|-base64") => base64(text),
        ("xxd", Flow::Text(text)) => hex(text),
        (_, Flow::Network) => return Flow::Network,
        _ => None,
    };
    match bytes.map(String::from_utf8) {
        Some(Ok(text)) => Flow::Text(text),
        _ => Flow::Unknown,
    }
}

pub fn base64(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let (mut buffer, mut bits) = (0_u32, 0_u32);
    for byte in text.bytes() {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            b'=' | b'\n' | b'\r' | b' ' => continue,
            _ => return None,
        };
        buffer = buffer << 6 | u32::from(value);
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            bytes.push(u8::try_from(buffer >> bits & 0xff).ok()?);
            buffer &= (1 << bits) - 1;
        }
    }
    Some(bytes)
}

fn hex(text: &str) -> Option<Vec<u8>> {
    let digits: Vec<u32> = text
        .chars()
        .filter(|c| !c.is_whitespace())
        .map(|c| c.to_digit(16))
        .collect::<Option<_>>()?;
    digits
        .chunks_exact(2)
        .map(|pair| match pair {
            [high, low] => u8::try_from(high * 16 + low).ok(),
            _ => None,
        })
        .collect()
}
