"""A private world for one run of memdir: home, state, vault, project, clock.

The clock moves one second with every command and starts again with every copy of a sandbox, so the same commands
leave the same bytes and a sweep can compare whole files.
"""

import json
import os
import re
import signal
import subprocess
from dataclasses import dataclass
from pathlib import Path

# No command may take longer than this, whatever was done to it; waiting for a lock ends after 5 seconds.
DEADLINE_S = 30

INDEX_LINE = re.compile(r"^- \[.+\]\((?P<file>[^)]+\.md)\) — .+$")
BEGIN, END = "<!-- memdir:begin -->", "<!-- memdir:end -->"


@dataclass
class Result:
    code: int
    out: str
    err: str

    @property
    def acked(self):
        return self.code == 0

    def json(self):
        try:
            return json.loads(self.out)
        except ValueError:
            return None

    def __str__(self):
        return f"code {self.code}, stderr {self.err.strip()[-300:]!r}"


class Sandbox:
    """Runs the binary below `root` and reads what it left there."""

    def __init__(self, binary, root):
        self.binary, self.root = binary, Path(root)
        self.vault, self.state = self.root / "vault", self.root / "state"
        self.seconds = 0

    def create(self):
        for name in ("home", "project", "vault"):
            (self.root / name).mkdir(mode=0o700)

    def memdir(self, *args, stdin="", wrapper=(), ignore_size_signal=False):
        self.seconds += 1
        env = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.root / "home"),
            "MEMDIR_HOME": str(self.state),
            "MEMDIR_VAULT": str(self.vault),
            "MEMDIR_NOW": f"2026-04-02T10:{self.seconds // 60:02}:{self.seconds % 60:02}Z",
        }
        try:
            run = subprocess.run(
                [*wrapper, self.binary, *args],
                input=stdin.encode(),
                capture_output=True,
                env=env,
                cwd=self.root / "project",
                timeout=DEADLINE_S,
                # Python itself ignores SIGXFSZ and resets it in children; ignored, a write above the limit is an error.
                preexec_fn=ignore_sigxfsz if ignore_size_signal else None,
                restore_signals=True,
            )
        except subprocess.TimeoutExpired:
            return Result(124, "", f"still running after {DEADLINE_S} s")
        code = run.returncode if run.returncode >= 0 else 128 - run.returncode
        return Result(code, run.stdout.decode(errors="replace"), run.stderr.decode(errors="replace"))

    def must(self, *args, **kwargs):
        result = self.memdir(*args, **kwargs)
        if not result.acked:
            raise RuntimeError(f"memdir {' '.join(args)}: {result}")
        return result

    def save(self, name, body, **kwargs):
        description = f"notes about {name.replace('-', ' ')}"
        return self.memdir("save", name, "--type", "reference", "--description", description, stdin=body, **kwargs)

    def memories(self):
        """File name to bytes, of every memory in the vault."""
        return {path.name: path.read_bytes() for path in self.vault.glob("*.md") if path.name != "MEMORY.md"}

    def temp_files(self):
        return sorted(str(path.relative_to(self.root)) for path in self.root.rglob(".memdir-tmp-*"))

    def found(self, word):
        """The names a search for `word` finds; None if the search itself fails."""
        result = self.memdir("search", word, "--json")
        answer = result.json()
        if result.code not in (0, 1) or answer is None:
            return None
        return [hit["name"] for hit in answer["hits"]]

    def index_page(self):
        path = self.vault / "MEMORY.md"
        return path.read_bytes().decode(errors="replace") if path.exists() else None

    def files_containing(self, text):
        return [str(p.relative_to(self.root)) for p in self.root.rglob("*") if p.is_file() and text in p.read_bytes()]


def ignore_sigxfsz():
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)


def page_problems(sandbox, own_lines=()):
    """What is wrong with MEMORY.md: it must be whole, list each memory once and point to nothing else."""
    page = sandbox.index_page()
    if page is None:
        return [] if not sandbox.memories() else ["MEMORY.md is missing"]
    problems = torn_page_problems(sandbox, own_lines)
    listed = [match["file"] for match in map(INDEX_LINE.match, page.splitlines()) if match]
    memories = sandbox.memories()
    problems += [f"MEMORY.md points to {name}, which does not exist" for name in listed if name not in memories]
    problems += [f"MEMORY.md lists {name} {listed.count(name)} times" for name in memories if listed.count(name) != 1]
    return problems


def torn_page_problems(sandbox, own_lines=()):
    """What no crash may do to MEMORY.md, not even until the next command."""
    page = sandbox.index_page()
    if page is None:
        return ["MEMORY.md with lines of its owner is gone"] if own_lines else []
    problems = []
    # A page from before memdir has no block yet; half a block is never right.
    if page.count(BEGIN) != page.count(END) or page.count(BEGIN) > 1 or not page.endswith("\n"):
        problems.append(f"MEMORY.md is torn ({len(page)} characters)")
    problems += [f"MEMORY.md lost its owner's line {line!r}" for line in own_lines if line not in page.splitlines()]
    return problems


# What a sync writes without waiting for the disk: torn, it is read as nothing and made anew.
DERIVED = ("seen.json", "waiting.json")


def record_problems(sandbox, later=lambda path: False):
    """State files that cannot be read back: each JSON document and each line of a ledger must parse.

    The end of a ledger that nobody wrote to since the power was cut may be torn: its next line takes the place. `later` says
    of a path that this is still to come.
    """
    problems = []
    for path in sorted(sandbox.state.rglob("*.json*")):
        if path.parent.name == "sync" and path.name in DERIVED:
            continue
        text = path.read_bytes().decode(errors="replace")
        documents = text.splitlines() if path.suffix == ".jsonl" else [text]
        for number, document in enumerate(documents, 1):
            try:
                json.loads(document)
            except ValueError:
                name = str(path.relative_to(sandbox.root))
                if path.suffix == ".jsonl" and number == len(documents) and later(name):
                    continue
                problems.append(f"{name} line {number} is not JSON: {document[:80]!r}")
    return problems
