//! Takes the network and the file system away from the scenarios, where the
//! system lets us: only loopback is up, and only the scratch folder can be
//! written.

use std::fs;
use std::io;
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// Set in the process that runs inside.
pub const INSIDE: &str = "RALPH_E2E_SCRATCH";

/// Runs in the new namespaces: `sh -c SCRIPT sh SCRATCH PROGRAM ARGS…`.
///
/// Names are looked up on loopback, see `names`. The kernel's own file systems
/// stay as they are.
const SCRIPT: &str = r#"
set -e
scratch=$1; shift
ip link set lo up
mount --make-rprivate /
printf 'nameserver 127.0.0.1\n' > "$scratch/resolv.conf"
mount --bind "$scratch/resolv.conf" /etc/resolv.conf
mount --bind "$scratch" "$scratch"
findmnt -rno TARGET | while read -r place; do
  case $place in
    /proc*|/sys*|/dev*|"$scratch") ;;
    *) mount -o remount,bind,ro "$place" ;;
  esac
done
exec "$@"
"#;

/// The command that runs this program again inside, or why there is none.
pub fn command(scratch: &Path) -> Result<Command, String> {
    let mut reason = String::from("unshare does not start");
    for flags in [&[][..], &["--map-root-user"][..]] {
        let inside = |program: &Path| {
            let mut command = Command::new("unshare");
            command
                .args(flags)
                .args(["--net", "--mount", "sh", "-c", SCRIPT, "sh"])
                .arg(scratch)
                .arg(program);
            command
        };
        match inside(Path::new("true")).output() {
            Ok(output) if output.status.success() => {
                let program = std::env::current_exe().map_err(|e| e.to_string())?;
                let mut command = inside(&program);
                command.env(INSIDE, scratch);
                return Ok(command);
            }
            Ok(output) => {
                let said = String::from_utf8_lossy(&output.stderr);
                reason = said.lines().next().unwrap_or_default().to_owned();
            }
            Err(error) => reason = format!("unshare: {error}"),
        }
    }
    Err(reason)
}

/// Believes nothing: tries to get out.
pub fn prove(outside: &Path) -> Result<(), String> {
    let probe = outside.join("e2e-isolation-probe");
    if fs::write(&probe, "").is_ok() {
        let _ = fs::remove_file(&probe);
        return Err(format!("{} can be written", outside.display()));
    }
    // An address for documentation, which no machine has.
    let nowhere = SocketAddr::from(([192, 0, 2, 1], 80));
    match TcpStream::connect_timeout(&nowhere, Duration::from_secs(1)) {
        Err(error) if error.kind() == io::ErrorKind::NetworkUnreachable => Ok(()),
        other => Err(format!("there is a way out to the network: {other:?}")),
    }
}
