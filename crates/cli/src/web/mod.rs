//! The page: a server of its own on loopback that reads the files of runs. It
//! is no part of any loop: whatever happens here, no run is slower for it,
//! and a person acts through the same verbs as on the command line.

mod access;
mod act;
mod api;
mod http;
mod live;
#[cfg(test)]
mod tests;
mod texts;

use std::io::{self, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use ralph_core::lang::{Lang, Say};
use ralph_core::tr;
use ralph_engine::archive::Keeping;
use ralph_engine::report;
use ralph_engine::watch::{self, briefs};
use ralph_store::layout::{Layout, RunId};
use serde_json::{Value, json};

use access::{Gate, Refused, Token};
use act::{Act, Actor};
use http::{HTML, Method, Request, Response, TEXT};
use live::{Channel, Hub, Next};

/// More viewers than this at once are sent away.
const MOST_CONNECTIONS: usize = 512;
/// A viewer's thread does little.
const STACK: usize = 512 * 1024;
/// How often a viewer to whom nothing happens is tried.
const HEARTBEAT: Duration = Duration::from_secs(10);
const MOST_RUNS: usize = 200;

const PAGE: &str = include_str!("assets/index.html");
const STYLE: &str = include_str!("assets/style.css");
const SCRIPT: &str = include_str!("assets/app.js");

/// The report brings its style along, and no script.
const REPORT_POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// What is served.
#[derive(Debug)]
pub struct Site {
    pub layout: Layout,
    pub lang: Lang,
    pub keeping: Keeping,
}

/// A server that listens, and does not answer yet.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    site: Site,
    gate: Gate,
    hub: Arc<Hub>,
    actor: Actor,
    connections: AtomicUsize,
}

impl Server {
    pub fn bind(site: Site, address: SocketAddr) -> io::Result<Server> {
        let token = Token::random()?;
        let listener = TcpListener::bind(address)?;
        let gate = Gate {
            token,
            address: listener.local_addr()?,
        };
        let hub = Arc::new(Hub::new(site.layout.clone(), site.lang));
        let actor = Actor {
            layout: site.layout.clone(),
            lang: site.lang,
        };
        let shared = Shared {
            site,
            gate,
            hub,
            actor,
            connections: AtomicUsize::new(0),
        };
        Ok(Server {
            listener,
            shared: Arc::new(shared),
        })
    }

    /// The address to open; it holds the token.
    pub fn url(&self) -> String {
        self.shared.gate.url()
    }

    pub fn address(&self) -> SocketAddr {
        self.shared.gate.address
    }

    /// Serves until the process ends.
    pub fn run(self) {
        for stream in self.listener.incoming() {
            let Ok(stream) = stream else {
                // Too many open files: somebody will go.
                std::thread::sleep(Duration::from_millis(50));
                continue;
            };
            let shared = Arc::clone(&self.shared);
            let is_full = shared.connections.fetch_add(1, Ordering::Relaxed) >= MOST_CONNECTIONS;
            let leaving = Leaving(Arc::clone(&shared));
            let serve = move || {
                let _leaving = leaving;
                // Whoever is gone does not want to know.
                let _ = shared.serve(stream, is_full);
            };
            let thread = std::thread::Builder::new().stack_size(STACK);
            let _ = thread.spawn(serve);
        }
    }
}

/// Counts a connection out, however it ends.
struct Leaving(Arc<Shared>);

impl Drop for Leaving {
    fn drop(&mut self) {
        self.0.connections.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Shared {
    fn serve(&self, mut stream: TcpStream, is_full: bool) -> io::Result<()> {
        stream.set_nodelay(true)?;
        let request = match http::read(&stream) {
            Ok(request) => request,
            Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                return Response::new(400, TEXT, "").send(&mut stream);
            }
            Err(error) => return Err(error),
        };
        if is_full {
            return Response::problem(503, "too many viewers").send(&mut stream);
        }
        match self.answer(&request) {
            Answer::Whole(response) => response.send(&mut stream),
            Answer::Stream(channel) => stream_news(&channel, &mut stream),
        }
    }

    fn answer(&self, request: &Request) -> Answer {
        if let Err(refused) = self.gate.check_sender(request) {
            return Answer::Whole(self.refuse(refused));
        }
        if request.path == "/" && self.gate.brings_token(request) {
            let cookie = self.gate.cookie();
            let home = Response::new(303, TEXT, "").with("Location", "/");
            return Answer::Whole(home.with("Set-Cookie", cookie));
        }
        match self.gate.check_token(request) {
            Ok(()) => self.route(request),
            Err(refused) => Answer::Whole(self.refuse(refused)),
        }
    }

    /// Says nothing about what is here.
    fn refuse(&self, refused: Refused) -> Response {
        let lang = self.site.lang;
        let (status, text) = match refused {
            Refused::Token => (
                401,
                tr!(
                    lang,
                    "Open the address that `ralph web` printed: it holds the key."
                ),
            ),
            Refused::Host | Refused::Origin => {
                (403, tr!(lang, "This request comes from another page."))
            }
        };
        Response::problem(status, &text)
    }

    /// An address is split into its parts, and each part is understood or the
    /// answer is no: no part ever becomes a path.
    fn route(&self, request: &Request) -> Answer {
        let parts: Vec<&str> = request.path.split('/').skip(1).collect();
        let whole = match (request.method, parts.as_slice()) {
            (Method::Get, [""]) => self.page(),
            (Method::Get, ["style.css"]) => Response::new(200, "text/css; charset=utf-8", STYLE),
            (Method::Get, ["app.js"]) => {
                Response::new(200, "text/javascript; charset=utf-8", SCRIPT)
            }
            (Method::Get, ["api", "page"]) => self.start(),
            (Method::Get, ["api", "runs"]) => self.runs(),
            (Method::Get, ["runs", run, "report.html"]) => self.report(run),
            (Method::Get, ["api", "runs", run, rest @ ..]) => {
                return self.of_run(run, rest, request);
            }
            (Method::Post, ["api", "runs", run, verb]) => self.act(run, verb, &request.body),
            (Method::Get | Method::Post, _) => not_found(),
            (Method::Other, _) => Response::problem(405, "GET or POST"),
        };
        Answer::Whole(whole)
    }

    fn page(&self) -> Response {
        let lang = self.site.lang;
        let page = PAGE
            .replace("{{lang}}", lang.into_str())
            .replace("{{skip}}", &texts::skip(lang))
            .replace("{{noscript}}", &texts::noscript(lang));
        Response::new(200, HTML, page)
    }

    fn start(&self) -> Response {
        let root = self.site.layout.root();
        let project = root.file_name().unwrap_or(root.as_os_str());
        let current = self.site.layout.current_run().ok().flatten();
        Response::json(&json!({
            "version": 1,
            "lang": self.site.lang.into_str(),
            "project": api::safe(project.to_string_lossy().into()),
            "current": current.map(|run| run.id.to_string()),
            "texts": texts::page(self.site.lang),
        }))
    }

    fn runs(&self) -> Response {
        match briefs(&self.site.layout, MOST_RUNS) {
            Ok(runs) => {
                let runs: Value = runs
                    .iter()
                    .map(|run| api::brief(run, self.site.lang))
                    .collect();
                Response::json(&api::safe(json!({"version": 1, "runs": runs})))
            }
            Err(error) => self.problem(503, &error),
        }
    }

    fn report(&self, run: &str) -> Response {
        match self.told(run) {
            Ok(report) => {
                Response::new(200, HTML, report.html(self.site.lang)).under(REPORT_POLICY)
            }
            Err(response) => response,
        }
    }

    fn told(&self, run: &str) -> Result<ralph_core::report::Report, Response> {
        let id = RunId::parse(run).ok_or_else(not_found)?;
        let layout = &self.site.layout;
        let source = report::find(layout, &self.site.keeping, Some(id.as_str()));
        let source = source.map_err(|error| self.problem(503, &error))?;
        let source = source.ok_or_else(not_found)?;
        report::of(layout, &source).map_err(|error| self.problem(503, &error))
    }

    fn of_run(&self, run: &str, rest: &[&str], request: &Request) -> Answer {
        let known = RunId::parse(run).filter(|id| {
            let run = self.site.layout.run(id);
            run.journal().is_file()
        });
        let Some(id) = known else {
            return Answer::Whole(not_found());
        };
        if let ["report"] = rest {
            return Answer::Whole(match self.told(run) {
                Ok(report) => Response::json(&report.json()),
                Err(response) => response,
            });
        }
        let channel = match self.hub.watch(&id) {
            Ok(channel) => channel,
            Err(error) => return Answer::Whole(self.problem(503, &error)),
        };
        Answer::Whole(match rest {
            ["stream"] => return Answer::Stream(channel),
            [] => Response::new(200, http::JSON, channel.whole().0.as_bytes()),
            ["turns"] => Response::json(&turns(&channel, request)),
            ["events"] => Response::json(&events(&channel, request)),
            ["diff"] => diff(&channel, self.site.layout.root()),
            ["turns", call, "output"] => output(&channel, call),
            _ => not_found(),
        })
    }

    fn act(&self, run: &str, verb: &str, body: &[u8]) -> Response {
        match (RunId::parse(run), Act::read(verb, body)) {
            (Some(run), Some(act)) => self.actor.perform(&run, &act),
            (None, _) => not_found(),
            (_, None) => Response::problem(
                400,
                "pause, stop, wake, resume, extend {by}, answer {question, text}",
            ),
        }
    }

    fn problem(&self, status: u16, problem: &dyn Say) -> Response {
        Response::problem(status, &api::said(problem, self.site.lang))
    }
}

enum Answer {
    Whole(Response),
    Stream(Arc<Channel>),
}

fn not_found() -> Response {
    Response::problem(404, "not found")
}

const MOST_AT_ONCE: u64 = 1000;

/// Turns before one, for whoever wants to see the past.
fn turns(channel: &Channel, request: &Request) -> Value {
    let before = request.number("before").unwrap_or(u64::MAX);
    let most = request
        .number("limit")
        .unwrap_or(MOST_AT_ONCE)
        .min(MOST_AT_ONCE);
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    channel.with(|watch| {
        let all = &watch.snapshot().turns;
        let end = all.partition_point(|turn| u64::from(turn.turn) < before);
        let from = end.saturating_sub(most);
        let part = all.get(from..end).unwrap_or_default();
        api::safe(
            json!({"total": all.len(), "turns": part.iter().map(api::turn).collect::<Value>()}),
        )
    })
}

fn events(channel: &Channel, request: &Request) -> Value {
    let after = request.number("after").unwrap_or(0);
    let most = usize::try_from(MOST_AT_ONCE).unwrap_or(usize::MAX);
    channel.with(|watch| {
        let told = watch.snapshot().events_after(after);
        api::safe(json!({"events": told.iter().take(most).collect::<Vec<_>>()}))
    })
}

/// Git is asked while nobody waits for the run.
fn diff(channel: &Channel, root: &std::path::Path) -> Response {
    let base = channel.with(|watch| watch.turn_base().map(str::to_owned));
    match watch::diff_since(root, base.as_deref()) {
        Some(diff) => Response::json(&api::safe(json!(diff))),
        None => Response::problem(404, "Git can't tell"),
    }
}

/// `3`, or `3.2` for the second call of a turn.
fn output(channel: &Channel, call: &str) -> Response {
    let (turn, attempt) = call.split_once('.').unwrap_or((call, "1"));
    let (Ok(turn), Ok(attempt)) = (turn.parse::<u32>(), attempt.parse::<u32>()) else {
        return not_found();
    };
    let tail = channel.with(|watch| {
        let calls = watch.snapshot().turns.iter();
        let mut its = calls.filter(|view| (view.turn, view.attempt) == (turn, attempt));
        its.next_back().map(|view| watch.output(view))
    });
    let Some(mut tail) = tail else {
        return not_found();
    };
    // What can't be read is not there.
    let _ = tail.refresh();
    Response::json(&api::safe(
        json!({"turn": turn, "attempt": attempt, "lines": tail.lines()}),
    ))
}

/// Everything, and then whatever happens. A viewer that takes nothing for a
/// while is gone: its browser comes back by itself, and begins anew.
fn stream_news(channel: &Channel, stream: &mut TcpStream) -> io::Result<()> {
    http::begin_stream(stream)?;
    let viewer = channel.join();
    let (whole, mut next) = channel.whole();
    send_event(stream, &whole)?;
    loop {
        match viewer.next(next, HEARTBEAT) {
            Next::News(news) => {
                next += 1;
                send_event(stream, &news)?;
            }
            Next::Nothing => stream.write_all(b": still here\n\n")?,
            Next::TooSlow => return Ok(()),
        }
    }
}

/// JSON has no line breaks of its own.
fn send_event(stream: &mut TcpStream, json: &str) -> io::Result<()> {
    let mut event = Vec::with_capacity(json.len() + 8);
    event.extend_from_slice(b"data: ");
    event.extend_from_slice(json.as_bytes());
    event.extend_from_slice(b"\n\n");
    stream.write_all(&event)
}
