//! The scripted model server: answers on loopback, and writes down what came.

use std::fs::File;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use serde_json::{Value, json};

use crate::api::{Api, Asked, Form};
use crate::http::{self, Body, Incoming, Outgoing};
use crate::lanes::{Lanes, Next};
use crate::record::Request;
use crate::script::{Script, Turn};

/// A client that is silent for so long is gone.
const READ_TIMEOUT: Duration = Duration::from_secs(30);

/// A server that runs until it is finished or dropped.
#[derive(Debug)]
pub struct ModelServer {
    address: SocketAddr,
    shared: Arc<Shared>,
    accepting: Option<JoinHandle<()>>,
}

/// How a script was played.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    pub requests: Vec<Request>,
    /// Requests that the script has no answer for.
    pub violations: Vec<String>,
    /// Turns that nobody asked for.
    pub unplayed: Vec<String>,
}

#[derive(Debug)]
struct Shared {
    stopping: AtomicBool,
    play: Mutex<Play>,
}

#[derive(Debug)]
struct Play {
    lanes: Lanes,
    log: Option<File>,
    requests: Vec<Request>,
    violations: Vec<String>,
}

impl ModelServer {
    /// Listens on a free port of loopback; requests are also written to the
    /// log as they come, one JSON object per line.
    pub fn start(script: Script, log: Option<&Path>) -> io::Result<ModelServer> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared {
            stopping: AtomicBool::new(false),
            play: Mutex::new(Play {
                lanes: Lanes::new(script),
                log: log.map(File::create).transpose()?,
                requests: Vec::new(),
                violations: Vec::new(),
            }),
        });
        let accepting = {
            let shared = Arc::clone(&shared);
            std::thread::spawn(move || accept(&listener, &shared))
        };
        Ok(ModelServer {
            address,
            shared,
            accepting: Some(accepting),
        })
    }

    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// `http://127.0.0.1:PORT`
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Ends the server and tells how the script was played.
    pub fn finish(mut self) -> Report {
        self.stop();
        let play = self.shared.play();
        Report {
            requests: play.requests.clone(),
            violations: play.violations.clone(),
            unplayed: play.lanes.unplayed(),
        }
    }

    /// Waits for the end of the server, which comes with the process.
    pub fn serve(mut self) {
        if let Some(accepting) = self.accepting.take() {
            let _ = accepting.join();
        }
    }

    fn stop(&mut self) {
        let Some(accepting) = self.accepting.take() else {
            return;
        };
        self.shared.stopping.store(true, Ordering::SeqCst);
        // Wakes the listener up, so that it sees that it is to stop.
        let _ = TcpStream::connect(self.address);
        let _ = accepting.join();
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        self.stop();
    }
}

fn accept(listener: &TcpListener, shared: &Arc<Shared>) {
    for stream in listener.incoming() {
        if shared.stopping.load(Ordering::SeqCst) {
            return;
        }
        let Ok(stream) = stream else { continue };
        let shared = Arc::clone(shared);
        std::thread::spawn(move || shared.talk(stream));
    }
}

impl Shared {
    fn play(&self) -> MutexGuard<'_, Play> {
        // A panic elsewhere does not make the records wrong.
        self.play.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn talk(&self, mut stream: TcpStream) {
        let _ = stream.set_read_timeout(Some(READ_TIMEOUT));
        let Ok(request) = http::read(&stream) else {
            // A connection that was opened ahead and never used.
            return;
        };
        let (answer, delay) = self.play().answer(&request);
        std::thread::sleep(delay);
        // A client may be gone before it has heard everything.
        let _ = http::write(&mut stream, &answer);
    }
}

impl Play {
    fn answer(&mut self, incoming: &Incoming) -> (Outgoing, Duration) {
        let mut request = Request::new(self.requests.len() + 1, incoming);
        let reply = match Asked::of(incoming, &request.body) {
            Asked::Model(api, form) => self.model(api, form, &mut request),
            Asked::Count(api) => plain(&mut request, "count", &api.count()),
            Asked::Models => plain(
                &mut request,
                "models",
                &json!({"object": "list", "data": [], "models": []}),
            ),
            Asked::Alive => plain(&mut request, "alive", &json!({})),
            Asked::Unknown => self.violated(&mut request, "the model server has no such path"),
        };
        if let Some(log) = &mut self.log
            && let Err(error) = request.write(log)
        {
            self.violations
                .push(format!("the log of requests: {error}"));
        }
        self.requests.push(request);
        reply
    }

    fn model(&mut self, api: Api, form: Form, request: &mut Request) -> (Outgoing, Duration) {
        let has_tools = !request.tools().is_empty();
        request.lane = self.lanes.of(&api.opening(&request.body), has_tools);
        let (turn, name) = match self.lanes.next(&request.lane) {
            Next::Turn { number, turn } => (*turn, format!("turn {number}")),
            Next::Neutral => (neutral(), "neutral".to_owned()),
            Next::Exhausted => {
                let what = format!("the script has no turn left in the lane {}", request.lane);
                return self.violated(request, &what);
            }
        };
        let answer = match &turn.refuse {
            Some(refusal) => {
                request.answer = format!("{name}: {}", refusal.status);
                let headers = refusal.headers.clone().into_iter().collect();
                Outgoing {
                    headers,
                    ..json_answer(refusal.status, &refusal.body)
                }
            }
            None => {
                request.answer = name;
                Outgoing {
                    body: api.body(form, &turn, request.number, &request.body),
                    cut: turn.cut,
                    ..json_answer(200, &Value::Null)
                }
            }
        };
        (answer, Duration::from_millis(turn.delay_ms))
    }

    /// 400, because no client tries such an answer again for long.
    fn violated(&mut self, request: &mut Request, what: &str) -> (Outgoing, Duration) {
        request.answer = "violation".into();
        let told = format!(
            "request {}, {} {}: {what}",
            request.number, request.method, request.path
        );
        let body = json!({"type": "error", "error": {"type": "invalid_request_error", "code": 400, "message": told}});
        self.violations.push(told);
        (json_answer(400, &body), Duration::ZERO)
    }
}

fn plain(request: &mut Request, name: &str, body: &Value) -> (Outgoing, Duration) {
    request.answer = name.into();
    (json_answer(200, body), Duration::ZERO)
}

fn json_answer(status: u16, body: &Value) -> Outgoing {
    Outgoing {
        status,
        headers: Vec::new(),
        body: Body::Whole(body.to_string()),
        cut: false,
    }
}

/// Fits where a title is wanted and where a loop is looked for.
fn neutral() -> Turn {
    Turn::say(r#"{"title": "Scripted", "unproductive_state_confidence": 0.0}"#)
}
