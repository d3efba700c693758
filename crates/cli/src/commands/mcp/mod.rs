//! `ralph mcp`: this project's loop for a person's own assistant, over the
//! Model Context Protocol on standard input and output.

mod tools;

use ralph_core::lang::Lang;
use ralph_core::text::excerpt;
use ralph_store::layout::Layout;
use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation,
    ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServiceExt};

use self::tools::{Offer, find, offered};
use crate::apart::{Said, start_apart, typed_apart};
use crate::app::{App, Exit};
use crate::args::{McpAct, McpArgs};

/// More than this fills an assistant's memory, not its mind.
const LONGEST: usize = 100_000;
const INSTRUCTIONS: &str = "Ralph Loop works a task list off with a coding agent and believes evidence, not words. These tools are about the loop of one project. A task counts only as what its level says: proven, unrefuted, refused.";

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
    let served = app.block_on(async {
        let service = server.serve(rmcp::transport::stdio()).await;
        let service = service.map_err(|error| error.to_string())?;
        let ended = service.waiting().await;
        ended.map(drop).map_err(|error| error.to_string())
    })?;
    match served {
        Ok(()) => Ok(0),
        Err(why) => app.refuse(&why),
    }
}

struct Server {
    layout: Layout,
    lang: Lang,
    allowed: Vec<McpAct>,
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().build();
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new("ralph", env!("CARGO_PKG_VERSION")))
            .with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tools = offered(&self.allowed).map(Offer::tool);
        Ok(ListToolsResult::with_all_items(tools.collect()))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        find(name).map(Offer::tool)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let said = match self.typed(&request) {
            Ok((offer, typed)) => self.perform(offer, typed).await,
            Err(why) => Err(why),
        };
        let text = |words: &str| vec![ContentBlock::text(excerpt(words, LONGEST))];
        Ok(match said {
            Ok(said) => CallToolResult::success(text(&said)).into(),
            Err(why) => CallToolResult::error(text(&why)).into(),
        })
    }
}

impl Server {
    fn typed(
        &self,
        request: &CallToolRequestParams,
    ) -> Result<(&'static Offer, Vec<String>), String> {
        let name = request.name.as_ref();
        let offer = find(name).ok_or_else(|| format!("there is no tool \"{name}\""))?;
        if let Some(act) = offer.act
            && !self.allowed.contains(&act)
        {
            return Err(format!(
                "a person has to allow that first: `ralph mcp --allow {name}`"
            ));
        }
        let typed = offer.typed(&request.arguments.clone().unwrap_or_default())?;
        Ok((offer, typed))
    }

    async fn perform(&self, offer: &Offer, typed: Vec<String>) -> Result<String, String> {
        let (layout, lang) = (self.layout.clone(), self.lang);
        let starts = offer.act == Some(McpAct::Start);
        let done = tokio::task::spawn_blocking(move || match starts {
            true => {
                let before = layout.current_run().ok().flatten().map(|run| run.id);
                start_apart(&layout, &typed, lang, |run| before.as_ref() != Some(run))
            }
            false => typed_apart(layout.root(), &typed, lang).map(Some),
        });
        match done.await {
            Ok(Ok(None)) => Ok("it runs; `status` shows how far it is".into()),
            Ok(Ok(Some(Said { ok: true, words }))) => Ok(words),
            Ok(Ok(Some(Said { ok: false, words }))) => Err(words),
            Ok(Err(error)) => Err(error.to_string()),
            Err(error) => Err(error.to_string()),
        }
    }
}
