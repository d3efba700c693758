//! Containers: what throws their data away or breaks out of them.

use crate::RuleId;
use crate::meaning::args::Args;
use crate::meaning::env::Env;
use crate::meaning::walk::{Command, Walker};

use super::cloud::global_options;
use super::files;

pub fn judge(walker: &mut Walker, command: &Command, env: &Env) {
    if !one_of!(
        command.name,
        "docker podman nerdctl docker-compose podman-compose ctr crictl buildah"
    ) {
        return;
    }
    let args = command.args;
    let has = |flag: &str| args.iter().any(|word| word == flag);
    let words = Args::read(args, global_options(command.name)).operands;
    let compose = command.name.ends_with("-compose") || words.first() == Some(&"compose");
    let shown = format!("{} {}", command.name, args.join(" "));
    if compose {
        let down = words.contains(&"down") || words.contains(&"rm");
        let volumes = has("-v") || has("--volumes") || has("-fv") || has("-sfv") || has("-fsv");
        if down && volumes {
            walker.report(RuleId::ContainerDestroy, &shown);
        }
    }
    if let ["cp", source, target, ..] = words.as_slice() {
        if !source.contains(':') {
            files::read(walker, source, env);
        }
        if !target.contains(':') {
            files::write(walker, target, env);
        }
    }
    let destroys = match words.as_slice() {
        [_, "prune", ..] => !has("--help"),
        ["volume", "rm" | "remove", ..]
        | ["swarm", "leave", ..]
        | ["stack" | "service" | "node" | "secret" | "config", "rm", ..]
        | ["images" | "containers" | "snapshots", "rm" | "delete", ..] => true,
        ["rm" | "stop" | "kill" | "rmi", rest @ ..]
        | ["container" | "image", "rm" | "stop" | "kill", rest @ ..] => {
            has("-v")
                || has("--volumes")
                || has("-fv")
                || has("-vf")
                || rest
                    .iter()
                    .any(|word| crate::meaning::mark::has_computed(word))
                || has("-aq")
                || has("-a")
                || has("--all")
                || has("-af")
                || has("-fa")
                || has("--prune")
        }
        ["machine", "rm" | "reset", ..] | ["context", "rm", ..] | ["system", "reset", ..] => true,
        _ => false,
    };
    if destroys && !compose {
        walker.report(RuleId::ContainerDestroy, &shown);
    }
    if matches!(
        words.first(),
        Some(&"run" | &"create" | &"exec" | &"container")
    ) || compose
    {
        escapes(walker, args, &shown, env);
    }
    if words.first() == Some(&"login")
        && args
            .iter()
            .any(|word| word == "-p" || word.starts_with("--password=") || word == "--password")
    {
        walker.report(RuleId::SecretSend, "docker login -p");
    }
}

fn escapes(walker: &mut Walker, args: &[String], shown: &str, env: &Env) {
    let takes = takes!(
        "vuweplmh",
        "volume mount pid net network ipc cap-add security-opt device userns uts name env
         env-file user workdir publish"
    );
    let options = Args::read(args, takes);
    let mut out =
        options.long("privileged") && !args.iter().any(|word| word == "--privileged=false");
    out |= options
        .values(&["pid", "ipc", "userns", "uts"])
        .any(|value| value == "host");
    out |= options.values(&["cap-add"]).any(|value| {
        let value = value.to_ascii_uppercase();
        words!("ALL SYS_ADMIN SYS_PTRACE SYS_MODULE NET_ADMIN DAC_READ_SEARCH")
            .iter()
            .any(|capability| value.ends_with(capability))
            && !value.ends_with("SYS_PTRACE")
    });
    out |= options
        .values(&["security-opt"])
        .any(|value| value.contains("unconfined"));
    out |= options.values(&["device"]).any(|value| {
        value.starts_with("/dev/sd")
            || value.starts_with("/dev/nvme")
            || value.starts_with("/dev/mem")
    });
    for value in options.values(&["v", "volume", "mount"]) {
        let source = match value
            .split_once("source=")
            .or_else(|| value.split_once("src="))
        {
            Some((_, rest)) => rest.split(',').next().unwrap_or(rest),
            None => value.split(':').next().unwrap_or(value),
        };
        out |= source == "/"
            || source == walker.home()
            || source.contains("docker.sock")
            || source.contains("containerd.sock");
        out |= words!("/etc /root /var /usr /home /boot /proc /sys /dev /var/run /var/lib/docker")
            .contains(&source.trim_end_matches('/'));
        if source.contains('/') {
            files::mentioned(walker, source, env);
        }
        out |= source.contains("/.ssh")
            || source.contains("/.aws")
            || source.contains("/.kube")
            || source.contains("/.gnupg");
    }
    if out {
        walker.report(RuleId::ContainerEscape, shown);
    }
}
