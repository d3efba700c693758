//! The network: internal hosts, code that is fetched and run, shells that
//! listen or call out.

use crate::RuleId;
use crate::mark;
use crate::meaning::known::client_takes;
use crate::meaning::{Args, Command, Env, Flow, Walker, files, hosts};
use crate::urls::{self, Reach};
use crate::words::is_one_of;

pub fn judge(walker: &mut Walker, command: &Command, env: &mut Env) {
    match command.name {
        "curl" | "wget" | "aria2c" | "http" | "https" | "xh" | "lynx" | "w3m" | "fetch"
        | "curlie" | "axel" | "links" | "elinks" | "wget2" | "httpie" => {
            client(walker, command, env)
        }
        "nc" | "ncat" | "netcat" | "telnet" => raw(walker, command),
        "socat" => socat(walker, command, env),
        "dig" | "nslookup" | "host" | "ping" | "drill" | "whois"
            if command.args.iter().any(|word| word.contains(mark::SECRET)) =>
        {
            walker.report(RuleId::SecretSend, command.name)
        }
        "git" => git(walker, command),
        "deno" | "npx" | "bunx" | "pnpx" => {
            let runs = command.name != "deno" || matches!(command.first(), "run" | "install");
            // What it runs comes first; later words are the tool's own.
            let is_own = |word: &&String| is_one_of("-*|run|install", word);
            let what = command.args.iter().find(|word| !is_own(word));
            if let Some(url) = what.filter(|word| runs && is_one_of("http://*|https://*", word)) {
                walker.report(RuleId::NetRunRemoteCode, url);
            }
        }
        "pip" | "pip3" | "npm" | "pnpm" | "yarn" | "gem" | "uv" | "pipx" | "easy_install" => {
            let plain = |word: &&String| {
                let http = |part: &str| part.starts_with("http://");
                word.split('=').any(http) && !has_any!(word, "localhost 127.0.0.1")
            };
            if let Some(url) = command.args.iter().find(plain) {
                walker.report(RuleId::NetRunRemoteCode, url);
            }
            installs_elsewhere(walker, command, env);
            let words = command.args.iter().filter_map(|word| word.split_once('='));
            for (_, text) in words.filter(|(name, _)| name.starts_with("scripts.")) {
                walker.aside(text, env);
            }
        }
        // Elixir's shell of the same name takes options.
        "iex" | "Invoke-Expression" if !command.has("-*") => {
            walker.report(RuleId::NetRunRemoteCode, command.name);
        }
        "ngrok" | "cloudflared" | "localtunnel" | "lt" | "bore"
            if !command.args.is_empty() && !command.has("--version|version") =>
        {
            walker.report(RuleId::NetListen, command.name);
        }
        "ssh" => {
            let args = command.read(takes!("BbcDEeFIiJLlmOopQRSWw", ""));
            if args.short('R') || args.short('D') {
                walker.report(RuleId::NetListen, "ssh -R");
            }
        }
        "nmap" | "masscan" | "hydra" | "sqlmap" | "msfconsole" | "msfvenom" => {
            walker.report(RuleId::NetInternal, command.name)
        }
        _ => {}
    }
}

/// `npm install --prefix /usr`, `pip install --target ~/x`.
fn installs_elsewhere(walker: &mut Walker, command: &Command, env: &Env) {
    let args = command.read(takes!("", "prefix target root dir script-shell"));
    let installs = |word: &&str| matches!(*word, "install" | "i" | "add" | "ci");
    if args.operands.iter().any(installs) {
        files::write_all(walker, args.values(&["prefix", "target", "root"]), env);
    }
    let shell = command.has("*script-shell*");
    let sets = args.operands.contains(&"set");
    if shell && sets || args.values(&["script-shell"]).next().is_some() {
        walker.report(RuleId::SystemLoader, "script-shell");
    }
}

fn client(walker: &mut Walker, command: &Command, env: &mut Env) {
    let args = command.read(client_takes(command.name));
    let mut urls: Vec<&str> = args.operands.clone();
    urls.extend(args.values(&["url"]));
    if matches!(command.name, "http" | "https" | "xh") {
        urls.retain(|word| word.contains('.') || word.contains(':') || word.contains("localhost"));
        urls.retain(|word| !word.contains('=') || word.contains("://"));
    }
    for url in &urls {
        if let Some(path) = strip_ignoring_case(url, "file:") {
            files::read(walker, path.trim_start_matches("//"), env);
            walker.report(RuleId::NetScheme, url);
            continue;
        }
        hosts::fetch(walker, url);
        if url.contains(mark::SECRET) {
            walker.report(RuleId::SecretSend, url);
        }
    }
    // `--resolve name:port:address`, `--connect-to from:port:to:port`.
    let detours = args.values(&["resolve", "connect-to"]);
    let hosts = detours.flat_map(|value| value.split(':').skip(1));
    let proxies = args.values(&["proxy", "x", "doh-url", "preproxy", "socks5"]);
    let is_port = |word: &&str| word.bytes().all(|byte| byte.is_ascii_digit());
    for host in hosts.chain(proxies).filter(|host| !is_port(host)) {
        hosts::connect(walker, host);
    }
    let mut sockets = args.values(&["unix-socket"]);
    if sockets.any(|path| path.contains("docker.sock")) {
        walker.report(RuleId::ContainerEscape, "docker.sock");
    }
    let outputs: &[&str] = match command.name {
        "wget" => {
            words!("O output-document P directory-prefix o output-file a save-cookies warc-file")
        }
        "curl" => words!("o output output-dir cookie-jar c dump-header D"),
        _ => &["o", "output", "out", "d", "dir"],
    };
    files::write_all(
        walker,
        args.values(outputs).filter(|path| *path != "-"),
        env,
    );
    sends(walker, command, &args, env);
    for path in args.values(&["K", "config"]) {
        configured(walker, command, path, env);
    }
    if one_of!(command.name, "wget wget2 aria2c") {
        for path in args.values(&["i", "input-file"]) {
            if let Flow::Text(text) = walker.file_flow(path, env) {
                text.lines()
                    .take(64)
                    .for_each(|url| hosts::fetch(walker, url));
            }
        }
    }
}

/// `curl --config`: a file of options, where the text says what is in it.
fn configured(walker: &mut Walker, command: &Command, path: &str, env: &mut Env) {
    let flow = match path {
        "-" => command.stdin.clone(),
        path => walker.file_flow(path, env),
    };
    let Flow::Text(text) = flow else { return };
    for line in text.lines().take(64) {
        let (name, value) = line.split_once(['=', ' ', ':']).unwrap_or((line, ""));
        let name = name.trim().trim_start_matches('-');
        if !name.is_empty() && !name.starts_with('#') {
            let value = value.trim_matches([' ', '=', '"']);
            let argv = ["curl".to_owned(), format!("--{name}"), value.to_owned()];
            walker.run(&argv, env, &Flow::Unknown);
        }
    }
}

/// What a client sends along: files, the environment, secrets.
fn sends(walker: &mut Walker, command: &Command, args: &Args, env: &mut Env) {
    let bodies: &[&str] = words!(
        "d data data-raw data-binary data-urlencode json F form T upload-file post-data
         post-file body-data body-file K config"
    );
    let leaves = leaves_machine(args);
    let is_private = |flow: &Flow| *flow == Flow::Environment || *flow == Flow::Archive && leaves;
    for name in bodies {
        let names = [*name];
        for value in args.values(&names) {
            if value.contains(mark::SECRET) {
                walker.report(RuleId::SecretSend, value);
            }
            let is_path = one_of!(*name, "T upload-file post-file body-file K config");
            let path = match value.split_once(['@', '<']) {
                Some((before, path)) if before.is_empty() || before.ends_with('=') => Some(path),
                Some((_, path)) if *name == "data-urlencode" => Some(path),
                _ if is_path => Some(value),
                _ => None,
            };
            match path {
                Some("-" | ".") if is_private(command.stdin) => {
                    walker.report(RuleId::SecretSend, command.name)
                }
                Some("-" | ".") | None => {}
                Some(path) => {
                    let path = path.split(';').next().unwrap_or(path);
                    files::read(walker, path, env);
                    if is_private(&walker.file_flow(path, env)) {
                        walker.report(RuleId::SecretSend, path);
                    }
                }
            }
        }
    }
    for header in args.values(&["A", "user-agent", "e", "referer", "b", "cookie"]) {
        if header.contains(mark::SECRET) {
            walker.report(RuleId::SecretSend, header);
        }
    }
    // A token in a header is how an API is used; over plain HTTP it leaks,
    // and so it does in a header that is not for tokens.
    let is_plain = |url: &&str| url.starts_with("http://") && !has_any!(url, "localhost 127.0.0.1");
    let plain = args.operands.iter().any(is_plain);
    for login in args.values(&["u", "user"]) {
        if login.contains(mark::SECRET) && plain {
            walker.report(RuleId::SecretSend, login);
        }
    }
    for header in args.values(&["H", "header"]) {
        let misused = header
            .split_once(':')
            .is_some_and(|(name, _)| name.len() < 40 && !is_for_tokens(name));
        if header.contains(mark::SECRET) && (plain || misused && leaves) {
            walker.report(RuleId::SecretSend, header);
        }
    }
    if *command.stdin == Flow::Environment {
        walker.report(RuleId::SecretSend, command.name);
    }
}

/// Is a header of this name where a service expects its token?
fn is_for_tokens(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    name.contains(mark::SECRET)
        || has_any!(
            name,
            "auth key token secret cookie password credential signature"
        )
}

fn strip_ignoring_case<'a>(text: &'a str, prefix: &str) -> Option<&'a str> {
    let start = text.get(..prefix.len())?;
    start
        .eq_ignore_ascii_case(prefix)
        .then(|| text.get(prefix.len()..))?
}

fn raw(walker: &mut Walker, command: &Command) {
    let args = command.read(client_takes(command.name));
    let all = command.args.join(" ");
    let runs = args.short('e') || args.long("exec") || args.long("sh-exec");
    if runs || args.long("lua-exec") || args.short('c') && command.name != "telnet" {
        walker.report(RuleId::NetReverseShell, &all);
    }
    if args.short('l') || args.long("listen") {
        walker.report(RuleId::NetListen, &all);
    }
    if *command.stdin == Flow::Environment {
        walker.report(RuleId::SecretSend, &all);
    }
    if let Some(host) = args.operands.first() {
        let port = args.operands.get(1).copied().unwrap_or("80");
        let host = if host.contains(':') {
            format!("[{host}]")
        } else {
            (*host).to_owned()
        };
        // `-z` only asks whether somebody listens.
        let asks = args.short('z') && matches!(host.as_str(), "localhost" | "127.0.0.1");
        if !asks {
            hosts::fetch(walker, &format!("tcp://{host}:{port}"));
        }
        let reach = urls::parse(&format!("tcp://{host}:{port}")).map(|url| url.host.reach());
        let sends = matches!(command.stdin, Flow::Files | Flow::Archive);
        if sends && reach == Some(Reach::Public) {
            walker.report(RuleId::SecretSend, &all);
        }
    }
}

/// `socat` carries between two addresses: a file, a host, a program.
fn socat(walker: &mut Walker, command: &Command, env: &mut Env) {
    let all = command.line();
    let operands = command
        .args
        .iter()
        .filter(|word| !word.starts_with('-') || *word == "-");
    let addresses: Vec<(String, &str)> = operands
        .map(|word| {
            let (kind, rest) = word.split_once(':').unwrap_or((word, ""));
            (kind.to_ascii_lowercase(), rest)
        })
        .collect();
    let is_host = |kind: &str| is_one_of("tcp*|udp*|openssl*|ssl*|socks*|proxy*|sctp*", kind);
    let calls = addresses
        .iter()
        .any(|(kind, _)| is_host(kind) && !kind.contains("listen"));
    if *command.stdin == Flow::Environment
        || calls && matches!(command.stdin, Flow::Files | Flow::Archive)
    {
        walker.report(RuleId::SecretSend, &all);
    }
    for (kind, rest) in &addresses {
        let path = rest.split(',').next().unwrap_or(rest);
        match kind.as_str() {
            "exec" | "system" | "shell" => walker.report(RuleId::NetReverseShell, &all),
            "file" | "open" | "gopen" | "create" => {
                files::read(walker, path, env);
                if kind == "create" || rest.contains("creat") || calls {
                    files::write(walker, path, env);
                    walker.note_file(path, &Flow::Network, env);
                }
            }
            kind if kind.contains("listen") => walker.report(RuleId::NetListen, &all),
            kind if is_host(kind) => hosts::fetch(walker, &format!("tcp://{path}")),
            _ => {}
        }
    }
}

fn git(walker: &mut Walker, command: &Command) {
    let verb = command.args.iter().find(|word| !word.starts_with('-'));
    let verb = verb.map_or("", String::as_str);
    if !one_of!(
        verb,
        "clone fetch pull push ls-remote remote submodule archive"
    ) {
        return;
    }
    for word in command.args {
        if word.starts_with("ext::") || word.starts_with("fd::") {
            walker.report(RuleId::NetRunRemoteCode, word);
        } else if word.contains("://") {
            hosts::fetch(walker, word);
            let to_forge = has_any!(word, "@github.com @gitlab.com @bitbucket.org");
            if word.contains(mark::SECRET) && !to_forge {
                walker.report(RuleId::SecretSend, word);
            }
        }
        let runs = is_one_of("--upload-pack|--upload-pack=*|--receive-pack=*", word);
        if runs || word == "-u" && verb == "clone" {
            walker.report(RuleId::GitConfigInjection, word);
        }
    }
}

/// Does one of these addresses belong to another machine?
fn leaves_machine(args: &Args) -> bool {
    let local = |url: &&str| has_any!(url, "localhost 127.0.0.1");
    !args.operands.iter().all(local)
}
