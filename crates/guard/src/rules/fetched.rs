//! Programs that come from the network by way of another program: a package
//! from an address, a downloaded file that is installed, what an archive held.

use crate::RuleId;
use crate::meaning::{Command, Env, Flow, Takes, Walker};
use crate::urls;
use crate::words::is_one_of;

/// Hosts that everybody's packages come from.
const KNOWN_HOSTS: &[&str] = words!(
    "github.com codeload.github.com objects.githubusercontent.com gitlab.com bitbucket.org
     pypi.org files.pythonhosted.org download.pytorch.org registry.npmjs.org
     registry.yarnpkg.com rubygems.org proxy.golang.org crates.io huggingface.co
     storage.googleapis.com pkg.pr.new"
);

/// Options whose value is an address of a registry, which other rules judge.
const TAKES: Takes = takes!(
    "irfc",
    "index-url extra-index-url find-links registry source proxy trusted-host index requirement
     constraint branch tag rev"
);

/// Words behind which packages stand.
const INSTALL_VERBS: &str = "install|i|add|get|tool|localinstall|x|tap|upgrade|box";

pub fn judge(walker: &mut Walker, command: &Command, env: &Env) {
    let installs = one_of!(
        command.name,
        "pip pip3 pipx uv npm npx pnpm yarn bun bunx gem go cargo rpm dnf yum zypper brew helm
         nix nix-shell guix ansible-galaxy vagrant terraform tofu docker podman pnpx conda"
    );
    let starts = installs
        || one_of!(
            command.name,
            "dpkg apt apt-get snap flatpak installer java dotnet mono wine msiexec insmod adb"
        );
    let obeys = one_of!(
        command.name,
        "psql mysql mariadb sqlite3 mongosh redis-cli at batch crontab ssh"
    ) || matches!(command.name, "awk" | "gawk")
        && command.args.windows(2).any(|pair| pair == ["-f", "-"]);
    if obeys && *command.stdin == Flow::Network {
        walker.report(RuleId::NetPipeToShell, command.name);
    }
    let builds = one_of!(
        command.name,
        "make cmake gmake npm pnpm yarn bun cargo go pip pip3 mvn gradle rake bundle composer
         meson ninja tox just docker"
    );
    let mut given = command.args.iter().filter(|word| !word.starts_with('-'));
    let mut from_there =
        || walker.was_fetched(".", env) || given.any(|word| walker.was_fetched(word, env));
    if builds && !env.fetched.is_empty() && from_there() {
        walker.report(RuleId::NetDownloadThenRun, command.name);
    }
    if !starts {
        return;
    }
    let args = command.read(TAKES);
    // What is started gets words of its own behind its name.
    let packages: &[&str] = match (command.name, args.operands.as_slice()) {
        ("npx" | "bunx", [package, ..]) => std::slice::from_ref(package),
        (name, ["run" | "exec" | "dlx", package, ..]) if name != "cargo" => {
            std::slice::from_ref(package)
        }
        (_, [verb, packages @ ..]) if is_one_of(INSTALL_VERBS, verb) => packages,
        ("rpm" | "nix-shell", packages) => packages,
        ("docker" | "podman", ["build", packages @ ..]) => packages,
        _ => &[],
    };
    let registries = words!("git index-url extra-index-url i registry source s url find-links");
    // Terraform's options have one dash.
    let words = command.args.iter();
    let module = words.filter_map(|word| word.strip_prefix("-from-module="));
    let addresses = packages.iter().copied().chain(args.values(registries));
    for word in addresses
        .chain(module)
        .filter(|word| installs && comes_from_nowhere(word))
    {
        walker.report(RuleId::NetRunRemoteCode, word);
    }
    // What `npx` starts is its first word; the others are data.
    let own = match one_of!(command.name, "npx bunx pnpx uvx") {
        true => args.operands.get(..1).unwrap_or_default(),
        false => &command.words(),
    };
    for word in own {
        if walker.file_flow(word, env) == Flow::Network {
            walker.report(RuleId::NetDownloadThenRun, word);
        }
    }
}

/// An address of a package on a host that nobody knows.
fn comes_from_nowhere(word: &str) -> bool {
    let url = word.rsplit_once(" @ ").map_or(word, |(_, url)| url);
    let url = url.strip_prefix("git+").unwrap_or(url);
    if !url.contains("://") {
        return false;
    }
    match urls::parse(url) {
        Some(url) => {
            let local = matches!(url.written.as_str(), "localhost" | "127.0.0.1");
            !local && !KNOWN_HOSTS.contains(&url.written.as_str())
        }
        None => true,
    }
}
