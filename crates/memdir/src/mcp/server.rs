//! The server: what the protocol asks, handed on to tools, resources and prompts.
//!
//! Both lifecycles of the protocol are the SDK's affair (a host that says `initialize`, and one that sends each request
//! with all it needs). Work that touches disks is done by other threads or processes, so that a slow disk holds up no other
//! answer, and a fault in it is an answer too.

use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CallToolResult, GetPromptRequestParams,
    GetPromptResponse, GetPromptResult, Implementation, JsonObject, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, ServerCapabilities, ServerConfig,
    Tool,
};
use rmcp::service::{RequestContext, RoleServer};
use rmcp::{ErrorData, ServerHandler};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::call::{self, Call, FAULT, Kind, fault};
use super::desk::{self, Caller};
use super::reply::Reply;
use super::sampling::Lent;
use super::{Options, apart, prompts, resources, tools};
use crate::context;

/// How memory is used, in short; longer texts are cut by hosts.
const INSTRUCTIONS: &str = include_str!("instructions.md");
/// The lists of tools and prompts change with a release and with nothing else.
const CONSTANT_MS: u64 = 24 * 60 * 60 * 1_000;
/// The longest name of a host or a session that is kept.
const MAX_WORD: usize = 64;
/// A host that does not say what it is.
const NAMELESS: &str = "an agent";
/// Where Codex tells with each call which session it belongs to.
const CODEX_TURN: &str = "x-codex-turn-metadata";
/// Answers one host.
#[derive(Debug, Clone)]
pub(crate) struct Server {
    options: Options,
    session: String,
    place: Where,
}

/// Where calls are answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Where {
    /// In this process, which serves many hosts.
    Here,
    /// In a process of their own, so that this one stays small: every host has one.
    Apart,
}

/// Whether a request may change anything; HTTP says so beside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct MayWrite(pub(super) bool);

impl Server {
    /// Makes a server; nothing is opened.
    pub(super) fn new(options: Options, place: Where) -> Self {
        let own =
            || memdir_store::disk::random_hex().map_or_else(|_| "mcp".to_owned(), |id| format!("mcp-{id}"));
        let session = context::session().and_then(|id| word(&id)).unwrap_or_else(own);
        Self { options, session, place }
    }

    /// Says who calls, as far as the request and the handshake tell.
    fn caller(&self, request: &RequestContext<RoleServer>) -> Caller {
        let named = request.meta.client_info().or_else(|| {
            let info = request.peer.peer_info();
            info.map(|info| info.client_info.clone())
        });
        let client = named.and_then(|client| word(&client.name)).unwrap_or_else(|| NAMELESS.to_owned());
        let session = request.meta.get(CODEX_TURN).and_then(session_of);
        let parts = request.extensions.get::<hyper::http::request::Parts>();
        let may_write = parts.is_none_or(|parts| parts.extensions.get::<MayWrite>() == Some(&MayWrite(true)));
        let lent = Lent::of(request, &client);
        Caller { session: session.unwrap_or_else(|| self.session.clone()), client, may_write, lent }
    }

    /// Has a call answered, by a thread or a process of its own.
    async fn answer<T: DeserializeOwned + Send + 'static>(
        &self,
        request: &RequestContext<RoleServer>,
        kind: Kind,
        name: Option<String>,
        arguments: Option<JsonObject>,
    ) -> Result<T, ErrorData> {
        let arguments = arguments.unwrap_or_default();
        let call = Call { kind, name, arguments, caller: self.caller(request) };
        let (options, place) = (self.options.clone(), self.place);
        let answer = move || match place {
            Where::Apart if !call.may_borrow() => apart::answer(call, &options),
            Where::Here | Where::Apart => call.answer(&options),
        };
        call::read(tokio::task::spawn_blocking(answer).await.map_err(|_| fault())??)
    }
}

/// Reads the session out of what Codex says about a turn: an object, or one in a string.
fn session_of(turn: &Value) -> Option<String> {
    let parsed = turn.as_str().and_then(|text| serde_json::from_str(text).ok());
    let turn: &Value = parsed.as_ref().unwrap_or(turn);
    ["session_id", "thread_id"].iter().find_map(|name| word(turn.get(name)?.as_str()?))
}

/// Keeps of a name what may stand in a log.
fn word(text: &str) -> Option<String> {
    let is_plain = |c: &char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | ' ' | '/');
    let word: String = text.chars().filter(is_plain).take(MAX_WORD).collect();
    Some(word.trim().to_owned()).filter(|word| !word.is_empty())
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities =
            ServerCapabilities::builder().enable_tools().enable_resources().enable_prompts().build();
        let about = Implementation::new("memdir", env!("CARGO_PKG_VERSION"))
            .with_title("memdir")
            .with_description(env!("CARGO_PKG_DESCRIPTION"));
        let config = ServerConfig::new(capabilities).with_server_info(about);
        // Off means off: not even a word about how to use memory.
        if desk::is_off() { config } else { config.with_instructions(INSTRUCTIONS) }
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(tools::listed().to_vec())
            .with_ttl_ms(CONSTANT_MS)
            .with_cache_scope(CacheScope::Public))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        tools::listed().iter().find(|tool| tool.name == name).cloned()
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        if tools::find(&request.name).is_none() {
            return Err(ErrorData::invalid_params(format!("Unknown tool: {}", short(&request.name)), None));
        }
        let name = Some(request.name.into_owned());
        let reply: Result<Reply, ErrorData> =
            self.answer(&context, Kind::Tool, name, request.arguments).await;
        let result: CallToolResult = reply.unwrap_or_else(|_| Reply::error(FAULT)).into_result();
        Ok(result.into())
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let cursor = request.and_then(|request| request.cursor);
        self.answer(&context, Kind::Resources, cursor, None).await
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(resources::templates().with_ttl_ms(CONSTANT_MS).with_cache_scope(CacheScope::Public))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let read = self.answer::<ReadResourceResult>(&context, Kind::Resource, Some(request.uri), None).await;
        read.map(ReadResourceResponse::from)
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Ok(prompts::list().with_ttl_ms(CONSTANT_MS).with_cache_scope(CacheScope::Public))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let (name, arguments) = (Some(request.name), request.arguments);
        let got = self.answer::<GetPromptResult>(&context, Kind::Prompt, name, arguments).await;
        got.map(GetPromptResponse::from)
    }
}

/// Cuts what somebody else wrote to the length of a message.
pub(super) fn short(text: &str) -> String {
    text.chars().take(MAX_WORD).flat_map(char::escape_debug).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Hosts cut instructions at 2 KB.
    #[test]
    fn the_instructions_are_short_and_carry_the_rules() {
        assert!(INSTRUCTIONS.len() < 2_048, "{}", INSTRUCTIONS.len());
        for rule in
            ["search_memory", "ignore memory", "secrets, ever", "log_session", "see that it is still there"]
        {
            let joined = INSTRUCTIONS.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(joined.contains(rule), "{rule}");
        }
    }

    #[test]
    fn codex_tells_its_session_as_an_object_or_in_a_string() {
        let turn = serde_json::json!({ "session_id": "s-1", "turn_id": "t" });
        assert_eq!(session_of(&turn).as_deref(), Some("s-1"));
        assert_eq!(session_of(&Value::String(turn.to_string())).as_deref(), Some("s-1"));
        assert_eq!(session_of(&serde_json::json!({ "thread_id": "t-9" })).as_deref(), Some("t-9"));
        for other in [Value::Null, serde_json::json!("x"), serde_json::json!([1])] {
            assert_eq!(session_of(&other), None);
        }
    }

    #[test]
    fn a_host_is_called_by_plain_letters() {
        assert_eq!(word("claude-code").as_deref(), Some("claude-code"));
        assert_eq!(word("<system>\u{1b}[31mevil\n").as_deref(), Some("system31mevil"));
        assert_eq!(word("\u{202e}"), None);
    }
}
