//! The host rules: fetching and connecting, whoever does it.

use core::net::IpAddr;

use super::walker::Walker;
use crate::RuleId;
use crate::mark;
use crate::urls::{self, Reach, Url};

/// Ports of services that obey whoever can reach them.
const CONTROL_PORTS: [u16; 7] = [2375, 2376, 10250, 10255, 2379, 9229, 4243];

fn allowed(walker: &Walker, url: &Url) -> bool {
    let hosts = &walker.context.settings.allow_hosts;
    if hosts.is_empty() {
        return false;
    }
    let name = match &url.host {
        urls::Host::Name(name) => name.clone(),
        urls::Host::V4(address) => address.to_string(),
        urls::Host::V6(address) => address.to_string(),
    };
    let with_port = url.port.map(|port| format!("{name}:{port}"));
    hosts.contains(&name) || with_port.is_some_and(|name| hosts.contains(&name))
}

/// A URL that a command fetches. A development server on this machine, plainly
/// written and with its port, is everyday work.
pub fn fetch(walker: &mut Walker, text: &str) {
    if mark::has_computed(text) && !text.contains("://") {
        return;
    }
    // `http://169.254.170.2$path`: the host ends before what is computed.
    if let Some(at) = text.find(mark::is_computed) {
        let known = text.get(..at).unwrap_or_default();
        let host = known.split_once("://").map_or("", |(_, host)| host);
        if host.matches('.').count() == 3 && !host.ends_with('.') {
            connect(walker, known);
        }
    }
    let text = &mark::unmark(text);
    walker.trace.url(text);
    let Some(url) = urls::parse(text) else { return };
    if allowed(walker, &url) {
        return;
    }
    match url.scheme.as_str() {
        "http" | "https" | "ftp" | "ftps" | "ws" | "wss" | "git" | "ssh" | "sftp" | "scp"
        | "postgres" | "postgresql" | "mysql" | "redis" | "mongodb" | "amqp" | "sqlite" | "s3"
        | "gs" | "git+ssh" | "git+https" | "jdbc" | "data" | "blob" | "docker" | "oci" | "unix"
        | "tcp" | "file" | "npm" | "node" | "urn" | "about" => {}
        "gopher" | "dict" | "ldap" | "ldaps" | "tftp" | "telnet" | "jar" | "netdoc" | "smb" => {
            return walker.report(RuleId::NetScheme, text);
        }
        _ => return,
    }
    match url.host.reach() {
        Reach::Public | Reach::LocalName => {}
        Reach::Loopback => {
            let control = url.port.is_some_and(|port| CONTROL_PORTS.contains(&port));
            let named = match &url.host {
                urls::Host::Name(name) => name == "localhost" || name.ends_with(".localhost"),
                _ => true,
            };
            let everyday = named
                && url.port.is_some_and(|port| port >= 1024)
                && url.host.is_plainly(&url.written)
                && !url.has_user;
            let system_port = url.scheme == "tcp" && url.port.is_some_and(|port| port < 1024);
            let database = !system_port
                && !one_of!(
                    url.scheme.as_str(),
                    "http https ftp git ws wss git+https git+ssh"
                );
            if control || !(everyday || database) {
                walker.report(RuleId::NetInternal, text);
            }
        }
        Reach::Private | Reach::Metadata => walker.report(RuleId::NetInternal, text),
    }
}

/// A host that code connects to, whatever it speaks.
pub fn connect(walker: &mut Walker, host: &str) {
    let inward = urls::parse(host)
        .is_some_and(|url| matches!(url.host.reach(), Reach::Private | Reach::Metadata));
    if inward {
        walker.report(RuleId::NetInternal, host);
    }
}

/// A URL that a tool fetches: nothing but the public web.
pub fn tool_fetch(walker: &mut Walker, text: &str) {
    walker.trace.url(text);
    let Some(url) = urls::parse(text) else {
        return walker.report(RuleId::NetScheme, text);
    };
    if !matches!(url.scheme.as_str(), "http" | "https") {
        return walker.report(RuleId::NetScheme, text);
    }
    if let urls::Host::Name(name) = &url.host
        && name.contains(|c: char| c.is_control() || "<>^|%[]{} #?\\:@/".contains(c))
    {
        return walker.report(RuleId::NetScheme, text);
    }
    if deceives(text) {
        return walker.report(RuleId::NetInternal, text);
    }
    if !allowed(walker, &url) && url.host.reach() != Reach::Public {
        walker.report(RuleId::NetInternal, text);
    } else if let urls::Host::Name(name) = &url.host
        && !allowed(walker, &url)
        && leads_inward(walker, name)
    {
        walker.report(RuleId::NetResolved, text);
    }
    // Browsers end the host at a backslash, other programs read on.
    let read_on = text.replace('\\', "");
    let inward = |url: Url| !allowed(walker, &url) && url.host.reach() != Reach::Public;
    if read_on != text && urls::parse(&read_on).is_some_and(inward) {
        walker.report(RuleId::NetInternal, text);
    }
    let query = url.path.to_ascii_lowercase();
    let redirects =
        words!("url=http redirect=http target=http dest=http uri=http next=http u=http to=http");
    for start in redirects {
        if let Some((_, rest)) = query.split_once(start) {
            let inner = format!("http{rest}");
            let inner = inner.replace("%3a", ":").replace("%2f", "/");
            let inner = inner.split('&').next().unwrap_or(&inner).to_owned();
            let inward = |url: Url| !matches!(url.host.reach(), Reach::Public | Reach::LocalName);
            if urls::parse(&inner).is_some_and(inward) {
                walker.report(RuleId::NetInternal, text);
            }
        }
    }
}

/// Does a name lead into the machine or its network (GARD-05)? Only a person
/// who wants to know pays for the question. What the name leads to when the
/// client asks may be another address: the sandbox looks at that one.
fn leads_inward(walker: &Walker, name: &str) -> bool {
    let is_on = |id: &String| id == RuleId::NetResolved.name();
    if !walker.context.settings.enable.iter().any(is_on) {
        return false;
    }
    let inward = |address: IpAddr| urls::Host::from(address).reach() != Reach::Public;
    let addresses = walker.context.world.addresses(name);
    addresses.is_none_or(|addresses| addresses.into_iter().any(inward))
}

/// Is it written so that one program reads another host than the next: a host
/// or a path before the `@`, or an `@` right behind the host?
fn deceives(text: &str) -> bool {
    let compact: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    let rest = compact.split_once("://").map_or("", |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#', '\\']).next().unwrap_or_default();
    let behind = rest.get(authority.len()..).unwrap_or_default();
    if behind.starts_with("#@") || behind.starts_with("?@") {
        return true;
    }
    let Some((user, _)) = authority.rsplit_once('@') else {
        return false;
    };
    let lower = user.to_ascii_lowercase();
    let name = lower.split([':', '%']).next().unwrap_or_default();
    has_any!(lower, "%2f %5c %23 %3f %40 & @")
        || matches!(
            urls::Host::parse(name).reach(),
            Reach::Loopback | Reach::Private | Reach::Metadata
        )
}
