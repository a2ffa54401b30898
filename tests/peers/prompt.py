#!/usr/bin/env python3
"""What a prompt costs with memdir and with peers, each installed beside it, over the same 10,000 notes.

    tests/peers/prompt.py target/release/memdir [ROUNDS] [NOTES]

Peers are installed by npm below target/peers, in the versions named here. Everything is timed as an agent sees it, from
spawn to exit, by turns in one loop with a process that does nothing; the figure is the ratio of the medians. Nothing
needs a network once the peers are there.
"""

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PEERS = {
    "claude-flow": "3.43.0",
    "@agentmemory/agentmemory": "0.9.29",
    "@modelcontextprotocol/server-memory": "2026.8.31",
}
ROOT = Path(__file__).resolve().parents[2]
SYLLABLES = "ba ko ti ru me na sol dar fen gil hup jor kes lim mun pav qua ros tev wyn".split()
PLACES = "ledger harbour lantern orchard quarry saddle thicket warden beacon cellar".split()


def service(n):
    """A name that no other note has."""
    return "".join(SYLLABLES[n * 7919 // 20**k % 20] for k in range(4))


def note(n):
    """One note: its name, what it is about, and what it says."""
    name, place = service(n), PLACES[n % 10]
    about = f"where {name} keeps its {place}"
    return f"project-{name}-{n}", about, f"The service {name} keeps its {place} in shard {n % 97}, behind the second gate."


def install():
    """Brings the peers; says which of them could not be had."""
    at = ROOT / "target" / "peers"
    at.mkdir(parents=True, exist_ok=True)
    missing = []
    for name, version in PEERS.items():
        home = at / name.replace("/", "-")
        if not (home / "package").is_dir():
            home.mkdir(exist_ok=True)
            packed = subprocess.run(
                ["npm", "pack", "-s", f"{name}@{version}", "--pack-destination", home], capture_output=True, text=True
            )
            if packed.returncode != 0:
                missing.append(name)
                continue
            subprocess.run(["tar", "xzf", home / packed.stdout.split()[-1], "-C", home], check=True)
    server = at / "@modelcontextprotocol-server-memory" / "package"
    if server.is_dir() and not (server / "node_modules").is_dir():
        subprocess.run(["npm", "install", "-s", "--omit=dev", "--ignore-scripts"], cwd=server, check=True)
    return at, missing


def timed(command, said, **around):
    begun = time.perf_counter()
    ran = subprocess.run(command, input=said.encode(), capture_output=True, **around)
    return time.perf_counter() - begun, ran.stdout.decode(errors="replace")


def memdir(program, home, notes):
    """memdir's own prompt hook over a vault with the notes."""
    vault, project = home / "vault", home / "project"
    for path in (vault, project):
        path.mkdir(mode=0o700)
    for name, about, text in notes:
        (vault / f"{name}.md").write_text(f"---\nname: {name}\ndescription: {about}\ntype: project\n---\n\n{text}\n")
    env = {"PATH": os.environ["PATH"], "HOME": str(home), "MEMDIR_HOME": str(home / "state"), "MEMDIR_VAULT": str(vault)}
    around = {"env": env, "cwd": project}
    subprocess.run([program, "recall", "the harbour"], capture_output=True, **around)
    return lambda said: timed([program, "hook", "codex", "UserPromptSubmit"], said, **around)


def flow(at, home, notes):
    """Ruflo (claude-flow): its prompt hook ranks what its store of memories has."""
    project = home / "flow"
    helpers = project / ".claude" / "helpers"
    shutil.copytree(at / "claude-flow" / "package" / ".claude" / "helpers", helpers)
    data = project / ".claude-flow" / "data"
    data.mkdir(parents=True)
    entries = [{"id": name, "content": text, "summary": about, "type": "project"} for name, about, text in notes]
    (data / "auto-memory-store.json").write_text(json.dumps(entries))
    env = {"PATH": os.environ["PATH"], "HOME": str(home), "CLAUDE_PROJECT_DIR": str(project), "CI": "1"}
    around = {"env": env, "cwd": project}
    hook = ["node", str(helpers / "hook-handler.cjs")]
    took, _ = timed([*hook, "session-restore"], "{}", **around)
    print(f"  (Ruflo built its ranking in {took:.1f} s)", file=sys.stderr)
    return lambda said: timed([*hook, "route"], said, **around)


def agentmemory(at, home):
    """agentmemory: its prompt hook hands the prompt to its server, which needs an engine that no registry has."""
    hook = at / "@agentmemory-agentmemory" / "package" / "dist" / "hooks" / "prompt-submit.mjs"
    env = {"PATH": os.environ["PATH"], "HOME": str(home)}
    return lambda said: timed(["node", str(hook)], said, env=env, cwd=home)


def server_memory(at, home, notes):
    """The reference server: no hook of its own, so it is started, asked once and stopped."""
    server = at / "@modelcontextprotocol-server-memory" / "package" / "dist" / "index.js"
    store = home / "graph.json"
    rows = [{"type": "entity", "name": name, "entityType": "note", "observations": [about, text]} for name, about, text in notes]
    store.write_text("\n".join(json.dumps(row) for row in rows))
    env = {"PATH": os.environ["PATH"], "HOME": str(home), "MEMORY_FILE_PATH": str(store)}
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "peers", "version": "1"}}
    lines = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "search_nodes", "arguments": {"query": service(70)}}},
    ]

    def ask(_said):
        begun = time.perf_counter()
        child = subprocess.Popen(["node", str(server)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=env)
        answer = b""
        for line in lines:
            child.stdin.write(json.dumps(line).encode() + b"\n")
            child.stdin.flush()
            if "id" in line:
                answer = child.stdout.readline()
        child.stdin.close()
        child.kill()
        child.wait()
        return time.perf_counter() - begun, json.loads(answer)["result"]["content"][0]["text"]

    return ask


def main():
    program = str(Path(sys.argv[1]).resolve())
    n_rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 21
    n_notes = int(sys.argv[3]) if len(sys.argv) > 3 else 10_000
    at, missing = install()
    home = Path(tempfile.mkdtemp(prefix="peers-"))
    notes = [note(n) for n in range(n_notes)]
    bare = {"env": {"PATH": os.environ["PATH"]}}
    ways = {
        "true": lambda said: timed(["true"], said, **bare),
        "node -e 0": lambda said: timed(["node", "-e", "0"], said, **bare),
        "memdir, prompt hook": memdir(program, home, notes),
        "Ruflo, prompt hook": flow(at, home, notes),
        "agentmemory, prompt hook": agentmemory(at, home),
        "server-memory, asked once": server_memory(at, home, notes),
    }
    for name in missing:
        print(f"  ({name} could not be had)", file=sys.stderr)
    times, told = {name: [] for name in ways}, dict.fromkeys(ways, 0)
    for n in range(n_rounds):
        number = n * 7 % n_notes
        prompt = f"where does {service(number)} keep its {PLACES[number % 10]}?"
        said = json.dumps({"session_id": "s", "prompt_id": f"p{n}", "cwd": str(home / "project"), "hook_event_name": "UserPromptSubmit", "prompt": prompt})
        for name, way in ways.items():
            took, text = way(said)
            times[name].append(took)
            told[name] += service(number) in text.replace(prompt, "")
    base = statistics.median(times["true"])
    print(f"{n_notes} notes, medians of {n_rounds} rounds by turns, from spawn to exit")
    for name in ways:
        middle = statistics.median(times[name])
        print(f"  {name:<28} {middle * 1e3:8.1f} ms {middle / base:8.1f} × true   the note among what it said: {told[name]}")
    shutil.rmtree(home, ignore_errors=True)  # a peer may still be writing there


if __name__ == "__main__":
    main()
