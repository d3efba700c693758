//! `ralph mcp`: this project's loop for a person's own assistant, over the
//! Model Context Protocol on standard input and output.

mod rpc;
mod tools;

use std::io;

use ralph_core::lang::Lang;
use ralph_core::text::excerpt;
use ralph_store::layout::Layout;
use serde_json::{Map, Value, json};

use self::rpc::{Asked, RpcError};
use self::tools::{Offer, find, offered};
use crate::apart::{Said, start_apart, typed_apart};
use crate::app::{App, Exit};
use crate::args::{McpAct, McpArgs};

/// More than this fills an assistant's memory, not its mind.
const LONGEST: usize = 100_000;
const INSTRUCTIONS: &str = "Ralph Loop works a task list off with a coding agent and believes evidence, not words. These tools are about the loop of one project. A task counts only as what its level says: proven, unrefuted, refused.";

/// The protocol as it is spoken here; what a client wants is among them, or
/// it is offered the last.
const VERSIONS: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];

pub fn run(app: &App, args: &McpArgs) -> Exit {
    let mut allowed = args.allow.clone();
    if allowed.contains(&McpAct::All) {
        allowed = vec![McpAct::Start, McpAct::Stop, McpAct::Answer, McpAct::Hint];
    }
    let server = Server {
        layout: app.layout(),
        lang: app.lang(),
        allowed,
    };
    let served = rpc::serve(io::stdin().lock(), io::stdout(), |asked| {
        server.answer(asked)
    });
    match served {
        Ok(()) => Ok(0),
        Err(error) => app.refuse(&error.to_string()),
    }
}

struct Server {
    layout: Layout,
    lang: Lang,
    allowed: Vec<McpAct>,
}

impl Server {
    fn answer(&self, asked: &Asked) -> Result<Value, RpcError> {
        match asked.method.as_str() {
            "initialize" => Ok(hello(&asked.params)),
            "ping" => Ok(json!({})),
            "tools/list" => {
                let tools: Vec<Value> = offered(&self.allowed).map(Offer::tool).collect();
                Ok(json!({ "tools": tools }))
            }
            "tools/call" => self.call(&asked.params),
            _ => Err(RpcError::NoMethod),
        }
    }

    fn call(&self, params: &Value) -> Result<Value, RpcError> {
        let name = params["name"].as_str().ok_or(RpcError::BadParams)?;
        let none = Map::new();
        let given = match &params["arguments"] {
            Value::Null => &none,
            Value::Object(given) => given,
            _ => return Err(RpcError::BadParams),
        };
        let said = match self.typed(name, given) {
            Ok((offer, typed)) => self.perform(offer, &typed),
            Err(why) => Err(why),
        };
        let is_error = said.is_err();
        let words = said.unwrap_or_else(|why| why);
        let text = json!({ "type": "text", "text": excerpt(&words, LONGEST) });
        Ok(json!({ "content": [text], "isError": is_error }))
    }

    fn typed(
        &self,
        name: &str,
        given: &Map<String, Value>,
    ) -> Result<(&'static Offer, Vec<String>), String> {
        let offer = find(name).ok_or_else(|| format!("there is no tool \"{name}\""))?;
        if let Some(act) = offer.act
            && !self.allowed.contains(&act)
        {
            return Err(format!(
                "a person has to allow that first: `ralph mcp --allow {name}`"
            ));
        }
        Ok((offer, offer.typed(given)?))
    }

    fn perform(&self, offer: &Offer, typed: &[String]) -> Result<String, String> {
        let (layout, lang) = (&self.layout, self.lang);
        let done = match offer.act == Some(McpAct::Start) {
            true => {
                let before = layout.current_run().ok().flatten().map(|run| run.id);
                start_apart(layout, typed, lang, |run| before.as_ref() != Some(run))
            }
            false => typed_apart(layout.root(), typed, lang).map(Some),
        };
        match done {
            Ok(None) => Ok("it runs; `status` shows how far it is".into()),
            Ok(Some(Said { ok: true, words })) => Ok(words),
            Ok(Some(Said { ok: false, words })) => Err(words),
            Err(error) => Err(error.to_string()),
        }
    }
}

fn hello(params: &Value) -> Value {
    let wanted = params["protocolVersion"].as_str();
    let [.., last] = VERSIONS;
    let spoken = VERSIONS.into_iter().find(|known| Some(*known) == wanted);
    json!({
        "protocolVersion": spoken.unwrap_or(last),
        "capabilities": { "tools": {} },
        "serverInfo": { "name": "ralph", "version": env!("CARGO_PKG_VERSION") },
        "instructions": INSTRUCTIONS,
    })
}
