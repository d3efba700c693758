//! Containers: what throws their data away or breaks out of them.

use crate::RuleId;
use crate::mark;
use crate::meaning::{Args, Command, Env, Walker, files};
use crate::words::is_one_of;

use super::cloud::global_options;
use super::pattern::Call;
use super::table::CONTAINER;

pub fn judge(walker: &mut Walker, command: &Command, env: &Env) {
    if !CONTAINER.knows(command.name) {
        return;
    }
    let args = command.args;
    let words = Args::read(args, global_options(command.name)).operands;
    let compose = command.name.ends_with("-compose") || words.first() == Some(&"compose");
    let shown = command.line();
    if let ["cp", source, target, ..] = words.as_slice() {
        if !source.contains(':') {
            files::read(walker, source, env);
        }
        if !target.contains(':') {
            files::write(walker, target, env);
        }
    }
    let call = Call::of(&words, args);
    // `docker rm $(docker ps -q)`: which ones is only known when it runs.
    let any = (call.is("rm|stop|kill|rmi") || call.is("container|image rm|stop|kill"))
        && words.iter().any(|word| mark::has_computed(word));
    let destroys = if compose {
        call.is("..down|rm +-v|--volumes|-fv|-sfv|-fsv")
    } else {
        any || CONTAINER.broken(command.name, call).is_some()
    };
    if destroys {
        walker.report(RuleId::ContainerDestroy, &shown);
    }
    if compose || call.is("run|create|exec|container") {
        escapes(walker, args, &shown, env);
    }
    if call.is("login") && command.has("-p|--password|--password=*") {
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
    let powers = "*ALL|*SYS_ADMIN|*SYS_MODULE|*NET_ADMIN|*DAC_READ_SEARCH";
    out |= options
        .values(&["cap-add"])
        .any(|value| is_one_of(powers, &value.to_ascii_uppercase()));
    out |= options
        .values(&["security-opt"])
        .any(|value| value.contains("unconfined"));
    out |= options
        .values(&["device"])
        .any(|value| is_one_of("/dev/sd*|/dev/nvme*|/dev/mem*", value));
    for value in options.values(&["v", "volume", "mount"]) {
        let mounted = value
            .split_once("source=")
            .or_else(|| value.split_once("src="));
        let source = match mounted {
            Some((_, rest)) => rest.split(',').next().unwrap_or(rest),
            None => value.split(':').next().unwrap_or(value),
        };
        out |= source == "/" || source == walker.home();
        out |= has_any!(
            source,
            "docker.sock containerd.sock /.ssh /.aws /.kube /.gnupg"
        );
        out |= words!("/etc /root /var /usr /home /boot /proc /sys /dev /var/run /var/lib/docker")
            .contains(&source.trim_end_matches('/'));
        if source.contains('/') {
            files::mentioned(walker, source, env);
        }
    }
    if out {
        walker.report(RuleId::ContainerEscape, shown);
    }
}
