//! The page: a server of its own on loopback that reads the files of runs. It
//! is no part of any loop: whatever happens here, no run is slower for it,
//! and a person acts through the same verbs as on the command line.

mod access;
mod act;
mod api;
mod heads;
mod http;
mod live;
mod projects;
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
use ralph_store::layout::RunId;
use serde_json::{Value, json};

use access::{Gate, Refused};
pub use act::Act;
use act::Actor;
use heads::Heads;
use http::{HTML, Method, Request, Response, TEXT};
use live::{Channel, Hub, Next};
pub use projects::Projects;
#[cfg(feature = "fleet")]
pub use projects::{Elsewhere, Told};

/// More viewers than this at once are sent away.
const MOST_VIEWERS: usize = 512;
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
    pub projects: Arc<Projects>,
    pub lang: Lang,
    pub keeping: Keeping,
    /// Told the next address when one was used.
    pub opened: fn(&str),
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
    heads: Heads,
    viewers: AtomicUsize,
}

impl Server {
    pub fn bind(site: Site, address: SocketAddr) -> io::Result<Server> {
        let listener = TcpListener::bind(address)?;
        let gate = Gate::new(listener.local_addr()?)?;
        let hub = Arc::new(Hub::new(site.lang));
        let actor = Actor { lang: site.lang };
        let shared = Shared {
            site,
            gate,
            hub,
            actor,
            heads: Heads::default(),
            viewers: AtomicUsize::new(0),
        };
        Ok(Server {
            listener,
            shared: Arc::new(shared),
        })
    }

    /// The address to open, once.
    pub fn url(&self) -> io::Result<String> {
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
            let stream = Arc::new(stream);
            let head = shared.heads.begin(&stream);
            // Whoever is gone does not want to know.
            let serve = move || drop(shared.serve(&stream, head));
            let thread = std::thread::Builder::new().stack_size(STACK);
            let _ = thread.spawn(serve);
        }
    }
}

/// Counts a viewer out, however it ends.
struct Leaving<'a>(&'a AtomicUsize);

impl Drop for Leaving<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Shared {
    fn serve(&self, stream: &TcpStream, head: u64) -> io::Result<()> {
        let request = http::read(stream);
        self.heads.end(head);
        let request = match request {
            Ok(request) => request,
            Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                return Response::new(400, TEXT, "").send(stream);
            }
            Err(error) => return Err(error),
        };
        stream.set_nodelay(true)?;
        match self.answer(&request) {
            Answer::Whole(response) => response.send(stream),
            Answer::Stream(channel) => {
                let others = self.viewers.fetch_add(1, Ordering::Relaxed);
                let _leaving = Leaving(&self.viewers);
                if others >= MOST_VIEWERS {
                    return Response::problem(503, "too many viewers").send(stream);
                }
                stream_news(&channel, stream)
            }
        }
    }

    fn answer(&self, request: &Request) -> Answer {
        if let Err(refused) = self.gate.check_sender(request) {
            return Answer::Whole(self.refuse(refused));
        }
        if let Some(response) = self.public(request) {
            return Answer::Whole(response);
        }
        match self.gate.check_key(request) {
            Ok(()) => self.route(request),
            Err(refused) => Answer::Whole(self.refuse(refused)),
        }
    }

    /// The page itself, which knows nothing, and the key for a code.
    fn public(&self, request: &Request) -> Option<Response> {
        Some(match (request.method, request.path.as_str()) {
            (Method::Get, "/") => self.page(),
            (Method::Get, "/style.css") => Response::new(200, "text/css; charset=utf-8", STYLE),
            (Method::Get, "/app.js") => {
                Response::new(200, "text/javascript; charset=utf-8", SCRIPT)
            }
            (Method::Post, "/api/key") => self.key(&request.body),
            _ => return None,
        })
    }

    /// The next browser needs an address of its own.
    fn key(&self, code: &[u8]) -> Response {
        if !std::str::from_utf8(code).is_ok_and(|code| self.gate.takes(code.trim())) {
            return self.refuse(Refused::Key);
        }
        if let Ok(url) = self.gate.url() {
            (self.site.opened)(&url);
        }
        Response::json(&json!({"key": self.gate.key.text()}))
    }

    /// A code for what a browser opens by its address.
    fn code(&self) -> Response {
        match self.gate.code() {
            Ok(code) => Response::json(&json!({"code": code.text()})),
            Err(error) => Response::problem(503, &error.to_string()),
        }
    }

    /// Says nothing about what is here.
    fn refuse(&self, refused: Refused) -> Response {
        let lang = self.site.lang;
        let (status, text) = match refused {
            Refused::Key => (
                401,
                tr!(
                    lang,
                    "Open the address that `ralph web` printed last: each one lets one browser in."
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
            (Method::Get, ["api", "page"]) => self.start(),
            (Method::Post, ["api", "code"]) => self.code(),
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
        let (project, current) = self.site.projects.in_short();
        Response::json(&json!({
            "version": 1,
            "lang": self.site.lang.into_str(),
            "project": api::safe(project.into()),
            "current": current.map(|run| run.to_string()),
            "texts": texts::page(self.site.lang),
        }))
    }

    fn runs(&self) -> Response {
        match self.site.projects.briefs(MOST_RUNS) {
            Ok(runs) => {
                let runs: Value = runs
                    .iter()
                    .map(|(job, run)| {
                        let mut brief = api::brief(run, self.site.lang);
                        brief["job"] = json!(job);
                        brief
                    })
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
        let layout = &self.site.projects.of_run(&id).ok_or_else(not_found)?;
        let source = report::find(layout, &self.site.keeping, Some(id.as_str()));
        let source = source.map_err(|error| self.problem(503, &error))?;
        let source = source.ok_or_else(not_found)?;
        report::of(layout, &source).map_err(|error| self.problem(503, &error))
    }

    fn of_run(&self, run: &str, rest: &[&str], request: &Request) -> Answer {
        let known = RunId::parse(run).and_then(|id| {
            let layout = self.site.projects.of_run(&id)?;
            layout.run(&id).journal().is_file().then_some((layout, id))
        });
        let Some((layout, id)) = known else {
            return Answer::Whole(not_found());
        };
        if let ["report"] = rest {
            return Answer::Whole(match self.told(run) {
                Ok(report) => Response::json(&report.json()),
                Err(response) => response,
            });
        }
        let channel = match self.hub.watch(&layout, &id) {
            Ok(channel) => channel,
            Err(error) => return Answer::Whole(self.problem(503, &error)),
        };
        Answer::Whole(match rest {
            ["stream"] => return Answer::Stream(channel),
            [] => Response::new(200, http::JSON, channel.whole().0.as_bytes()),
            ["turns"] => Response::json(&turns(&channel, request)),
            ["events"] => Response::json(&events(&channel, request)),
            ["diff"] => diff(&channel, request),
            ["turns", call, "output"] => output(&channel, call),
            _ => not_found(),
        })
    }

    fn act(&self, run: &str, verb: &str, body: &[u8]) -> Response {
        let run = RunId::parse(run);
        let known = run.and_then(|run| Some((self.site.projects.of_run(&run)?, run)));
        match (known, Act::read(verb, body)) {
            #[cfg(feature = "fleet")]
            (Some((layout, _)), Some(act)) if self.site.projects.is_elsewhere() => {
                let said = (&act, verb, body);
                self.site.projects.say(&layout, said, self.site.lang)
            }
            (Some((layout, run)), Some(act)) => self.actor.perform(&layout, &run, &act),
            (None, _) => not_found(),
            (_, None) => Response::problem(
                400,
                "pause, stop, wake, resume, extend {by}, answer {question, text}, steer {line}",
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
fn diff(channel: &Channel, request: &Request) -> Response {
    let turn = request.number("turn").and_then(|turn| turn.try_into().ok());
    match channel.with(|watch| watch.diff_of(turn)).make() {
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
fn stream_news(channel: &Channel, mut stream: &TcpStream) -> io::Result<()> {
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
fn send_event(mut stream: &TcpStream, json: &str) -> io::Result<()> {
    let mut event = Vec::with_capacity(json.len() + 8);
    event.extend_from_slice(b"data: ");
    event.extend_from_slice(json.as_bytes());
    event.extend_from_slice(b"\n\n");
    stream.write_all(&event)
}
