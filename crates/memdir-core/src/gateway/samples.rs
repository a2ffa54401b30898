//! Requests as real clients send them, made small: the same keys in the same order, one line of each long text.

use super::{Dialect, Labels};

/// A request of Claude Code that begins a session: three blocks of instructions, reminders before the prompt, a mark for
/// the cache on the last block, a system message behind the user's.
pub(super) const CLAUDE: &str = r##"{"model":"claude-opus-5-5","max_tokens":32000,"stream":true,"system":[{"type":"text","text":"x-anthropic-billing-header: cc_version=2.1.325; cch=5a1f0;"},{"type":"text","text":"You are an agent.","cache_control":{"type":"ephemeral"}},{"type":"text","text":"# Environment\n - Primary working directory: /home/ada/shop\n - Is a git repository: true","cache_control":{"type":"ephemeral"}}],"messages":[{"role":"user","content":[{"type":"text","text":"<system-reminder>\nContents of /home/ada/shop/CLAUDE.md\n</system-reminder>\n"},{"type":"text","text":"which database do the tests use?","cache_control":{"type":"ephemeral"}}]},{"role":"system","content":"Today is Tuesday."}],"tools":[{"name":"Bash","input_schema":{"type":"object"}}],"metadata":{"user_id":"{\"device_id\":\"d\",\"session_id\":\"5f7c1b52-0000-4000-8000-000000000001\"}"},"thinking":{"type":"adaptive"},"output_config":{"effort":"high"}}"##;

/// A later request of it: an answer with a signed thought and a tool, its result, the first message as it was but for the
/// mark.
pub(super) const CLAUDE_TOOL: &str = r##"{"model":"claude-opus-5-5","max_tokens":32000,"stream":true,"system":[{"type":"text","text":"x-anthropic-billing-header: cc_version=2.1.325; cch=77777;"},{"type":"text","text":"You are an agent.","cache_control":{"type":"ephemeral"}},{"type":"text","text":"# Environment\n - Primary working directory: /home/ada/shop\n - Is a git repository: true","cache_control":{"type":"ephemeral"}}],"messages":[{"role":"user","content":[{"type":"text","text":"<system-reminder>\nContents of /home/ada/shop/CLAUDE.md\n</system-reminder>\n"},{"type":"text","text":"which database do the tests use?"}]},{"role":"system","content":"Today is Tuesday."},{"role":"assistant","content":[{"type":"thinking","thinking":"look","signature":"c2lnbmVk"},{"type":"tool_use","id":"toolu_1","name":"Bash","input":{"command":"cargo test"}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"ok [memdir 7c1e90ab]","cache_control":{"type":"ephemeral"}}]}],"tools":[{"name":"Bash","input_schema":{"type":"object"}}],"metadata":{"user_id":"{\"device_id\":\"d\",\"session_id\":\"5f7c1b52-0000-4000-8000-000000000001\"}"}}"##;

/// A request of Codex: instructions for developers, the environment as a message of the user, a call with its output.
pub(super) const CODEX: &str = r##"{"model":"gpt-5.4","input":[{"type":"message","role":"developer","content":[{"type":"input_text","text":"You are Codex."}]},{"type":"message","role":"user","content":[{"type":"input_text","text":"<environment_context>\n  <cwd>/home/ada/shop</cwd>\n</environment_context>"}]},{"type":"message","role":"user","content":[{"type":"input_text","text":"run the tests"}]},{"type":"reasoning","summary":[],"encrypted_content":"eA=="},{"type":"function_call","name":"shell","arguments":"{\"command\":[\"bash\",\"-lc\",\"cargo test\"]}","call_id":"c1"},{"type":"function_call_output","call_id":"c1","output":"ok"},{"type":"message","role":"assistant","content":[{"type":"output_text","text":"They pass."}]},{"type":"message","role":"user","content":[{"type":"input_text","text":"now deploy"}]}],"tools":[{"type":"function","name":"shell"}],"store":false,"stream":true,"include":["reasoning.encrypted_content"],"prompt_cache_key":"01a1-thread"}"##;

/// A request of an agent that speaks chat completions.
pub(super) const CHAT: &str = r##"{"model":"qwen3","messages":[{"role":"system","content":"You are opencode.\n<env>\n  Working directory: /home/ada/shop\n</env>"},{"role":"user","content":"run the \"tests\""},{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"bash","arguments":"{\"command\":\"cargo test\"}"}}]},{"role":"tool","tool_call_id":"c1","content":"ok"},{"role":"assistant","content":"They pass."},{"role":"user","content":[{"type":"text","text":"and this?"},{"type":"image_url","image_url":{"url":"data:image/png;base64,AA=="}}]}],"tools":[{"type":"function","function":{"name":"bash"}}],"stream":true}"##;

/// A request of Gemini CLI.
pub(super) const GEMINI: &str = r##"{"contents":[{"role":"user","parts":[{"text":"<session_context>\nThis is the Gemini CLI.\nI'm currently working in the directory: /home/ada/shop\n</session_context>"}]},{"role":"user","parts":[{"text":"run the tests"}]},{"role":"model","parts":[{"functionCall":{"name":"run_shell_command","args":{"command":"cargo test"}},"thoughtSignature":"eA=="}]},{"role":"user","parts":[{"functionResponse":{"name":"run_shell_command","response":{"output":"ok"}}}]}],"systemInstruction":{"role":"user","parts":[{"text":"You are Gemini CLI."}]},"tools":[{"functionDeclarations":[{"name":"run_shell_command"}]}],"generationConfig":{"temperature":0}}"##;

/// Each with its dialect.
pub(super) const ALL: [(Dialect, &str); 5] = [
    (Dialect::Messages, CLAUDE),
    (Dialect::Messages, CLAUDE_TOOL),
    (Dialect::Responses, CODEX),
    (Dialect::Chat, CHAT),
    (Dialect::Gemini, GEMINI),
];

/// The labels of a client that has none.
pub(super) fn unlabelled() -> Labels {
    Labels::default()
}

/// The labels of Claude Code.
pub(super) fn of_claude() -> Labels {
    let session = "5f7c1b52-0000-4000-8000-000000000001".to_owned();
    Labels { session: Some(session), is_agents: true, ..Labels::default() }
}
