//! A real browser without a screen: Chromium, driven by chromedriver in the
//! words of the WebDriver standard.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

/// Longer than anything here takes.
const PATIENCE: Duration = Duration::from_secs(30);

#[derive(Debug)]
pub struct Browser {
    driver: Child,
    port: u16,
    session: String,
    _profile: TempDir,
}

/// The size of what is looked at.
#[derive(Clone, Copy, Debug)]
pub struct Size {
    pub width: u32,
    pub height: u32,
    pub phone: bool,
}

pub const DESK: Size = Size {
    width: 1280,
    height: 860,
    phone: false,
};
pub const PHONE: Size = Size {
    width: 390,
    height: 844,
    phone: true,
};

impl Browser {
    /// Gives the reason where there is none and none can be installed.
    pub fn start() -> Result<Browser, String> {
        let (chromium, program) = match installed() {
            Some(found) => found,
            None => {
                install()?;
                installed().ok_or("apt-get installed no Chromium that is on the PATH")?
            }
        };
        let port = free_port()?;
        let driver = Command::new(program)
            .arg(format!("--port={port}"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|e| format!("chromedriver: {e}"))?;
        let profile = tempfile::tempdir().map_err(|e| e.to_string())?;
        let mut browser = Browser {
            driver,
            port,
            session: String::new(),
            _profile: profile,
        };
        browser.open(&chromium)?;
        Ok(browser)
    }

    fn open(&mut self, chromium: &Path) -> Result<(), String> {
        let profile = self._profile.path().display();
        let wanted = json!({"capabilities": {"alwaysMatch": {
            "browserName": "chrome",
            "goog:chromeOptions": {
                "binary": chromium,
                "args": [
                    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                    "--hide-scrollbars", "--no-first-run", "--disable-background-networking",
                    "--disable-component-update", "--disable-sync", "--force-color-profile=srgb",
                    // Whatever is not here does not exist.
                    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
                    format!("--user-data-dir={profile}"),
                ],
            },
            "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"},
        }}});
        let until = Instant::now() + PATIENCE;
        loop {
            match self.call("POST", "/session", &wanted) {
                Ok(opened) => {
                    let id = opened["sessionId"].as_str().ok_or("no session")?;
                    self.session = id.to_owned();
                    return Ok(());
                }
                Err(error) if Instant::now() > until => return Err(error),
                Err(_) => std::thread::sleep(Duration::from_millis(100)),
            }
        }
    }

    fn command(&self, path: &str, body: &Value) -> Result<Value, String> {
        self.call("POST", &format!("/session/{}{path}", self.session), body)
    }

    pub fn go(&self, url: &str) -> Result<(), String> {
        self.command("/url", &json!({ "url": url })).map(drop)
    }

    /// What a script returns.
    pub fn eval(&self, script: &str) -> Result<Value, String> {
        self.command("/execute/sync", &json!({"script": script, "args": []}))
    }

    /// Looks until an expression is true.
    pub fn wait(&self, what: &str, expression: &str) -> Result<(), String> {
        let until = Instant::now() + PATIENCE;
        while Instant::now() < until {
            if self.eval(&format!("return !!({expression})"))? == true {
                return Ok(());
            }
            std::thread::sleep(Duration::from_millis(15));
        }
        let shown = self.eval("return document.body.innerText.slice(0, 600)")?;
        Err(format!("never seen: {what}; the page shows {shown}"))
    }

    /// Presses the button with this text.
    pub fn press(&self, text: &str) -> Result<(), String> {
        let name = Value::from(text);
        let find = format!(
            "[...document.querySelectorAll('button')].find(b => b.textContent.trim().startsWith({name}) && !b.disabled)"
        );
        self.wait(&format!("button {text}"), &find)?;
        self.eval(&format!("{find}.click()")).map(drop)
    }

    pub fn keys(&self, keys: &str) -> Result<(), String> {
        let active = self.call(
            "GET",
            &format!("/session/{}/element/active", self.session),
            &Value::Null,
        )?;
        let id = active
            .as_object()
            .and_then(|o| o.values().next())
            .and_then(Value::as_str)
            .ok_or("nothing has the focus")?;
        self.command(&format!("/element/{id}/value"), &json!({ "text": keys }))
            .map(drop)
    }

    fn devtools(&self, cmd: &str, params: &Value) -> Result<Value, String> {
        self.command("/goog/cdp/execute", &json!({"cmd": cmd, "params": params}))
    }

    pub fn resize(&self, size: Size) -> Result<(), String> {
        let metrics = json!({
            "width": size.width, "height": size.height,
            "deviceScaleFactor": if size.phone { 2 } else { 1 }, "mobile": size.phone,
        });
        self.devtools("Emulation.setDeviceMetricsOverride", &metrics)
            .map(drop)
    }

    pub fn dark(&self, dark: bool) -> Result<(), String> {
        let value = if dark { "dark" } else { "light" };
        let features = json!({"features": [{"name": "prefers-color-scheme", "value": value}]});
        self.devtools("Emulation.setEmulatedMedia", &features)
            .map(drop)
    }

    /// What is to be seen, as PNG.
    pub fn picture(&self, path: &Path) -> Result<(), String> {
        self.capture(path, &json!({"format": "png"}))
    }

    /// As WebP, which is a third of the size.
    pub fn small_picture(&self, path: &Path) -> Result<(), String> {
        self.capture(path, &json!({"format": "webp", "quality": 82}))
    }

    fn capture(&self, path: &Path, how: &Value) -> Result<(), String> {
        let shot = self.devtools("Page.captureScreenshot", how)?;
        let data = shot["data"].as_str().ok_or("no picture")?;
        let bytes = from_base64(data).ok_or("the picture is no base64")?;
        if let Some(dir) = path.parent() {
            std::fs::create_dir_all(dir).map_err(|e| e.to_string())?;
        }
        std::fs::write(path, bytes).map_err(|e| format!("{}: {e}", path.display()))
    }

    fn log(&self, kind: &str) -> Result<Vec<Value>, String> {
        let log = self.command("/se/log", &json!({ "type": kind }))?;
        Ok(log.as_array().cloned().unwrap_or_default())
    }

    /// What the console complained about since the last call.
    pub fn complaints(&self) -> Result<Vec<String>, String> {
        let entries = self.log("browser")?;
        let severe = entries
            .iter()
            .filter(|e| e["level"] != "INFO" && e["level"] != "DEBUG");
        Ok(severe.map(|e| e["message"].to_string()).collect())
    }

    /// Every address that was asked for since the last call.
    pub fn asked_for(&self) -> Result<Vec<String>, String> {
        let entries = self.log("performance")?;
        let url = |entry: &Value| {
            let message: Value = serde_json::from_str(entry["message"].as_str()?).ok()?;
            let message = &message["message"];
            let sent = message["method"] == "Network.requestWillBeSent";
            let url = message["params"]["request"]["url"].as_str()?;
            sent.then(|| url.to_owned())
        };
        Ok(entries.iter().filter_map(url).collect())
    }

    /// One call of the driver.
    fn call(&self, method: &str, path: &str, body: &Value) -> Result<Value, String> {
        let told = |e: std::io::Error| format!("chromedriver: {e}");
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).map_err(told)?;
        stream.set_read_timeout(Some(PATIENCE)).map_err(told)?;
        let body = match body {
            Value::Null => String::new(),
            body => body.to_string(),
        };
        let (port, length) = (self.port, body.len());
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
        );
        stream.write_all(request.as_bytes()).map_err(told)?;
        let answer = read_answer(&mut BufReader::new(stream)).map_err(told)?;
        let mut json: Value = serde_json::from_slice(&answer).map_err(|e| e.to_string())?;
        let value = json["value"].take();
        match value["error"].as_str() {
            Some(_) => Err(value["message"].to_string()),
            None => Ok(value),
        }
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        if !self.session.is_empty() {
            let _ = self.call(
                "DELETE",
                &format!("/session/{}", self.session),
                &Value::Null,
            );
        }
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}

/// The body of an answer; the driver keeps its line open.
fn read_answer(reader: &mut impl BufRead) -> std::io::Result<Vec<u8>> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let line = line.trim_end().to_ascii_lowercase();
        if line.is_empty() {
            break;
        }
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().unwrap_or(0);
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    Ok(body)
}

/// Chromium and its driver.
fn installed() -> Option<(PathBuf, PathBuf)> {
    let chromium = find(&["chromium", "chromium-browser", "google-chrome"])?;
    Some((chromium, find(&["chromedriver"])?))
}

/// Where the system is Debian and we may.
fn install() -> Result<(), String> {
    const WANTED: &str = "Chromium and chromedriver are wanted";
    println!("{WANTED}: apt-get install chromium chromium-driver");
    for args in [
        &["update", "-qq"][..],
        &["install", "-y", "-qq", "chromium", "chromium-driver"],
    ] {
        let done = Command::new("apt-get")
            .args(args)
            .env("DEBIAN_FRONTEND", "noninteractive")
            .stdin(Stdio::null())
            .output();
        let done = done.map_err(|e| format!("{WANTED}; apt-get: {e}"))?;
        if !done.status.success() {
            let said = String::from_utf8_lossy(&done.stderr);
            let said = said.lines().next_back().unwrap_or_default().to_owned();
            return Err(format!("{WANTED}; apt-get {}: {said}", args.join(" ")));
        }
    }
    Ok(())
}

fn find(names: &[&str]) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let dirs: Vec<PathBuf> = std::env::split_paths(&path).collect();
    names
        .iter()
        .flat_map(|name| dirs.iter().map(move |dir| dir.join(name)))
        .find(|program| program.is_file())
}

fn free_port() -> Result<u16, String> {
    let listener = TcpListener::bind("127.0.0.1:0").map_err(|e| e.to_string())?;
    let address = listener.local_addr().map_err(|e| e.to_string())?;
    Ok(address.port())
}

fn from_base64(text: &str) -> Option<Vec<u8>> {
    let value = |c: u8| {
        Some(u32::from(match c {
            b'A'..=b'Z' => c - b'A',
            b'a'..=b'z' => c - b'a' + 26,
            b'0'..=b'9' => c - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        }))
    };
    let digits: Option<Vec<u32>> = text.trim_end_matches('=').bytes().map(value).collect();
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    for group in digits?.chunks(4) {
        let all = group.iter().fold(0, |all, digit| all << 6 | digit) << (6 * (4 - group.len()));
        let wanted = group.len() * 6 / 8;
        bytes.extend(all.to_be_bytes().iter().skip(1).take(wanted));
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::from_base64;

    #[test]
    fn base64_is_read() {
        for (text, want) in [("", ""), ("TQ==", "M"), ("TWE=", "Ma"), ("TWFu", "Man")] {
            assert_eq!(from_base64(text).as_deref(), Some(want.as_bytes()));
        }
        assert_eq!(from_base64("T W"), None);
    }
}
