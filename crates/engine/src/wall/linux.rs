//! The wall of Linux.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use ralph_core::config::{SandboxMode, SandboxNetwork, SandboxSettings};
use ralph_core::machine::{Denial, LimitKind, Reach, WallFacts, WallKind};
use ralph_store::layout::{Layout, RunPaths};
use tokio::sync::watch;

use super::door::{Door, Rules};
use super::ground::{Bad, Ground, identity};
use super::hosts::{Allowed, Target};
use super::landlock::{self, Fence};
use super::lodging::{Host, Lodging};
use super::mounts::{See, View, arguments, words};
use super::table::{REGISTRIES, Share, TOOLCHAINS, needs, place};
use super::{DOOR, DOOR_VARIABLE, INSIDE_MODE, PROXY_PORT, Wanted, Who};
use crate::agents::{Client, find_program};
use crate::room;
use crate::supervise::{self, Ending, Sink, Spec, Stop};

pub use super::inside::{is_around_us, run as enter_mode, tell};
pub use super::tries::{Held, Try};

/// What stands around the children of one process.
#[derive(Debug)]
pub struct Wall {
    holder: Holder,
    ground: Ground,
    own_program: PathBuf,
    settings: SandboxSettings,
    identity: String,
    /// Whether layers work here.
    layers: bool,
    /// Ports that lead to the door.
    ports: Vec<u16>,
    state: PathBuf,
    door: Door,
}

/// Who makes the wall.
#[derive(Clone, Debug)]
enum Holder {
    Bubblewrap(PathBuf),
    /// Why there is nothing better.
    Landlock {
        why: String,
    },
}

/// The strongest wall that works here, and what holds then.
pub async fn raise(wanted: &Wanted, layout: &Layout) -> (WallFacts, Option<Arc<Wall>>) {
    if wanted.settings.mode == SandboxMode::Off {
        return (WallFacts::default(), None);
    }
    let none = |why: String| WallFacts {
        kind: WallKind::None,
        why,
        ..WallFacts::default()
    };
    match Wall::raise(wanted, layout).await {
        Ok(wall) => {
            let facts = wall.facts(wanted);
            (facts, Some(Arc::new(wall)))
        }
        Err(why) => (none(why), None),
    }
}

impl Wall {
    async fn raise(wanted: &Wanted, layout: &Layout) -> Result<Wall, String> {
        if is_around_us() {
            return Err("one stands around this process already".into());
        }
        let home = std::env::home_dir().filter(|home| home.is_absolute());
        let home = home.ok_or("there is no home folder")?;
        let settings = &wanted.settings;
        let at = |text: &String| at_home(text, &home, layout.root());
        let read: Vec<PathBuf> = settings.read.iter().map(at).collect();
        let write: Vec<PathBuf> = settings.write.iter().map(at).collect();
        let ground = Ground::new(layout.root(), &home, layout.home().dir(), &read, &write)
            .map_err(|bad| match bad {
                Bad::NoHome => "the home folder is the whole machine",
                Bad::HomeInside => {
                    "the home folder lies in the project, so that nothing can be hidden"
                }
            })?;
        let rules = rules(wanted, &home)?;
        let mut ports = match rules.reach {
            Reach::Listed => vec![PROXY_PORT],
            Reach::Nowhere | Reach::Everywhere => Vec::new(),
        };
        if rules.reach == Reach::Listed {
            ports.extend(rules.allowed.own_ports());
        }
        let door = Door::open(&layout.home().dir().join("run"), rules)
            .map_err(|error| format!("its socket can't be opened: {error}"))?;
        let state = layout.state_dir().to_owned();
        room::clear(&state);
        let mut wall = Wall {
            holder: Holder::Landlock { why: String::new() },
            ground,
            own_program: wanted.own_program.clone(),
            settings: settings.clone(),
            identity: identity(),
            layers: true,
            ports,
            state,
            door,
        };
        let Err(why) = wall.hold_by_bubblewrap().await else {
            return Ok(wall);
        };
        wall.holder = Holder::Landlock { why: why.clone() };
        // What is not held together with the network is no port.
        wall.ports.clear();
        match wall.holds().await {
            Ok(()) => Ok(wall),
            Err(error) => Err(format!("{why}; nor does Landlock hold: {error}")),
        }
    }

    async fn hold_by_bubblewrap(&mut self) -> Result<(), String> {
        let program = find_program(OsStr::new("bwrap"), Path::new("/"))
            .ok_or("bubblewrap is not installed (the program bwrap)")?;
        self.holder = Holder::Bubblewrap(program);
        if self.holds().await.is_err() {
            // Layers within containers are refused; folders to be read are not.
            self.layers = false;
            self.holds().await?;
        }
        Ok(())
    }

    fn facts(&self, wanted: &Wanted) -> WallFacts {
        let (kind, reach, why) = match &self.holder {
            Holder::Bubblewrap(_) => (WallKind::Bubblewrap, reach(&self.settings), String::new()),
            Holder::Landlock { why } => (WallKind::Landlock, Reach::Everywhere, why.clone()),
        };
        WallFacts {
            kind,
            network: reach,
            hosts: match reach {
                Reach::Listed => hosts(wanted),
                Reach::Nowhere | Reach::Everywhere => Vec::new(),
            },
            limits: LimitKind::Rlimits,
            memory: self.settings.memory,
            processes: self.settings.processes,
            why,
        }
    }

    pub(super) fn home(&self) -> &Path {
        &self.ground.home
    }

    pub(super) fn root(&self) -> &Path {
        &self.ground.root
    }

    pub(super) fn state(&self) -> &Path {
        &self.state
    }

    pub(super) fn own_program(&self) -> &Path {
        &self.own_program
    }

    pub(super) fn settings(&self) -> &SandboxSettings {
        &self.settings
    }

    pub(super) fn is_network_open(&self) -> bool {
        matches!(self.holder, Holder::Landlock { .. }) || reach(&self.settings) == Reach::Everywhere
    }

    /// Whose run the reports of hooks belong to.
    pub fn belongs_to(&self, layout: Layout, run: RunPaths) {
        self.door.belongs_to(layout, run);
    }

    /// A child says that this path is closed to it.
    pub fn closed(&self, path: String) {
        let is_ours = Path::new(&path).starts_with(&self.ground.root);
        let setting = match is_ours {
            // Ralph's and Git's own, which no setting opens.
            true => "sandbox.mode",
            false => "sandbox.write",
        };
        self.door.note(Denial {
            target: path,
            setting: setting.into(),
        });
    }

    /// What was held back since this was asked last; a file that would have
    /// Git outside believe another repository is taken away.
    pub fn denied(&self) -> Vec<Denial> {
        let mut denied = self.door.denied();
        for redirect in &self.ground.redirects {
            if std::fs::symlink_metadata(redirect).is_ok() && std::fs::remove_file(redirect).is_ok()
            {
                denied.push(Denial {
                    target: redirect.display().to_string(),
                    setting: "sandbox.mode".into(),
                });
            }
        }
        denied
    }

    /// The child as it is started behind it; its home lasts as long as the
    /// lodging.
    pub fn dress(&self, who: &Who, spec: Spec) -> io::Result<(Spec, Lodging)> {
        let program = find_program(&spec.program, &spec.cwd).ok_or(io::ErrorKind::NotFound)?;
        let mut lodging = self.lodge(who)?;
        let mut views: Vec<View> = std::mem::take(&mut lodging.views);
        let home = views.first().and_then(|(_, see)| match see {
            See::Write(own) => own.clone(),
            _ => None,
        });
        if !spec.cwd.starts_with(&self.ground.root) {
            views.push((spec.cwd.clone(), See::Write(None)));
        }
        views.push((self.own_program.clone(), See::Read(None)));
        views.push((DOOR.into(), See::Write(Some(self.door.place().to_owned()))));
        if let Who::Agent { files, .. } = who {
            let folders = self.folders_of(&program, &spec);
            let shown = files.iter().cloned().chain(folders);
            views.extend(shown.map(|path| (path, See::Read(None))));
        }
        let views = self.ground.with(views);
        let bubblewrap = match &self.holder {
            Holder::Bubblewrap(program) => program,
            Holder::Landlock { .. } => {
                let own = home.ok_or(io::ErrorKind::NotFound)?;
                let spec = self.fence(who, spec, &program, &views, &own)?;
                return Ok((spec, lodging));
            }
        };
        let is_root = rustix::process::geteuid().is_root();
        let mut args = arguments(views, is_root);
        args.extend(words(&SEPARATE));
        if reach(&self.settings) != Reach::Everywhere {
            args.push("--unshare-net".into());
        }
        args.extend(["--chdir".into(), spec.cwd.clone().into(), "--".into()]);
        let ports: Vec<String> = self.ports.iter().map(u16::to_string).collect();
        args.extend([
            self.own_program.clone().into(),
            INSIDE_MODE.into(),
            self.settings.memory.to_string().into(),
            self.settings.processes.to_string().into(),
            ports.join(",").into(),
            program.into(),
        ]);
        args.extend(spec.args);
        let mut env = spec.env;
        env.extend(self.env(who));
        let mut env_remove = spec.env_remove;
        env_remove.extend(words(&LEADS_OUT));
        let mut overlays = spec.overlays;
        overlays.append(&mut lodging.overlays);
        let spec = Spec {
            program: bubblewrap.into(),
            args,
            env,
            env_remove,
            overlays,
            ends_with_us: true,
            ..spec
        };
        Ok((spec, lodging))
    }

    /// The same by Landlock: the home is another one by its name, and what is
    /// hidden is there and can't be opened.
    fn fence(
        &self,
        who: &Who,
        spec: Spec,
        program: &Path,
        views: &[View],
        own: &Path,
    ) -> io::Result<Spec> {
        let mut fence = Fence::new(views, &self.ground.home, own)?;
        let temporary = own.with_file_name("tmp");
        std::fs::create_dir_all(&temporary)?;
        fence.open_to_write(&temporary);
        if let Who::Agent {
            client: Some(client),
            ..
        } = who
        {
            // A client can't work without its own folder.
            for share in needs(*client).shares {
                if let Share::Over(name) = share {
                    fence.open_to_write(&place(&self.ground.home, name));
                }
            }
        }
        let mut args: Vec<OsString> = vec![
            INSIDE_MODE.into(),
            landlock::MODE.into(),
            self.settings.memory.to_string().into(),
            self.settings.processes.to_string().into(),
        ];
        args.extend(fence.words());
        args.push(program.into());
        args.extend(spec.args);
        let mut env = spec.env;
        env.extend(self.env(who));
        env.push(("HOME".into(), own.into()));
        env.push(("TMPDIR".into(), temporary.into()));
        env.push((DOOR_VARIABLE.into(), self.door.place().into()));
        let mut env_remove = spec.env_remove;
        env_remove.extend(words(&LEADS_OUT));
        Ok(Spec {
            program: self.own_program.clone().into(),
            args,
            env,
            env_remove,
            ends_with_us: true,
            ..spec
        })
    }

    fn lodge(&self, who: &Who) -> io::Result<Lodging> {
        let by_landlock = matches!(self.holder, Holder::Landlock { .. });
        let host = Host {
            home: &self.ground.home,
            identity: &self.identity,
            layers: self.layers && !by_landlock,
        };
        match who {
            Who::Agent { client, .. } => {
                let name = client.map_or("custom", |client| client.into_str());
                let name = match by_landlock {
                    true => format!("{name}-{}", landlock::MODE),
                    false => name.to_owned(),
                };
                let mut shares: Vec<Share> = TOOLCHAINS.to_vec();
                shares.extend(client.iter().flat_map(|client| needs(*client).shares));
                host.lasting(&self.state.join("wall").join(name), &shares)
            }
            Who::Check => {
                let scratch = room::folder_of(&self.state)?;
                host.passing(scratch, TOOLCHAINS)
            }
        }
    }

    /// The folders in which an agent's program and its parts lie. A folder that
    /// holds everything else too is not shown for one file in it.
    fn folders_of(&self, program: &Path, spec: &Spec) -> Vec<PathBuf> {
        let named = spec.args.iter().map(|arg| spec.cwd.join(arg));
        let named = named.filter(|path| path.is_file());
        let mut shown = Vec::new();
        for path in named.chain([program.to_owned()]) {
            let real = path.canonicalize().unwrap_or_else(|_| path.clone());
            for path in [path, real] {
                // What can be written stays so.
                if path.starts_with(&self.ground.root) || path.starts_with(&spec.cwd) {
                    continue;
                }
                let package = path
                    .ancestors()
                    .filter(|folder| folder.ends_with("node_modules"));
                let folder = package.last().or(path.parent());
                let is_large = |folder: &Path| {
                    self.ground.home.starts_with(folder)
                        || self.ground.root.starts_with(folder)
                        || self.ground.hides_in(folder)
                };
                shown.push(match folder {
                    Some(folder) if !is_large(folder) => folder.to_owned(),
                    _ => path,
                });
            }
        }
        shown
    }

    fn env(&self, who: &Who) -> Vec<(OsString, OsString)> {
        let mut env: Vec<(OsString, OsString)> = vec![("TMPDIR".into(), "/tmp".into())];
        if self.ports.contains(&PROXY_PORT) {
            let proxy = format!("http://127.0.0.1:{PROXY_PORT}");
            for name in ["HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"] {
                env.push((name.into(), (&proxy).into()));
            }
            for name in ["NO_PROXY", "no_proxy"] {
                env.push((name.into(), "localhost,127.0.0.1,::1".into()));
            }
            env.push(("NODE_USE_ENV_PROXY".into(), "1".into()));
        }
        if let Who::Agent {
            client: Some(client),
            ..
        } = who
        {
            let own = needs(*client).env.iter();
            env.extend(own.map(|(name, value)| (name.into(), value.into())));
        }
        env
    }

    /// Tries it: whoever stands behind it changes the project and sees none of
    /// our state.
    async fn holds(&self) -> Result<(), String> {
        let words_of = |error: io::Error| error.to_string();
        let canary = room::folder_of(&self.state).map_err(words_of)?;
        let script = match self.holder {
            Holder::Bubblewrap(_) => {
                "test ! -e \"$1\" && ! touch /usr/.ralph-wall 2>/dev/null && test -w . \
                 && test -S \"$2\" && test $$ -lt 50"
            }
            Holder::Landlock { .. } => {
                "! ls \"$1\" >/dev/null 2>&1 && ! touch \"$1/x\" 2>/dev/null \
                 && ! touch /usr/.ralph-wall 2>/dev/null && ls . >/dev/null \
                 && touch \"$TMPDIR/x\" && ls ~ >/dev/null"
            }
        };
        let (root, sh) = (&self.ground.root, "sh".into());
        let mut spec = Spec::plain(sh, root, Duration::from_secs(20));
        let arguments = [
            "-c".as_ref(),
            script.as_ref(),
            "sh".as_ref(),
            canary.path(),
            DOOR.as_ref(),
        ];
        spec.args = arguments.map(|word: &Path| word.into()).into();
        let (spec, _lodging) = self.dress(&Who::Check, spec).map_err(words_of)?;
        let (_keep, stop) = watch::channel(Stop::No);
        let mut said = Said::default();
        match supervise::run(spec, &mut said, stop).await.ending {
            Ending::Exited(0) => Ok(()),
            Ending::SpawnFailed { message, .. } => Err(message),
            _ => {
                let said = String::from_utf8_lossy(&said.0);
                let said = said.trim();
                Err(match said.is_empty() {
                    true => "it did not hold when it was tried".into(),
                    false => ralph_core::text::sanitize(said).into_owned(),
                })
            }
        }
    }
}

/// What nobody behind the wall shares with others.
const SEPARATE: [&str; 8] = [
    "--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try",
    "--die-with-parent", "--cap-drop", "ALL",
];

/// Variables that name sockets which are not there.
const LEADS_OUT: [&str; 3] = [
    "SSH_AUTH_SOCK",
    "XDG_RUNTIME_DIR",
    "DBUS_SESSION_BUS_ADDRESS",
];

/// The beginning of what was said.
#[derive(Default)]
struct Said(Vec<u8>);

impl Sink for Said {
    fn stdout(&mut self, chunk: &[u8]) -> io::Result<()> {
        let room = 500_usize.saturating_sub(self.0.len()).min(chunk.len());
        self.0
            .extend_from_slice(chunk.get(..room).unwrap_or_default());
        Ok(())
    }

    fn stderr(&mut self, chunk: &[u8]) -> io::Result<()> {
        self.stdout(chunk)
    }
}

/// A path of the settings: `~` is the home, and others begin at the project.
fn at_home(text: &str, home: &Path, root: &Path) -> PathBuf {
    match text.strip_prefix("~/") {
        Some(rest) => home.join(rest),
        None if text == "~" => home.to_owned(),
        None => root.join(text),
    }
}

fn reach(settings: &SandboxSettings) -> Reach {
    match settings.network {
        SandboxNetwork::Agent => Reach::Listed,
        SandboxNetwork::Allow => Reach::Everywhere,
        SandboxNetwork::Off => Reach::Nowhere,
    }
}

/// The hosts of the agents and of the person, as they are told.
fn hosts(wanted: &Wanted) -> Vec<String> {
    let of_clients = wanted
        .clients
        .iter()
        .flat_map(|client| needs(*client).hosts);
    let mut hosts: Vec<String> = of_clients.map(|&host| host.to_owned()).collect();
    hosts.extend(wanted.settings.hosts.iter().cloned());
    hosts.dedup();
    hosts
}

/// Who may go where.
fn rules(wanted: &Wanted, home: &Path) -> Result<Rules, String> {
    let named = hosts(wanted);
    let all = REGISTRIES
        .iter()
        .copied()
        .chain(named.iter().map(String::as_str));
    let (mut allowed, bad) = Allowed::read(all);
    if let Some(bad) = bad.first() {
        return Err(format!("sandbox.hosts has {bad:?}, which is no host"));
    }
    for client in &wanted.clients {
        for target in own_services(*client, home) {
            allowed.add(&target);
        }
    }
    Ok(Rules {
        reach: reach(&wanted.settings),
        allowed,
        upstream: upstream(),
    })
}

/// A service that the person runs or chose, instead of the client's usual one:
/// in a variable of the client, or in the person's own settings for it.
fn own_services(client: Client, home: &Path) -> Vec<Target> {
    let is_its = |name: &str| {
        let patterns = client.facts().credentials.iter();
        patterns
            .clone()
            .any(|pattern| match pattern.strip_suffix('*') {
                Some(prefix) => name.starts_with(prefix),
                None => name == *pattern,
            })
    };
    let variables = std::env::vars_os().filter_map(|(name, value)| {
        let name = name.into_string().ok().filter(|name| is_its(name))?;
        Some((name, value.into_string().ok()?))
    });
    let mut texts: Vec<String> = variables.map(|(_, value)| value).collect();
    for config in needs(client).configs {
        texts.extend(ralph_store::regular::read_to_string_within(
            place(home, config),
            1 << 20,
        ));
    }
    texts.iter().flat_map(|text| services_in(text)).collect()
}

/// The addresses in a text.
fn services_in(text: &str) -> Vec<Target> {
    let starts = text.match_indices("http").map(|(at, _)| &text[at..]);
    let ends = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | ',' | '}' | ')');
    let words = starts.map(|rest| rest.split(ends).next().unwrap_or_default());
    words.filter_map(Target::of_url).collect()
}

/// The proxy that this machine is behind, if it is one that we can speak to.
fn upstream() -> Option<Target> {
    let names = ["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"];
    let named = names.iter().find_map(|name| std::env::var(name).ok());
    named.and_then(|url| Target::of_url(&url))
}
