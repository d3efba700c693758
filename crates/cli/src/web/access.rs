//! Who may look and who may act. The page stands on loopback, and that is not
//! enough: every page in the same browser can send requests there, and a name
//! that resolves to loopback makes them look like ours (DNS rebinding).

use std::collections::VecDeque;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Mutex, PoisonError};

use super::http::{Method, Request};

/// A secret that only who started the server knows.
#[derive(Clone)]
pub struct Token(String);

impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Token")
    }
}

impl Token {
    /// Only from the system's own source: without it nobody is served.
    pub fn random() -> std::io::Result<Token> {
        let bytes = ralph_store::random::bytes()?;
        Ok(Token(
            bytes[..16].iter().map(|b| format!("{b:02x}")).collect(),
        ))
    }

    pub fn text(&self) -> &str {
        &self.0
    }

    /// Takes the same time whatever is wrong with it.
    fn is(&self, other: &str) -> bool {
        let (ours, theirs) = (self.0.as_bytes(), other.as_bytes());
        let differs = ours.iter().zip(theirs).fold(0, |all, (a, b)| all | (a ^ b));
        ours.len() == theirs.len() && differs == 0
    }
}

/// What is wrong with a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// It was sent to a name or a port that is not ours.
    Host,
    /// Another page sent it.
    Origin,
    Key,
}

/// The key stays in the memory of the page that has it: a cookie would go to
/// every server on this machine, whatever its port (S-10). What is seen by
/// others on its way to the browser is a code that dies when it is used.
#[derive(Debug)]
pub struct Gate {
    pub key: Token,
    pub address: SocketAddr,
    codes: Mutex<VecDeque<Token>>,
}

/// Codes that nobody used; the oldest goes for a new one.
const MOST_CODES: usize = 32;

impl Gate {
    pub fn new(address: SocketAddr) -> std::io::Result<Gate> {
        Ok(Gate {
            key: Token::random()?,
            address,
            codes: Mutex::new(VecDeque::new()),
        })
    }

    /// The address to open, once. What stands behind `#` is not sent.
    pub fn url(&self) -> std::io::Result<String> {
        let (address, code) = (self.address, self.code()?);
        Ok(format!("http://{address}/#{}", code.text()))
    }

    /// A code that is good once.
    pub fn code(&self) -> std::io::Result<Token> {
        let code = Token::random()?;
        let mut codes = self.codes.lock().unwrap_or_else(PoisonError::into_inner);
        if codes.len() == MOST_CODES {
            codes.pop_front();
        }
        codes.push_back(code.clone());
        Ok(code)
    }

    /// Whether this was a code; it is none any more.
    pub fn takes(&self, code: &str) -> bool {
        let mut codes = self.codes.lock().unwrap_or_else(PoisonError::into_inner);
        let before = codes.len();
        codes.retain(|known| !known.is(code));
        codes.len() < before
    }

    /// Everything but the key: where the request was sent, and by whom.
    pub fn check_sender(&self, request: &Request) -> Result<(), Refused> {
        let host = request.header("host").ok_or(Refused::Host)?;
        if !self.is_our_host(host) {
            return Err(Refused::Host);
        }
        let ours = format!("http://{host}");
        if request.has("origin") && request.header("origin") != Some(&ours) {
            return Err(Refused::Origin);
        }
        match request.header("sec-fetch-site") {
            None | Some("same-origin" | "none") => Ok(()),
            // A file leads a browser here (`--open`); the page knows nothing.
            Some(_) if request.method == Method::Get && request.path == "/" => Ok(()),
            Some(_) => Err(Refused::Origin),
        }
    }

    /// Whether the request may see and do what it wants: it brings the key, or
    /// it opens something to look at with a code.
    pub fn check_key(&self, request: &Request) -> Result<(), Refused> {
        let bearer = request.header("authorization");
        let has_key = match bearer.and_then(|value| value.strip_prefix("Bearer ")) {
            Some(key) => self.key.is(key),
            None => {
                let code = request.asked("code");
                request.method == Method::Get && code.is_some_and(|code| self.takes(code))
            }
        };
        has_key.then_some(()).ok_or(Refused::Key)
    }

    /// A name could be anybody's, an IP address is what it is.
    fn is_our_host(&self, host: &str) -> bool {
        let port = self.address.port();
        let Some(name) = host.strip_suffix(&format!(":{port}")) else {
            return false;
        };
        if name == "localhost" {
            return self.address.ip().is_loopback();
        }
        let bare = name.strip_prefix('[').and_then(|n| n.strip_suffix(']'));
        match bare.unwrap_or(name).parse::<IpAddr>() {
            Ok(ip) if self.address.ip().is_loopback() => ip.is_loopback(),
            Ok(_) => true,
            Err(_) => false,
        }
    }
}
