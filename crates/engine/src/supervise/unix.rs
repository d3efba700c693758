//! Sessions, groups and signals.
//!
//! This is the one place of the project with `unsafe` code.
#![expect(
    unsafe_code,
    reason = "a session of its own can only be made between fork and exec"
)]

use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

use ralph_store::fault::{self, point};
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, getpgid, getpid, getsid, kill_process, kill_process_group,
    setsid, waitid,
};
use tokio::process::{Child, Command};
use tokio::task::{JoinHandle, spawn_blocking};

use super::Ending;

/// The child leads a session of its own: no controlling terminal, so no
/// SIGTTIN, and Ctrl+C at our terminal does not reach it.
pub fn own_session(command: &mut Command) {
    // SAFETY: the closure runs in the forked child before exec. It calls only
    // setsid(2), which is async-signal-safe, and allocates nothing.
    unsafe {
        command.pre_exec(|| setsid().map(|_| ()).map_err(io::Error::from));
    }
}

/// An overlay, as the kernel is asked for it.
#[cfg(target_os = "linux")]
struct Layer {
    target: std::ffi::CString,
    as_root: std::ffi::CString,
    as_user: std::ffi::CString,
    /// What the kernel leaves behind one that is not kept, and that would keep
    /// it from being mounted again.
    marks: Vec<std::ffi::CString>,
}

#[cfg(target_os = "linux")]
fn layers(overlays: &[super::Overlay]) -> io::Result<Vec<Layer>> {
    use std::ffi::CString;
    use std::os::unix::ffi::OsStrExt;

    let c_string = |bytes: &[u8]| CString::new(bytes).map_err(io::Error::other);
    let option = |path: &std::path::Path| {
        let bytes = path.as_os_str().as_bytes().iter();
        let escape = |&byte: &u8| match byte {
            b'\\' | b':' | b',' => vec![b'\\', byte],
            byte => vec![byte],
        };
        bytes.flat_map(escape).collect::<Vec<u8>>()
    };
    let mut layers = Vec::new();
    for overlay in overlays {
        let mut data = b"lowerdir=".to_vec();
        data.extend(option(&overlay.lower));
        data.extend_from_slice(b",upperdir=");
        data.extend(option(&overlay.upper));
        data.extend_from_slice(b",workdir=");
        data.extend(option(&overlay.work));
        let mut marks = Vec::new();
        if overlay.passing {
            data.extend_from_slice(b",volatile");
            for mark in ["volatile/dirty", "volatile", ""] {
                let mark = std::path::Path::new("work/incompat").join(mark);
                marks.push(c_string(overlay.work.join(mark).as_os_str().as_bytes())?);
            }
        }
        let as_root = c_string(&data)?;
        data.extend_from_slice(b",userxattr");
        layers.push(Layer {
            target: c_string(overlay.at.as_os_str().as_bytes())?,
            as_root,
            as_user: c_string(&data)?,
            marks,
        });
    }
    Ok(layers)
}

/// Lays overlays over folders, for the child and its children alone: in a
/// mount namespace of its own, as root or within a user namespace in which it
/// stays who it is. They go with the last of them.
#[cfg(target_os = "linux")]
pub fn enter(
    command: &mut Command,
    overlays: &[super::Overlay],
    cwd: &std::path::Path,
) -> io::Result<()> {
    use std::ffi::CString;
    use std::os::unix::ffi::OsStrExt;

    let c_string = |bytes: &[u8]| CString::new(bytes).map_err(io::Error::other);
    let layers = layers(overlays)?;
    let cwd = c_string(cwd.as_os_str().as_bytes())?;
    let (uid, gid) = (rustix::process::geteuid(), rustix::process::getegid());
    let is_root = uid.is_root();
    // In a container that is a user namespace, root can't write the marks that
    // only the system's own root writes, and could then remove no folder.
    let map = std::fs::read_to_string("/proc/self/uid_map").unwrap_or_default();
    let is_systems = map.split_whitespace().eq(["0", "0", "4294967295"]);
    let uids = c_string(format!("{0} {0} 1", uid.as_raw()).as_bytes())?;
    let gids = c_string(format!("{0} {0} 1", gid.as_raw()).as_bytes())?;
    let enter = move || -> io::Result<()> {
        use rustix::mount::{MountFlags, MountPropagationFlags, mount, mount_change};
        use rustix::thread::{UnshareFlags, unshare_unsafe};

        // SAFETY: no table of files is unshared, and this is the child's only
        // thread.
        let as_root = is_root && unsafe { unshare_unsafe(UnshareFlags::NEWNS) }.is_ok();
        if !as_root {
            // SAFETY: as above.
            unsafe { unshare_unsafe(UnshareFlags::NEWUSER | UnshareFlags::NEWNS) }?;
            put(c"/proc/self/setgroups", c"deny")?;
            put(c"/proc/self/uid_map", &uids)?;
            put(c"/proc/self/gid_map", &gids)?;
        }
        mount_change(
            c"/",
            MountPropagationFlags::PRIVATE | MountPropagationFlags::REC,
        )?;
        for layer in &layers {
            for mark in &layer.marks {
                let _ = rustix::fs::unlink(&**mark).or_else(|_| rustix::fs::rmdir(&**mark));
            }
            let data = match as_root && is_systems {
                true => &layer.as_root,
                false => &layer.as_user,
            };
            mount(
                c"overlay",
                &*layer.target,
                c"overlay",
                MountFlags::empty(),
                &**data,
            )?;
        }
        rustix::process::chdir(&*cwd)?;
        Ok(())
    };
    // SAFETY: the closure runs in the forked child before exec. It makes
    // system calls with what was prepared before the fork, and allocates
    // nothing.
    unsafe {
        command.pre_exec(enter);
    }
    Ok(())
}

#[cfg(not(target_os = "linux"))]
pub fn enter(
    _command: &mut Command,
    _overlays: &[super::Overlay],
    _cwd: &std::path::Path,
) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// The child dies with this process, and does not hear a request to end: it is
/// a wall, which goes when those inside have gone.
#[cfg(target_os = "linux")]
pub fn end_with_us(command: &mut Command) {
    let parent = getpid();
    // SAFETY: the closure runs in the forked child before exec. It makes three
    // system calls and allocates nothing.
    unsafe {
        command.pre_exec(move || {
            rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
            if rustix::process::getppid() != Some(parent) {
                return Err(io::ErrorKind::Interrupted.into());
            }
            libc::signal(libc::SIGTERM, libc::SIG_IGN);
            Ok(())
        });
    }
}

#[cfg(not(target_os = "linux"))]
pub fn end_with_us(_command: &mut Command) {}

/// The command starts with these limits, and hears a request to end, which its
/// parent behind a wall does not.
#[cfg(target_os = "linux")]
pub fn limit(command: &mut std::process::Command, limits: Vec<(rustix::process::Resource, u64)>) {
    use rustix::process::{Rlimit, setrlimit};
    use std::os::unix::process::CommandExt;

    // SAFETY: the closure runs before exec, in a forked child or in what was
    // this process. It makes system calls and allocates nothing.
    unsafe {
        command.pre_exec(move || {
            for (resource, most) in &limits {
                let limit = Rlimit {
                    current: Some(*most),
                    maximum: Some(*most),
                };
                setrlimit(*resource, limit)?;
            }
            libc::signal(libc::SIGTERM, libc::SIG_DFL);
            Ok(())
        });
    }
}

/// Writes a word into a file of the system.
#[cfg(target_os = "linux")]
fn put(path: &std::ffi::CStr, word: &std::ffi::CStr) -> io::Result<()> {
    use rustix::fs::{Mode, OFlags, open};
    let file = open(path, OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty())?;
    rustix::io::write(&file, word.to_bytes())?;
    Ok(())
}

pub fn arguments(command: &mut Command, spec: &super::Spec) {
    command.args(&spec.args);
}

/// A child that floods waits less often for us, and we for it.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub fn widen(pipe: &impl std::os::fd::AsFd) {
    const WIDE: usize = 1024 * 1024;
    // Where the system does not give so much, it stays as it is.
    let _ = rustix::pipe::fcntl_setpipe_size(pipe, WIDE);
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub fn widen<P>(_pipe: &P) {}

/// A child that leads its group.
///
/// Its exit is noticed without reaping it. As long as it is not reaped, its
/// number belongs to it, so that a signal to the group can't reach strangers;
/// the number could be given away at once after that.
pub struct Leader {
    child: Child,
    exit: JoinHandle<()>,
    /// `None` once the group was ended for good.
    group: Option<Pid>,
}

impl Leader {
    pub fn new(child: Child) -> Leader {
        let pid = child.id().and_then(|id| i32::try_from(id).ok());
        let group = pid.and_then(Pid::from_raw);
        Leader {
            child,
            exit: spawn_blocking(move || wait_for_exit(group)),
            group,
        }
    }

    /// Returns once the child has exited; must not be called after that.
    pub async fn exited(&mut self) {
        // If the waiting itself failed, reaping finds out why.
        let _ = (&mut self.exit).await;
    }

    pub fn ask_group_to_end(&mut self) {
        self.signal_group(Signal::TERM);
        // A stopped child only hears the signal once it goes on.
        self.signal_group(Signal::CONT);
    }

    pub fn kill_group(&mut self) {
        self.signal_group(Signal::KILL);
    }

    /// A session of its own hears nothing of Ctrl+Z at our terminal.
    pub fn freeze_group(&mut self) {
        self.signal_group(Signal::STOP);
    }

    pub fn thaw_group(&mut self) {
        self.signal_group(Signal::CONT);
    }

    /// Whatever the child left in its group ends here.
    pub async fn end_group_and_reap(mut self) -> io::Result<ExitStatus> {
        self.kill_group();
        self.group = None;
        fault::pass(point::ENGINE_REAP);
        self.child.wait().await
    }

    fn signal_group(&self, signal: Signal) {
        if let Some(group) = self.group {
            fault::pass(point::ENGINE_SIGNAL);
            // A group that is gone already is what we wanted.
            let _ = kill_process_group(group, signal);
        }
    }
}

impl Drop for Leader {
    /// A turn that is given up halfway leaves nobody behind.
    fn drop(&mut self) {
        self.kill_group();
    }
}

/// A thread that sleeps in the kernel works whatever the process inherited
/// about SIGCHLD, and on every Unix.
fn wait_for_exit(pid: Option<Pid>) {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    if let Some(pid) = pid {
        let _ = rustix::io::retry_on_intr(|| waitid(WaitId::Pid(pid), options));
    }
}

pub fn ending(exit: io::Result<ExitStatus>) -> Ending {
    match exit {
        Ok(status) => match (status.code(), status.signal()) {
            (Some(code), _) => Ending::Exited(code),
            (None, signal) => Ending::Signalled(signal.unwrap_or(0)),
        },
        Err(error) => Ending::SpawnFailed {
            missing: false,
            message: error.to_string(),
        },
    }
}

/// Stops this process as Ctrl+Z does, and returns once somebody lets it go on.
pub fn stop_ourselves() {
    // Called on the main thread, which then is the one that is stopped first.
    let _ = kill_process(getpid(), Signal::STOP);
}

/// Whether there is a shell with job control that could let us go on. The
/// kernel ignores Ctrl+Z where there is none, and so do we.
pub fn can_be_continued() -> bool {
    let (Ok(group), Ok(session)) = (getpgid(None), getsid(None)) else {
        return false;
    };
    let mut ancestor = rustix::process::getppid();
    while let Some(pid) = ancestor {
        if getsid(Some(pid)) != Ok(session) {
            return false;
        }
        if getpgid(Some(pid)) != Ok(group) {
            return true;
        }
        ancestor = parent_of(pid);
    }
    false
}

/// The processes above this one, the nearest first; as far as the system
/// tells.
pub fn ancestors() -> Vec<u32> {
    ancestors_of(std::process::id())
}

/// The same of another process.
pub fn ancestors_of(pid: u32) -> Vec<u32> {
    let first = i32::try_from(pid).ok().and_then(Pid::from_raw);
    let above = std::iter::successors(first.and_then(parent_of), |&pid| parent_of(pid));
    // Nobody stands so deep, and numbers can be given anew while we look.
    let above = above.take(1000);
    above.map(|pid| pid.as_raw_pid().cast_unsigned()).collect()
}

/// `None` where the system does not tell.
fn parent_of(pid: Pid) -> Option<Pid> {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_pid())).ok()?;
    let (_, fields) = stat.rsplit_once(") ")?;
    fields
        .split(' ')
        .nth(1)?
        .parse()
        .ok()
        .and_then(Pid::from_raw)
}

/// The end of a pipe as a file that a child can have.
pub fn file_of(pipe: std::io::PipeReader) -> std::fs::File {
    std::fs::File::from(std::os::fd::OwnedFd::from(pipe))
}
