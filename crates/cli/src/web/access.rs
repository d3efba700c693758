//! Who may look and who may act. The page stands on loopback, and that is not
//! enough: every page in the same browser can send requests there, and a name
//! that resolves to loopback makes them look like ours (DNS rebinding).

use std::io::Read;
use std::net::{IpAddr, SocketAddr};

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
        let mut bytes = [0; 16];
        std::fs::File::open("/dev/urandom")?.read_exact(&mut bytes)?;
        Ok(Token(bytes.iter().map(|b| format!("{b:02x}")).collect()))
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
    Token,
}

#[derive(Clone, Debug)]
pub struct Gate {
    pub token: Token,
    pub address: SocketAddr,
}

impl Gate {
    /// The cookie is named by the port, so that two servers do not take each
    /// other's away.
    fn cookie_name(&self) -> String {
        format!("ralph-{}", self.address.port())
    }

    pub fn cookie(&self) -> String {
        let (name, token) = (self.cookie_name(), self.token.text());
        format!("{name}={token}; Path=/; HttpOnly; SameSite=Strict")
    }

    /// The address to open.
    pub fn url(&self) -> String {
        let (address, token) = (self.address, self.token.text());
        format!("http://{address}/?token={token}")
    }

    /// Whether the request brings the token in its address, as the first one
    /// does.
    pub fn brings_token(&self, request: &Request) -> bool {
        let token = request.asked("token");
        request.method == Method::Get && token.is_some_and(|token| self.token.is(token))
    }

    /// Everything but the token: where the request was sent, and by whom.
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
            Some(_) => Err(Refused::Origin),
        }
    }

    /// Whether the request may see, and for a POST do, what it wants.
    pub fn check_token(&self, request: &Request) -> Result<(), Refused> {
        let bearer = request.header("authorization");
        if let Some(token) = bearer.and_then(|value| value.strip_prefix("Bearer ")) {
            return self.token.is(token).then_some(()).ok_or(Refused::Token);
        }
        let name = self.cookie_name();
        let cookies = request.header("cookie").unwrap_or_default().split("; ");
        let mut ours = cookies.filter_map(|pair| pair.split_once('=').filter(|(n, _)| *n == name));
        if !ours.any(|(_, token)| self.token.is(token)) {
            return Err(Refused::Token);
        }
        // A cookie is sent by the browser itself: an act needs to say whose
        // page it comes from.
        match request.method == Method::Post && !request.has("origin") {
            true => Err(Refused::Origin),
            false => Ok(()),
        }
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
