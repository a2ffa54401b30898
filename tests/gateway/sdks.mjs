// The official JavaScript SDKs through the gateway, called by `tests/gateway/sdks`.
//
//     sdks.mjs ADDRESS SEEN_BEFORE SEEN_BEHIND on|off
//
// The same checks as in sdks.py, by the libraries and the HTTP of another language.

import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

// The packages are where they were installed, and not beside this file.
const here = createRequire(`${process.env.SDKS}/package.json`);
const { default: Anthropic } = await import(pathToFileURL(here.resolve("@anthropic-ai/sdk")));
const { default: OpenAI } = await import(pathToFileURL(here.resolve("openai")));

const [address, ...rest] = process.argv.slice(2);
const [memory] = rest.splice(2);
const ANSWER = 'As you wish: größer, "quoted", 漢字 🚂';
const FACT = "The release train leaves the yard at a quarter past four.";
const QUESTION = "when does the release train leave?";
const REFUSED = 'scripted: größer als erlaubt, "wirklich" 漢字';
const REMINDER = String.raw`<system-reminder>\\n(?:[^"\\]|\\.)*?\\n</system-reminder>`;
const STRING = String.raw`"(?:[^"\\]|\\.)*"`;
const LOOK_UP = { type: "object", properties: { word: { type: "string" } }, required: ["word"] };
const WORD = { word: 'größe "x" 漢字' };
const RESULT = "At a quarter past four. 漢字";

const seen = async () => {
  const sides = [];
  for (const side of rest) sides.push(await (await fetch(`http://${side}/`)).json());
  return sides;
};

const reminders = (body) => body.match(new RegExp(REMINDER, "g"));

// What a body may have been before texts of ours were added, in each of their forms.
function withoutOurs(body) {
  const block = String.raw`,\{"type":"(?:input_)?text","text":"${REMINDER}"\}`;
  const wrapped = String.raw`\[\{"type":"text","text":(${STRING})\}${block}\]`;
  const forms = [[block, ""], [wrapped, "$1"], [String.raw`\\n\\n${REMINDER}`, ""]];
  return [body, ...forms.map(([form, left]) => body.replace(new RegExp(form, "g"), left))];
}

// Compares both sides of so many requests, and says what reached the model.
async function compare(n, told) {
  const [before, behind] = await seen();
  assert.deepEqual([before.length, behind.length], [n, n], "as many requests came and went");
  return before.map((came, at) => {
    const went = behind[at];
    for (const part of ["method", "path", "status", "answer"]) assert.equal(went[part], came[part], part);
    const [cameBody, wentBody] = [came, went].map((side) => Buffer.from(side.body, "hex").toString());
    if (told && memory === "on") {
      assert.ok(wentBody !== cameBody && wentBody.includes(FACT), wentBody);
      assert.ok(withoutOurs(wentBody).includes(cameBody), `${cameBody}\nbecame\n${wentBody}`);
    } else {
      assert.equal(wentBody, cameBody);
    }
    return wentBody;
  });
}

// Nobody may be retried for, unless a check is about that.
const claude = new Anthropic({ baseURL: `http://${address}`, apiKey: "sk-none", maxRetries: 0 });
const gpt = new OpenAI({ baseURL: `http://${address}/v1`, apiKey: "sk-none", maxRetries: 0 });
const CLAUDE = { model: "claude-opus-5-5", max_tokens: 400 };
const user = (content) => ({ role: "user", content });
const system = (content) => ({ role: "system", content });

const checks = {
  async anthropicWhole() {
    const got = await claude.messages.create({ ...CLAUDE, system: "node whole", messages: [user(QUESTION)] });
    assert.equal(got.content[0].text, ANSWER);
    assert.equal(got.usage.cache_read_input_tokens, 9000);
    await compare(1, true);
  },

  async anthropicStreamed() {
    const blocks = [{ type: "text", text: "ä\u2028" }, { type: "text", text: QUESTION }];
    const stream = claude.messages.stream({ ...CLAUDE, system: "node streamed", messages: [user(blocks)] });
    assert.equal(await stream.finalText(), ANSWER);
    await compare(1, true);
  },

  async anthropicTool() {
    const tools = [{ name: "look_up", description: "looks a word up", input_schema: LOOK_UP }];
    const messages = [user(`use the tool: ${QUESTION}`)];
    const called = await claude.messages.stream({ ...CLAUDE, system: "node tool", tools, messages }).finalMessage();
    const [call] = called.content;
    assert.deepEqual([call.name, call.input], ["look_up", WORD]);
    const result = { type: "tool_result", tool_use_id: call.id, content: "four-fifteen" };
    messages.push({ role: "assistant", content: called.content }, user([result]));
    const got = await claude.messages.create({ ...CLAUDE, system: "node tool", tools, messages });
    assert.equal(got.content[0].text, RESULT);
    const [first, second] = await compare(2, true);
    assert.deepEqual(reminders(first), reminders(second), "the same bytes again");
  },

  async anthropicMemoryTool() {
    const asked = { ...CLAUDE, system: "node memory tool", betas: ["context-management-2025-06-27"] };
    asked.tools = [{ type: "memory_20250818", name: "memory" }];
    const messages = [user(`look into your notes: ${QUESTION}`)];
    const got = await claude.beta.messages.stream({ ...asked, messages }).finalMessage();
    if (memory === "off") {
      assert.deepEqual(got.content.map((block) => block.type), ["text", "tool_use"]);
      await compare(1, false);
      return;
    }
    assert.deepEqual(got.content.map((block) => block.text), ["Let me look.", "I looked: 漢字 16:15"]);
    messages.push({ role: "assistant", content: got.content }, user("thanks"));
    assert.equal((await claude.beta.messages.create({ ...asked, messages })).content[0].text, ANSWER);
    const [before, behind] = await seen();
    assert.deepEqual([before.length, behind.length], [2, 3]);
    const bodies = behind.map((side) => JSON.parse(Buffer.from(side.body, "hex").toString()));
    assert.ok(bodies[1].messages[2].content[0].content.includes(FACT));
    assert.deepEqual(bodies[2].messages.slice(0, 3), bodies[1].messages, "the model goes on from what it had");
  },

  async anthropicCounted() {
    const got = await claude.messages.countTokens({ model: "claude-opus-5-5", messages: [user(QUESTION)] });
    assert.ok(got.input_tokens > 0);
    await compare(1, false);
  },

  async anthropicRefused() {
    const asked = { ...CLAUDE, system: "node refused", messages: [user(`refuse this: ${QUESTION}`)] };
    await assert.rejects(claude.messages.create(asked), (error) => error.status === 400 && error.error.error.message === REFUSED);
    await compare(1, true);
  },

  async anthropicTriedAgain() {
    const asked = { ...CLAUDE, system: "node busy", messages: [user(`busy node anthropic: ${QUESTION}`)] };
    const got = await claude.messages.create(asked, { maxRetries: 2 });
    assert.equal(got.content[0].text, ANSWER);
    const [first, second] = await compare(2, true);
    assert.equal(first, second, "a prompt that is tried again is the same prompt");
  },

  async openaiChatWhole() {
    const got = await gpt.chat.completions.create({ model: "m", messages: [system("node chat whole"), user(QUESTION)] });
    assert.equal(got.choices[0].message.content, ANSWER);
    await compare(1, true);
  },

  async openaiChatStreamed() {
    const messages = [system("node chat streamed"), user([{ type: "text", text: QUESTION }])];
    const stream = await gpt.chat.completions.create({ model: "m", messages, stream: true, stream_options: { include_usage: true } });
    let [text, usage] = ["", null];
    for await (const chunk of stream) {
      text += chunk.choices[0]?.delta.content ?? "";
      usage = chunk.usage ?? usage;
    }
    assert.equal(text, ANSWER);
    assert.equal(usage.prompt_tokens_details.cached_tokens, 9000);
    await compare(1, true);
  },

  async openaiChatTool() {
    const tools = [{ type: "function", function: { name: "look_up", parameters: LOOK_UP } }];
    const messages = [system("node chat tool"), user(`use the tool: ${QUESTION}`)];
    const called = (await gpt.chat.completions.create({ model: "m", messages, tools })).choices[0].message;
    const [call] = called.tool_calls;
    assert.deepEqual(JSON.parse(call.function.arguments), WORD);
    messages.push(called, { role: "tool", tool_call_id: call.id, content: "four-fifteen" });
    const got = await gpt.chat.completions.create({ model: "m", messages, tools });
    assert.equal(got.choices[0].message.content, RESULT);
    const [first, second] = await compare(2, true);
    assert.deepEqual(reminders(first), reminders(second), "the same bytes again");
  },

  async openaiChatInAForm() {
    const messages = [system("node form: JSON"), user(QUESTION)];
    await gpt.chat.completions.create({ model: "m", messages, response_format: { type: "json_object" } });
    await compare(1, false);
  },

  async openaiResponsesWhole() {
    const got = await gpt.responses.create({ model: "m", instructions: "node responses whole", input: QUESTION });
    assert.equal(got.output_text, ANSWER);
    await compare(1, true);
  },

  async openaiResponsesStreamed() {
    const input = [user([{ type: "input_text", text: QUESTION }])];
    const stream = await gpt.responses.create({ model: "m", instructions: "node responses streamed", input, stream: true });
    let [text, last] = ["", null];
    for await (const event of stream) {
      if (event.type === "response.output_text.delta") text += event.delta;
      last = event;
    }
    assert.equal(text, ANSWER);
    assert.equal(last.type, "response.completed");
    await compare(1, true);
  },

  async openaiResponsesTool() {
    const tools = [{ type: "function", name: "look_up", parameters: LOOK_UP, strict: false }];
    const asked = { model: "m", instructions: "node responses tool", tools };
    const input = [user(`use the tool: ${QUESTION}`)];
    const called = await gpt.responses.create({ ...asked, input });
    const [call] = called.output;
    assert.deepEqual(JSON.parse(call.arguments), WORD);
    input.push(...called.output, { type: "function_call_output", call_id: call.call_id, output: "four-fifteen" });
    const got = await gpt.responses.create({ ...asked, input });
    assert.equal(got.output_text, RESULT);
    const [first, second] = await compare(2, true);
    assert.deepEqual(reminders(first), reminders(second), "the same bytes again");
  },

  async openaiRefused() {
    const asked = { model: "m", instructions: "node responses refused", input: `refuse this: ${QUESTION}` };
    await assert.rejects(gpt.responses.create(asked), (error) => error.status === 400 && error.error.message === REFUSED);
    await compare(1, true);
  },

  async openaiTriedAgain() {
    const messages = [system("node chat busy"), user(`busy node openai: ${QUESTION}`)];
    const got = await gpt.chat.completions.create({ model: "m", messages }, { maxRetries: 2 });
    assert.equal(got.choices[0].message.content, ANSWER);
    const [first, second] = await compare(2, true);
    assert.equal(first, second, "a prompt that is tried again is the same prompt");
  },

  async openaiModels() {
    assert.deepEqual((await gpt.models.list()).data, []);
    await compare(1, false);
  },
};

let nFailed = 0;
for (const [name, check] of Object.entries(checks)) {
  try {
    await check();
  } catch (error) {
    nFailed += 1;
    console.error(`BAD: node, memory ${memory}, ${name}\n`, error);
    // What a failed check left does not belong to the next.
    await seen();
  }
}
console.log(`${Object.keys(checks).length - nFailed} ${nFailed}`);
