//! Package managers behind the wall: they reach a registry that is open, find
//! again what they fetched in an earlier turn, and leave the person's own caches
//! as they are (issue 20, point 1).

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::env::{Done, TestEnv};

/// Serves these files, and counts how often a package was fetched.
struct Registry {
    port: u16,
    fetched: Arc<AtomicUsize>,
}

impl Registry {
    /// The files may name the port.
    fn serve(files: impl FnOnce(u16) -> BTreeMap<String, Vec<u8>>) -> Registry {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let fetched = Arc::new(AtomicUsize::new(0));
        let (files, count) = (files(port), Arc::clone(&fetched));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let _ = answer(&stream, &files, &count);
            }
        });
        Registry { port, fetched }
    }

    fn url(&self) -> String {
        format!("http://localhost:{}", self.port)
    }
}

fn answer(
    mut stream: &TcpStream,
    files: &BTreeMap<String, Vec<u8>>,
    fetched: &AtomicUsize,
) -> std::io::Result<()> {
    let mut head = String::new();
    let mut reader = BufReader::new(stream);
    while !head.ends_with("\r\n\r\n") && reader.read_line(&mut head)? > 0 {}
    let path = head.split(' ').nth(1).unwrap_or_default();
    let is_package = [".tgz", ".whl", ".crate"]
        .iter()
        .any(|end| path.ends_with(end));
    fetched.fetch_add(usize::from(is_package), Ordering::SeqCst);
    let (status, body) = match files.get(path) {
        Some(body) => ("200 OK", body.as_slice()),
        None => ("404 Not Found", &[][..]),
    };
    let kind = match path.ends_with('/') {
        true => "text/html",
        false => "application/octet-stream",
    };
    let length = body.len();
    // pip keeps only what has a date, and takes this one for new.
    write!(
        stream,
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n\
         Date: Fri, 01 Jan 2100 00:00:00 GMT\r\nCache-Control: max-age=3600\r\nConnection: close\r\n\r\n"
    )?;
    stream.write_all(body)
}

fn succeed(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {complaint}");
    String::from_utf8(output.stdout).unwrap()
}

/// Where the toolchain lies that runs this test.
fn rustup() -> PathBuf {
    let home = std::env::var_os("HOME").unwrap_or_default();
    let usual = Path::new(&home).join(".rustup");
    std::env::var_os("RUSTUP_HOME").map_or(usual, PathBuf::from)
}

/// Runs a script behind the wall in two turns, with a cache of the person's
/// below it: what the first fetched, the second has.
fn in_two_turns(env: &TestEnv, registry: &Registry, cache: &str, scripts: [&str; 2]) {
    let own = env.outside(cache).join("own");
    fs::create_dir_all(own.parent().unwrap()).unwrap();
    fs::write(&own, "the person's").unwrap();
    let hosts = format!("[sandbox]\nhosts = [\"localhost:{}\"]\n", registry.port);
    env.write(".ralph/config.toml", &hosts);
    for script in scripts {
        let mut command = env.command(&["sandbox", "--", "sh", "-ec", script]);
        command.env("RALPH_SANDBOX_MODE", "strict");
        command.env("REGISTRY", registry.url());
        command.env("CARGO_HOME", env.outside(".cargo"));
        command.env("RUSTUP_HOME", rustup());
        let tools = Path::new(env!("CARGO")).parent().unwrap().display();
        let path = std::env::var("PATH").unwrap_or_default();
        command.env("PATH", format!("{tools}:{path}"));
        let done = Done::of(&command.output().unwrap());
        assert_eq!(done.code, 0, "{script}: {}{}", done.stdout, done.stderr);
        assert!(
            done.stdout.contains("it works"),
            "{script}: {}",
            done.stdout
        );
    }
    assert_eq!(registry.fetched.load(Ordering::SeqCst), 1, "fetched once");
    let left = fs::read_dir(own.parent().unwrap()).unwrap();
    assert_eq!(left.count(), 1, "the person's cache is as it was");
}

#[test]
#[cfg_attr(not(all(has_wall, has_node)), ignore = "needs bubblewrap and npm")]
fn npm_finds_what_it_fetched() {
    let env = TestEnv::with_tasks(1);
    let package = env.outside("package");
    fs::create_dir(&package).unwrap();
    let manifest = r#"{"name":"dep","version":"1.0.0","main":"dep.js"}"#;
    fs::write(package.join("package.json"), manifest).unwrap();
    fs::write(package.join("dep.js"), "module.exports = 'it works';").unwrap();
    let mut pack = Command::new("npm");
    pack.args(["pack", "--json", "--no-update-notifier"]);
    pack.current_dir(&package);
    let packed = succeed(pack.env("HOME", env.outside("elsewhere")));
    let packed: serde_json::Value = serde_json::from_str(&packed).unwrap();
    let tarball = fs::read(package.join("dep-1.0.0.tgz")).unwrap();
    let registry = Registry::serve(|port| {
        let dist = serde_json::json!({
            "tarball": format!("http://localhost:{port}/dep-1.0.0.tgz"),
            "integrity": packed[0]["integrity"],
        });
        let version = serde_json::json!({"name": "dep", "version": "1.0.0", "dist": dist});
        let about = serde_json::json!({
            "name": "dep", "dist-tags": {"latest": "1.0.0"}, "versions": {"1.0.0": version},
        });
        BTreeMap::from([
            ("/dep".into(), about.to_string().into_bytes()),
            ("/dep-1.0.0.tgz".into(), tarball),
        ])
    });
    let works = "node -e 'console.log(require(\"dep\"))'";
    let install = "npm install --no-audit --no-fund --no-update-notifier --registry $REGISTRY";
    in_two_turns(
        &env,
        &registry,
        ".npm",
        [
            &format!("{install} dep; {works}"),
            &format!("rm -r node_modules; {install} --offline; {works}"),
        ],
    );
}

#[test]
#[cfg_attr(not(all(has_wall, has_pip)), ignore = "needs bubblewrap and pip")]
fn pip_finds_what_it_fetched() {
    let env = TestEnv::with_tasks(1);
    let wheel = env.outside("dep-1.0-py3-none-any.whl");
    let make = "import sys, zipfile\n\
        z = zipfile.ZipFile(sys.argv[1], 'w')\n\
        z.writestr('dep.py', 'print(\"it works\")\\n')\n\
        z.writestr('dep-1.0.dist-info/METADATA', 'Metadata-Version: 2.1\\nName: dep\\nVersion: 1.0\\n')\n\
        z.writestr('dep-1.0.dist-info/WHEEL', 'Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n')\n\
        z.writestr('dep-1.0.dist-info/RECORD', '')\n\
        z.close()\n";
    succeed(Command::new("python3").args(["-c", make]).arg(&wheel));
    let wheel = fs::read(wheel).unwrap();
    let registry = Registry::serve(|_| {
        let list = "<a href=\"/dep-1.0-py3-none-any.whl\">dep-1.0-py3-none-any.whl</a>";
        BTreeMap::from([
            ("/simple/dep/".into(), list.into()),
            ("/dep-1.0-py3-none-any.whl".into(), wheel),
        ])
    });
    let install = "rm -rf lib; python3 -m pip install -q --disable-pip-version-check --root-user-action ignore --target lib --trusted-host ${REGISTRY#http://} --index-url $REGISTRY/simple dep; PYTHONPATH=lib python3 -c 'import dep'";
    in_two_turns(&env, &registry, ".cache/pip", [install, install]);
}

#[test]
#[cfg_attr(not(has_wall), ignore = "needs bubblewrap and namespaces")]
fn cargo_finds_what_it_fetched() {
    let env = TestEnv::with_tasks(1);
    let package = env.outside("package");
    fs::create_dir_all(package.join("src")).unwrap();
    let manifest = "[package]\nname = \"depdep\"\nversion = \"1.0.0\"\nedition = \"2021\"\n";
    fs::write(package.join("Cargo.toml"), manifest).unwrap();
    let source = "pub fn say() -> &'static str { \"it works\" }\n";
    fs::write(package.join("src/lib.rs"), source).unwrap();
    let mut pack = Command::new(env!("CARGO"));
    pack.args(["package", "--no-verify", "--offline", "--allow-dirty"]);
    succeed(pack.env_remove("CARGO_TARGET_DIR").current_dir(&package));
    let packed = package.join("target/package/depdep-1.0.0.crate");
    let sum = succeed(Command::new("sha256sum").arg(&packed));
    let sum = sum.split(' ').next().unwrap().to_owned();
    let packed = fs::read(packed).unwrap();
    let registry = Registry::serve(|port| {
        let config = serde_json::json!({
            "dl": format!("http://localhost:{port}/{{crate}}-{{version}}.crate"),
        });
        let about = serde_json::json!({
            "name": "depdep", "vers": "1.0.0", "deps": [], "cksum": sum, "features": {},
            "yanked": false,
        });
        BTreeMap::from([
            ("/config.json".into(), config.to_string().into_bytes()),
            ("/de/pd/depdep".into(), about.to_string().into_bytes()),
            ("/depdep-1.0.0.crate".into(), packed),
        ])
    });
    let index = format!(
        "[registries.here]\nindex = \"sparse+{}/\"\n",
        registry.url()
    );
    env.write(".cargo/config.toml", &index);
    let manifest = "[package]\nname = \"app\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\
        [dependencies]\ndepdep = { version = \"1\", registry = \"here\" }\n";
    env.write("Cargo.toml", manifest);
    env.write(
        "src/main.rs",
        "fn main() { println!(\"{}\", depdep::say()); }\n",
    );
    let again = "rm -r target; cargo run -q --offline";
    in_two_turns(&env, &registry, ".cargo/registry", ["cargo run -q", again]);
}
