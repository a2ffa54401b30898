// Lists, calls and reads through the official TypeScript SDKs, the one of handshakes and the one of 2026-07-28:
// node client.mjs MEMDIR MODULES. Prints a line for each.
import assert from "node:assert";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [memdir, modules] = process.argv.slice(2);
const require = createRequire(`${modules}/node_modules/x.js`);
const load = (name) => import(pathToFileURL(require.resolve(name)).href);
const env = Object.fromEntries(["PATH", "HOME", "MEMDIR_HOME", "MEMDIR_VAULT"].map((name) => [name, process.env[name]]));

async function use(label, client, transport) {
  await client.connect(transport);
  const { tools } = await client.listTools();
  assert.equal(tools.length, 7);
  const name = `reference-${label}`;
  const note = `---\nname: ${name}\ndescription: written by ${label}\ntype: reference\n---\n\nHello from ${label}.\n`;
  const made = await client.callTool({
    name: "memory",
    arguments: { command: "create", path: `/memories/${name}.md`, file_text: note },
  });
  assert.equal(made.content[0].text, `File created successfully at: /memories/${name}.md`);
  const found = await client.callTool({ name: "search_memory", arguments: { query: `hello from ${label}` } });
  assert.ok(found.content[0].text.includes(`${name}.md`), JSON.stringify(found));
  const { resources } = await client.listResources();
  assert.ok(resources.some((one) => one.uri === `memdir://memory/${name}`));
  const read = await client.readResource({ uri: `memdir://memory/${name}` });
  assert.ok(read.contents[0].text.includes(`Hello from ${label}.`));
  const { prompts } = await client.listPrompts();
  assert.equal(prompts.length, 6);
  await client.close();
  console.log(`typescript (${label}): ${tools.length} tools, ${resources.length} resources, ${prompts.length} prompts: all as expected`);
}

const about = { name: "typescript-client", version: "1.0.0" };
const server = { command: memdir, args: ["mcp"], env };

const { Client } = await load("@modelcontextprotocol/sdk/client/index.js");
const { StdioClientTransport } = await load("@modelcontextprotocol/sdk/client/stdio.js");
await use("sdk", new Client(about), new StdioClientTransport(server));

const next = await load("@modelcontextprotocol/client");
const stdio = next.StdioClientTransport ? next : await load("@modelcontextprotocol/client/stdio");
await use("client", new next.Client(about), new stdio.StdioClientTransport(server));
