// A real browser against `memdir mcp --http`: pages of other origins try every way they have to read or change memory.
// node browser.mjs MEMDIR TOOLS, where TOOLS holds @sparticuz/chromium and puppeteer-core.
//
// Each way is first tried on a server that lets everybody in, which must see it arrive: an attack that the browser itself
// would not send proves nothing. Then it is tried on memdir, from pages of another port, another name, an opaque origin, and
// from a page whose name came to mean this machine after it was loaded; without a token and with the right one. Nothing may
// be read, nothing may be written, and every answer is a refusal. In the end a client that is no page is served.
import { createHash } from "node:crypto";
import { spawn } from "node:child_process";
import { mkdtempSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import http from "node:http";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [memdir, tools] = [process.argv[2], process.argv[3]];
const packages = createRequire(join(tools, "package.json"));
const load = async (name) => (await import(pathToFileURL(packages.resolve(name)))).default;

const CANARY = "canary-5d1c0b7e";
const REFUSALS = [400, 401, 403, 404, 405, 415, 426];
const WAYS = [
  "fetch-json", "fetch-text", "fetch-token", "no-cors", "get", "health", "delete", "xhr", "beacon", "events", "websocket",
  "form-text", "form-plain", "image", "script", "frame",
];
const work = mkdtempSync(join(tmpdir(), "memdir-browser-"));
const fail = (text) => { throw new Error(text); };
const expect = (truth, text) => { if (!truth) fail(text); };

// What a page does. It runs in the browser and returns what the page got to see.
async function attack(base, token, ways) {
  const meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": { name: "page", version: "1" },
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  const call = (args) => JSON.stringify({
    jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "memory", arguments: args, _meta: meta },
  });
  const write = call({ command: "create", path: "/memories/evil.md", file_text: "owned" });
  const read = call({ command: "view", path: "/memories" });
  const url = (way, path = "/mcp") => `${base}${path}?way=${way}`;
  const bearer = token ? { Authorization: `Bearer ${token}` } : {};
  const json = {
    "Content-Type": "application/json", Accept: "application/json, text/event-stream",
    "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "memory",
  };
  const seen = async (promise) => {
    const answer = await promise;
    return `${answer.type} ${answer.status} ${await answer.text()}`;
  };
  const event = (make, good) => new Promise((done) => {
    const thing = make();
    const end = (what) => () => { thing.close?.(); done(what); };
    thing[good] = end(good);
    thing.onerror = end("error");
    setTimeout(end("silence"), 3000);
  });
  const form = (way, type) => new Promise((done) => {
    const frame = document.createElement("iframe");
    frame.name = way;
    document.body.append(frame);
    const form = document.createElement("form");
    Object.assign(form, { method: "POST", action: url(way), enctype: type, target: way });
    const field = document.createElement("input");
    // With this type the body is `name=value`, which is JSON if the sign is inside of a text.
    [field.name, field.value] = [write.slice(0, -1) + ',"x":"', '"}'];
    form.append(field);
    document.body.append(form);
    let n_loads = 0;
    const look = () => {
      try { return `document ${frame.contentDocument.body.innerText}`; } catch { return "no document"; }
    };
    frame.onload = () => { if (++n_loads > 0 && look() !== "document ") done(look()); };
    form.submit();
    setTimeout(() => done(look()), 1500);
  });
  const element = (way, name, key) => new Promise((done) => {
    const node = document.createElement(name);
    node.onload = () => done("loaded");
    node.onerror = () => done("error");
    node[key] = url(way);
    document.body.append(node);
    setTimeout(() => done("silence"), 3000);
  });
  const all = {
    "fetch-json": () => seen(fetch(url("fetch-json"), { method: "POST", headers: { ...json, ...bearer }, body: write })),
    "fetch-text": () => seen(fetch(url("fetch-text"), { method: "POST", headers: { "Content-Type": "text/plain" }, body: write })),
    "fetch-token": () => seen(fetch(url("fetch-token"), { method: "POST", headers: { ...json, ...bearer }, body: read, credentials: "include" })),
    "no-cors": () => seen(fetch(url("no-cors"), { method: "POST", mode: "no-cors", body: write })),
    get: () => seen(fetch(url("get"), { headers: bearer })),
    health: () => seen(fetch(url("health", "/health"))),
    delete: () => seen(fetch(url("delete"), { method: "DELETE", headers: bearer })),
    xhr: () => new Promise((done) => {
      const request = new XMLHttpRequest();
      request.open("POST", url("xhr"));
      for (const [name, value] of Object.entries({ ...json, ...bearer })) request.setRequestHeader(name, value);
      request.onload = () => done(`${request.status} ${request.responseText}`);
      request.onerror = () => done("error");
      request.send(write);
    }),
    beacon: async () => `sent ${navigator.sendBeacon(url("beacon"), new Blob([write], { type: "text/plain" }))}`,
    events: () => event(() => new EventSource(url("events")), "onmessage"),
    websocket: () => event(() => new WebSocket(url("websocket").replace("http", "ws")), "onopen"),
    "form-text": () => form("form-text", "text/plain"),
    "form-plain": () => form("form-plain", "application/x-www-form-urlencoded"),
    image: () => element("image", "img", "src"),
    script: () => element("script", "script", "src"),
    frame: () => element("frame", "iframe", "src"),
  };
  const outcome = {};
  for (const way of ways) {
    try { outcome[way] = await all[way](); } catch (error) { outcome[way] = `error ${error.name}`; }
  }
  return outcome;
}

const servers = [];
const listen = (server, host = "127.0.0.1", port = 0) => new Promise((done) => {
  servers.push(server);
  server.listen(port, host, () => done(server.address().port));
});

// Serves empty pages.
const pages = () => listen(http.createServer((_, response) => {
  response.setHeader("content-type", "text/html");
  response.end("<!doctype html><title>page</title><body></body>");
}));

// Lets everybody in, and remembers who came.
async function decoy() {
  const came = new Set();
  const note = (request) => came.add(`${request.method === "OPTIONS" ? "preflight " : ""}${new URL(request.url, "http://x").searchParams.get("way")}`);
  const server = http.createServer((request, response) => {
    note(request);
    response.writeHead(200, {
      "access-control-allow-origin": request.headers.origin ?? "*", "access-control-allow-credentials": "true",
      "access-control-allow-headers": request.headers["access-control-request-headers"] ?? "*",
      "access-control-allow-methods": "GET, POST, DELETE",
      "content-type": request.url.includes("events") ? "text/event-stream" : "text/plain",
    });
    response.end("data: hello\n\n");
  });
  server.on("upgrade", (request, socket) => {
    note(request);
    const accept = createHash("sha1").update(request.headers["sec-websocket-key"] + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11");
    socket.write(`HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept.digest("base64")}\r\n\r\n`);
    socket.on("error", () => {});
  });
  return { port: await listen(server), came };
}

// Starts memdir with one memory in its vault.
async function house() {
  const [home, vault, project] = ["home", "vault", "project"].map((name) => join(work, name));
  [home, vault, project].forEach((dir) => mkdirSync(dir, { mode: 0o700 }));
  const memory = `---\nname: project-secret\ndescription: ${CANARY} stands here\nmetadata:\n  type: project\n---\n\n${CANARY} is what a page may never see.\n`;
  writeFileSync(join(vault, "project-secret.md"), memory);
  const env = { PATH: process.env.PATH, HOME: home, MEMDIR_HOME: join(work, "state"), MEMDIR_VAULT: vault, NO_COLOR: "1" };
  const child = spawn(memdir, ["mcp", "--http", "127.0.0.1:0"], { cwd: project, env, stdio: ["ignore", "ignore", "pipe"] });
  let said = "";
  await new Promise((done, never) => {
    child.stderr.on("data", (chunk) => { said += chunk; if (said.split("\n").length > 3) done(); });
    child.on("exit", () => never(new Error(`the server left: ${said}`)));
  });
  const [address, tokenFile] = said.split("\n");
  const port = Number(/:(\d+)\/mcp$/.exec(address)[1]);
  const token = readFileSync(tokenFile.split(": ")[1], "utf8").trim();
  return { child, vault, port, token };
}

const listing = (dir) => readdirSync(dir, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  .map((entry) => join(entry.parentPath, entry.name)).sort()
  .map((file) => `${file} ${createHash("sha256").update(readFileSync(file)).digest("hex")}`).join("\n");

// Watches the answers that come from a port, also those that the page does not get to see.
async function watch(page, port) {
  const answers = [];
  const session = await page.createCDPSession();
  await session.send("Network.enable");
  const urls = new Map();
  const ways = (url) => (new URL(url).port === String(port) ? new URL(url).searchParams.get("way") ?? url : null);
  session.on("Network.requestWillBeSent", ({ requestId, request }) => urls.set(requestId, request.url));
  session.on("Network.webSocketCreated", ({ requestId, url }) => urls.set(requestId, url));
  const note = (requestId, status) => {
    const way = urls.has(requestId) ? ways(urls.get(requestId)) : null;
    if (way) answers.push({ way, status });
  };
  session.on("Network.responseReceivedExtraInfo", ({ requestId, statusCode }) => note(requestId, statusCode));
  session.on("Network.webSocketHandshakeResponseReceived", ({ requestId, response }) => note(requestId, response.status));
  return answers;
}

// Opens a page at an address. `rebound` stands for a name that meant another machine when the page was loaded.
async function open(browser, address, rebound) {
  const page = await browser.newPage();
  if (rebound) {
    await page.setRequestInterception(true);
    page.once("request", (request) => request.respond({ contentType: "text/html", body: "<!doctype html><body></body>" }));
  }
  await page.goto(address);
  if (rebound) await page.setRequestInterception(false);
  return page;
}

async function decoyed(browser, pagePort) {
  const { port, came } = await decoy();
  const page = await open(browser, `http://127.0.0.1:${pagePort}/`);
  const outcome = await page.evaluate(attack, `http://127.0.0.1:${port}`, "t", WAYS);
  const absent = WAYS.filter((way) => !came.has(way));
  expect(absent.length === 0, `these ways do not reach a server that lets everybody in: ${absent} ${JSON.stringify(outcome)}`);
  expect(came.has("preflight fetch-json") && outcome["fetch-json"].includes("hello"), "the browser asks first, and reads what it may");
  expect(outcome.websocket === "onopen" && outcome.events === "onmessage", "sockets and events work where they are let in");
  await page.close();
  console.log(`browser: ${WAYS.length} ways reach a server that lets everybody in`);
}

async function attacked(browser, house, name, address, target, rebound) {
  for (const token of ["", house.token]) {
    const before = listing(house.vault);
    const page = await open(browser, address, rebound);
    const answers = await watch(page, house.port);
    const outcome = name === "an opaque origin" ? await inSandbox(page, target, token) : await page.evaluate(attack, target, token, WAYS);
    await new Promise((done) => setTimeout(done, 300));
    const about = `${name}${token ? " with the token" : ""}`;
    const let_in = answers.filter(({ status }) => !REFUSALS.includes(status));
    expect(let_in.length === 0, `${about}: let in ${JSON.stringify(let_in)}`);
    expect(answers.length >= WAYS.length / 2, `${about}: only ${answers.length} requests arrived`);
    for (const [way, seen] of Object.entries(outcome)) {
      expect(!String(seen).includes(CANARY), `${about}: ${way} shows memory: ${seen}`);
      expect(!/^(basic|cors|default) 2\d\d|^2\d\d |^on(open|message)/.test(seen), `${about}: ${way} was answered: ${seen}`);
    }
    expect(listing(house.vault) === before, `${about}: the vault changed`);
    await page.close();
    console.log(`browser: ${about}: ${answers.length} requests arrived, all were refused`);
  }
}

// Runs the attack in a frame without an origin.
async function inSandbox(page, target, token) {
  await page.evaluate(() => {
    const frame = document.createElement("iframe");
    Object.assign(frame, { sandbox: "allow-scripts allow-forms", srcdoc: "<body></body>" });
    document.body.append(frame);
    return new Promise((done) => { frame.onload = done; });
  });
  const frame = page.frames().find((one) => one !== page.mainFrame());
  return frame.evaluate(attack, target, token, WAYS);
}

// A client that is no page: it sends no origin, and has the token.
async function served({ port, token, vault }) {
  const ask = (args) => new Promise((done, never) => {
    const params = { name: "memory", arguments: args, _meta: { "io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientInfo": { name: "client", version: "1" }, "io.modelcontextprotocol/clientCapabilities": {} } };
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json", accept: "application/json, text/event-stream", "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": "memory" };
    const request = http.request({ host: "127.0.0.1", port, path: "/mcp", method: "POST", headers }, (answer) => {
      let text = "";
      answer.on("data", (chunk) => { text += chunk; });
      answer.on("end", () => done({ status: answer.statusCode, text }));
    });
    request.on("error", never);
    request.end(JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params }));
  });
  const view = await ask({ command: "view", path: "/memories/project-secret.md" });
  expect(view.status === 200 && view.text.includes(CANARY), `a client with the token reads: ${view.status} ${view.text}`);
  const text = "---\nname: project-client\ndescription: The client wrote this on its own\nmetadata:\n  type: project\n---\n\nThe release train of the web team leaves every second Tuesday.\n";
  const made = await ask({ command: "create", path: "/memories/project-client.md", file_text: text });
  expect(made.status === 200, `a client with the token writes: ${made.status} ${made.text}`);
  expect(readdirSync(vault).includes("project-client.md"), `nothing was written: ${made.text}`);
  console.log("browser: a client that is no page reads and writes");
}

let browser, home;
try {
  const [chromium, puppeteer] = [await load("@sparticuz/chromium"), await load("puppeteer-core")];
  browser = await puppeteer.launch({
    executablePath: await chromium.executablePath(), headless: "shell", userDataDir: join(work, "profile"),
    // Its own arguments would switch off what is tested here. Names are mapped instead of asked for; loopback is not asked about.
    args: [
      ...(process.getuid?.() === 0 ? ["--no-sandbox"] : []), "--disable-dev-shm-usage", "--disable-gpu",
      "--host-resolver-rules=MAP evil.test 127.0.0.1, MAP localhost.evil.test 127.0.0.1, MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
      "--disable-features=LocalNetworkAccessChecks,PrivateNetworkAccessSendPreflights,BlockInsecurePrivateNetworkRequests",
    ],
  });
  console.log(`browser: ${await browser.version()}`);
  const pagePort = await pages();
  await decoyed(browser, pagePort);
  home = await house();
  const server = `http://127.0.0.1:${home.port}`;
  await attacked(browser, home, "a page of another port", `http://127.0.0.1:${pagePort}/`, server);
  await attacked(browser, home, "a page that asks for localhost", `http://localhost:${pagePort}/`, `http://localhost:${home.port}`);
  await attacked(browser, home, "a page of another name", `http://evil.test:${pagePort}/`, server);
  await attacked(browser, home, "an opaque origin", `http://127.0.0.1:${pagePort}/`, server);
  await attacked(browser, home, "a rebound name", `http://evil.test:${home.port}/`, `http://evil.test:${home.port}`, true);
  await attacked(browser, home, "a rebound name that looks like ours", `http://localhost.evil.test:${home.port}/`, `http://localhost.evil.test:${home.port}`, true);
  await served(home);
} finally {
  await browser?.close();
  home?.child.removeAllListeners("exit");
  home?.child.kill();
  servers.forEach((server) => { server.closeAllConnections(); server.close(); });
  rmSync(work, { recursive: true, force: true });
}
