// Tells opencode of memdir: https://opencode.ai/docs/plugins explains how this file is loaded.
// Written by `memdir init`; `memdir init --remove --agent opencode` removes it.
// It hands each event to `memdir hook opencode EVENT` as JSON. If that fails or takes too long, opencode goes on.
import { spawn } from "node:child_process";

const memdir = "MEMDIR";

// Milliseconds; after that the process is ended.
const PATIENCE = { SessionStart: 10000, PreCompact: 10000, SessionEnd: 1500 };

function hook(event, cwd, said) {
  return new Promise((resolve) => {
    let done = false;
    const finish = (answer) => {
      if (done) return;
      done = true;
      clearTimeout(timer);
      resolve(answer);
    };
    const timer = setTimeout(() => {
      finish({});
      try {
        child?.kill("SIGKILL");
        child?.stdout?.destroy();
        child?.unref();
      } catch {}
    }, PATIENCE[event] ?? 5000);
    timer.unref?.();
    let child;
    try {
      child = spawn(memdir, ["hook", "opencode", event], { cwd, stdio: ["pipe", "pipe", "ignore"] });
      let text = "";
      child.stdout.setEncoding("utf8");
      child.stdout.on("data", (part) => { text += part; });
      child.on("error", () => finish({}));
      child.on("close", () => {
        try { finish(text.trim() ? JSON.parse(text) : {}); } catch { finish({}); }
      });
      child.stdin.on("error", () => {});
      child.stdin.end(JSON.stringify({ hook_event_name: event, cwd, ...said }));
    } catch {
      finish({});
    }
  });
}

export const Memdir = async ({ directory, worktree }) => {
  const cwd = directory || worktree || process.cwd();
  const briefings = new Map(); // session -> promise of its briefing: the same bytes in every request
  const parents = new Map(); // session of a sub-agent -> session that started it
  const roles = new Map(); // message -> who speaks
  const answers = new Map(); // session -> what the model said last
  const asked = new Map(); // call -> what to say beside its result

  const who = (session) =>
    parents.has(session)
      ? { session_id: parents.get(session), agent_id: session, agent_type: "subagent" }
      : { session_id: session };

  const forget = (session) => {
    briefings.delete(session);
    answers.delete(session);
    parents.delete(session);
  };

  const safely = (act) => async (...given) => {
    try { await act(...given); } catch (problem) { if (problem?.memdir) throw problem; }
  };

  return {
    event: safely(async ({ event }) => {
      const about = event.properties ?? {};
      if (event.type === "session.created" && about.info?.parentID) {
        parents.set(about.info.id, about.info.parentID);
      } else if (event.type === "message.updated" && about.info) {
        roles.set(about.info.id, about.info.role);
      } else if (event.type === "message.part.updated" && about.part?.type === "text") {
        if (roles.get(about.part.messageID) === "assistant") answers.set(about.part.sessionID, about.part.text);
      } else if (event.type === "session.idle" && !parents.has(about.sessionID)) {
        await hook("Stop", cwd, { ...who(about.sessionID), last_assistant_message: answers.get(about.sessionID) ?? "" });
        roles.clear();
      } else if (event.type === "session.compacted") {
        await hook("PostCompact", cwd, who(about.sessionID));
        const again = await hook("SessionStart", cwd, { ...who(about.sessionID), source: "compact" });
        briefings.set(about.sessionID, Promise.resolve(again.context));
      } else if (event.type === "session.deleted" && about.info) {
        await hook("SessionEnd", cwd, { ...who(about.info.id), reason: "deleted" });
        forget(about.info.id);
      }
    }),

    "experimental.chat.system.transform": safely(async (input, output) => {
      const session = input.sessionID;
      if (!session || parents.has(session)) return;
      // The request that names a session needs no memory; its words are opencode's own.
      if (/^you are a title generator/i.test(output.system[0] ?? "")) return;
      if (!briefings.has(session)) {
        const start = hook("SessionStart", cwd, { ...who(session), source: "startup" });
        briefings.set(session, start.then((answer) => answer.context));
      }
      const briefing = await briefings.get(session);
      if (briefing) output.system.push(briefing);
    }),

    "chat.message": safely(async (input, output) => {
      const said = output.parts.filter((part) => part.type === "text" && !part.synthetic);
      const last = output.parts[output.parts.length - 1];
      if (!said.length || !last || parents.has(input.sessionID)) return;
      const prompt = said.map((part) => part.text).join("\n");
      const message = output.message?.id ?? input.messageID;
      const answer = await hook("UserPromptSubmit", cwd, { ...who(input.sessionID), prompt_id: message, prompt });
      if (answer.context) {
        // Parts are kept in the order of their ids: this one comes last.
        const { sessionID, messageID } = last;
        output.parts.push({ id: `${last.id}m`, sessionID, messageID, type: "text", text: answer.context, synthetic: true });
      }
    }),

    "tool.execute.before": safely(async (input, output) => {
      const call = { ...who(input.sessionID), tool_use_id: input.callID, tool_name: input.tool, tool_input: output.args };
      const answer = await hook("PreToolUse", cwd, call);
      if (answer.deny) throw Object.assign(new Error(answer.deny), { memdir: true });
      const remark = [answer.ask, answer.context].filter(Boolean).join("\n");
      if (remark) asked.set(input.callID, remark);
    }),

    "tool.execute.after": safely(async (input, output) => {
      const call = { ...who(input.sessionID), tool_use_id: input.callID, tool_name: input.tool, tool_input: input.args };
      const answer = await hook("PostToolUse", cwd, { ...call, tool_response: output.output });
      const remark = [asked.get(input.callID), answer.context].filter(Boolean).join("\n");
      asked.delete(input.callID);
      if (remark && typeof output.output === "string") output.output += `\n\n${remark}`;
    }),

    "experimental.session.compacting": safely(async (input) => {
      await hook("PreCompact", cwd, who(input.sessionID));
    }),
  };
};
