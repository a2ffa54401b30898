"""What is interrupted, and what must hold afterwards.

A scenario prepares a vault and names one command. `judge` looks at what an interrupted run left: the files first,
as an editor or another agent would see them, then through the next commands.
"""

from sandbox import page_problems, record_problems, torn_page_problems

OWN_LINES = ("My own words above the list stay.", "- a line of mine below it")
LINKING = ("reference-harbour", "reference-orchard", "reference-quarry")


class Scenario:
    """One command over a prepared vault. `old_words` and `new_words` say what a search finds in either state."""

    name = ""
    command = ()
    stdin = ""
    old_words = {}
    new_words = {}
    # Whether memories come, go or change by it.
    changes_vault = True

    def prepare(self, sandbox):
        """Five memories with nothing in common, three of which link to the one most commands are about."""
        bodies = {
            "reference-target": "The lighthouse keeper counts ships: kittiwake.\n",
            "reference-harbour": "Cranes unload at dawn, see [[reference-target]] for who counts. cormorant\n",
            "reference-orchard": "Apples ripen late; ask [[reference-target|the keeper]] first. bullfinch\n",
            "reference-quarry": "- depends_on [[reference-target]] (granite by barge)\n\nBlasting at noon. dotterel\n",
            "reference-windmill": "Sails are furled in storms above ten. sanderling\n",
        }
        for name, body in bodies.items():
            if not (saved := sandbox.save(name, body)).acked:
                raise RuntimeError(f"could not prepare {name}: {saved}")
        page = sandbox.vault / "MEMORY.md"
        page.write_text(f"{OWN_LINES[0]}\n\n{page.read_text()}\n{OWN_LINES[1]}\n")

    def run(self, sandbox, wrapper=()):
        return sandbox.memdir(*self.command, stdin=self.stdin, wrapper=wrapper)

    def sweeps(self, path):
        """Whether a file that was left is no business of the next save, but of this command's next run."""
        return False

    def aftermath(self, sandbox, is_new):
        """What this command in particular owes, when all is well again; returns problems."""
        return []


class SaveNew(Scenario):
    name = "save-new"
    command = ("save", "reference-fresh", "--type", "reference", "--description", "tides at the old mole")
    stdin = "Low water is at six. whimbrel\n" + "Each line adds a little weight.\n" * 60
    old_words = {"whimbrel": None, "kittiwake": "reference-target"}
    new_words = {"whimbrel": "reference-fresh", "kittiwake": "reference-target"}


class SaveFirst(SaveNew):
    """The very first save: state, vault records and MEMORY.md do not exist yet."""

    name = "save-first"
    old_words = {"whimbrel": None}
    new_words = {"whimbrel": "reference-fresh"}

    def prepare(self, sandbox):
        (sandbox.vault / "MEMORY.md").write_text(f"{OWN_LINES[0]}\n{OWN_LINES[1]}\n")


class SaveOver(Scenario):
    name = "save-over"
    command = ("save", "reference-target", "--type", "reference", "--description", "who counts the ships")
    stdin = "The lamp was automated and nobody counts ships. fulmar\n" + "A line more than before.\n" * 60
    old_words = {"kittiwake": "reference-target", "fulmar": None}
    new_words = {"fulmar": "reference-target", "kittiwake": None}


class Rename(Scenario):
    name = "rename"
    command = ("rename", "reference-target", "reference-lighthouse")
    old_words = {"kittiwake": "reference-target"}
    new_words = {"kittiwake": "reference-lighthouse"}

    def aftermath(self, sandbox, is_new):
        target = "reference-lighthouse" if is_new else "reference-target"
        texts = {name: (sandbox.vault / f"{name}.md").read_text() for name in LINKING}
        return [f"{name} does not link to {target}" for name, text in texts.items() if f"[[{target}" not in text]


class Forget(Scenario):
    name = "forget"
    command = ("forget", "reference-target", "--yes")
    old_words = {"kittiwake": "reference-target"}
    new_words = {"kittiwake": None}

    def prepare(self, sandbox):
        super().prepare(sandbox)
        self.bytes = (sandbox.vault / "reference-target.md").read_bytes()

    def aftermath(self, sandbox, is_new):
        trash = [path.read_bytes() for path in sandbox.state.glob("projects/*/trash/reference-target@*.md")]
        return ["the forgotten memory is not in the trash"] if is_new and self.bytes not in trash else []


class Undo(Scenario):
    name = "undo"
    command = ("undo",)
    old_words = {"fulmar": "reference-target", "kittiwake": None}
    new_words = {"kittiwake": "reference-target", "fulmar": None}

    def prepare(self, sandbox):
        super().prepare(sandbox)
        sandbox.must(*SaveOver.command, stdin=SaveOver.stdin)


class Import(Scenario):
    name = "import"
    old_words = {"turnstone7": None, "kittiwake": "reference-target"}
    new_words = {"turnstone7": "reference-import-7", "turnstone99": "reference-import-99"}

    def prepare(self, sandbox):
        super().prepare(sandbox)
        source = sandbox.root / "source"
        source.mkdir()
        for n in range(100):
            body = f"Crate {n} holds {n * 37 % 101} parts from yard {n * 53 % 97}. turnstone{n}\n"
            head = f"---\nname: reference-import-{n}\ndescription: crate number {n}\ntype: reference\n---\n\n"
            (source / f"reference-import-{n}.md").write_text(head + body)
        self.command = ("import", "claude-code", str(source))


class Erase(Scenario):
    """An erased memory is there whole or stays gone, and the second attempt leaves no byte of it."""

    name = "erase"
    command = ("forget", "reference-target", "--erase", "--yes")
    canary = b"phalarope"
    old_words = {"phalarope": "reference-target"}
    new_words = {"phalarope": None}

    def prepare(self, sandbox):
        super().prepare(sandbox)
        sandbox.must("edit", "reference-target", "--append", "\nA rare guest was seen: phalarope.\n")
        sandbox.must("edit", "reference-target", "--append", "\nIt came back in June.\n")

    def aftermath(self, sandbox, is_new):
        if not is_new:
            again = self.run(sandbox)
            if not again.acked:
                return [f"erasing again: {again}"]
        left = sandbox.files_containing(self.canary)
        return [f"erased text is left in {', '.join(left)}"] if left else []


class Accept(Scenario):
    """What waits in the inbox is let in: it is in the vault or still waits, never both and never neither."""

    name = "accept"
    old_words = {"whimbrel": None, "kittiwake": "reference-target"}
    new_words = {"whimbrel": "reference-fresh", "kittiwake": "reference-target"}

    def prepare(self, sandbox):
        super().prepare(sandbox)
        sandbox.must(*SaveNew.command, "--provenance", "tool", stdin=SaveNew.stdin)
        waiting = next(sandbox.state.glob("projects/*/inbox/*.md"))
        self.command = ("review", "accept", waiting.stem)

    def aftermath(self, sandbox, is_new):
        waiting = [path.name for path in sandbox.state.glob("projects/*/inbox/*.md")]
        return [] if len(waiting) == (0 if is_new else 1) else [f"in the inbox: {waiting}"]


class DreamApply(Scenario):
    """A run that waits is carried out: a merge, a supersede and a removal to the archive, all of it or none."""

    name = "dream-apply"
    old_words = {"kittiwake": "reference-target", "whimbrel": "reference-voucher"}
    new_words = {"kittiwake": "reference-target", "whimbrel": None}

    def prepare(self, sandbox):
        super().prepare(sandbox)
        texts = {
            "reference-voucher": ("the voucher of the spring fair", "The voucher gives ten percent. whimbrel", "2026-01-02", "  expires: 2026-01-31\n"),
            "reference-tide": ("low water at the mole", "Low water at the mole is at 6:10. godwit", "2026-01-02", ""),
            "reference-tide-new": ("low water at the mole", "Low water at the mole is at 7:25. godwit", "2026-02-02", ""),
            "reference-keys": ("where the keys of the mill hang", "The keys of the mill hang behind the door of the miller. ruff", "2026-01-02", ""),
            "reference-mill-keys": ("where the keys of the mill hang", "The keys of the mill hang behind the door of the miller. ruff", "2026-02-02", ""),
        }
        for name, (description, body, said, more) in texts.items():
            head = f"name: {name}\ndescription: {description}\ntype: reference\nmetadata:\n  created: {said}T09:00:00Z\n{more}"
            (sandbox.vault / f"{name}.md").write_text(f"---\n{head}---\n\n{body}\n")
        sandbox.must("doctor", "--fix")
        sandbox.must("dream", "--dry-run")
        run = next(sandbox.state.glob("projects/*/dreams/*/plan.json")).parent
        self.leaving = {path.name: path.read_bytes() for path in (run / "before").iterdir() if not (run / "after" / path.name).exists()}
        self.command = ("dream", "apply", run.name, "--yes")

    def aftermath(self, sandbox, is_new):
        archived = [path.read_bytes() for path in sandbox.state.glob("projects/*/archive/*.md")]
        lost = [name for name, text in self.leaving.items() if is_new and text not in archived]
        state = sandbox.memdir("dream", "list", "--json").out
        wanted = "applied" if is_new else "proposed"
        return [f"{name} is not in the archive" for name in lost] + ([] if wanted in state else [f"the run is not {wanted}: {state}"])


class Extract(Scenario):
    """What a conversation teaches waits in the inbox, whole or not at all; looked through again, nothing waits twice."""

    name = "extract"
    changes_vault = False
    old_words = new_words = {"kittiwake": "reference-target"}
    dialogue = (
        "User: please never mock the database in integration tests, use a real one. We got burned by a broken migration.\n\n"
        "Assistant: Understood, I will use a real database.\n\n"
        "User: and remember that the dashboard for latency is https://grafana.example.net/d/latency\n\n"
        "Assistant: Noted.\n"
    )

    def prepare(self, sandbox):
        super().prepare(sandbox)
        session = sandbox.root / "session.txt"
        session.write_text(self.dialogue)
        self.command = ("extract", "--transcript", str(session))

    def aftermath(self, sandbox, is_new):
        again = self.run(sandbox)
        # 1: everything that it teaches waits already.
        if again.code not in (0, 1):
            return [f"looked through again: {again}"]
        waiting = [path.read_text() for path in sorted(sandbox.state.glob("projects/*/inbox/*.md"))]
        torn = [text for text in waiting if not text.startswith("---") or "integration" not in text and "grafana" not in text]
        twice = [word for word in ("integration tests", "grafana") if sum(word in text for text in waiting) != 1]
        return [f"torn in the inbox: {text[:80]!r}" for text in torn] + [f"waits not once: {word}" for word in twice]


class Sync(Scenario):
    """A sync through a directory. It comes to the same end after every accident, without a second version of anything."""

    # Whether nothing is left to be decided in the end.
    is_calm = True
    words = {"reference-target": "kittiwake", "reference-harbour": "cormorant", "reference-windmill": "sanderling"}

    def prepare(self, sandbox):
        super().prepare(sandbox)
        share = sandbox.root / "share"
        share.mkdir(mode=0o700)
        sandbox.must("team", "join", str(share))
        sandbox.must("trust", "--all")
        for name in self.words:
            path = sandbox.vault / f"{name}.md"
            path.write_text(path.read_text().replace("metadata:\n", "metadata:\n  scope: team\n", 1) + "\nOne.\nTwo.\nThree.\n")
        sandbox.must("sync")
        self.folder = next(path for path in share.iterdir() if path.is_dir())
        self.wanted = None
        self.differ(sandbox)
        sandbox.must("doctor", "--fix")
        self.before = self.shared()
        self.command = ("sync",)

    def differ(self, sandbox):
        """What is changed on either side since both were the same."""

    def shared(self):
        return {path.name: path.read_bytes() for path in self.folder.glob("*.md") if path.name != "MEMORY.md"}

    def run(self, sandbox, wrapper=()):
        result = super().run(sandbox, wrapper)
        self.acked = result.acked
        if self.wanted is None:
            self.wanted = (sandbox.memories(), self.shared())
        return result

    def sweeps(self, path):
        return path.startswith("share/") or "/sync/" in path or ".team/" in path

    def aftermath(self, sandbox, is_new):
        memories, shared = self.wanted
        there, was_acked = self.shared(), self.acked
        torn = [name for name in there if there[name] not in (self.before.get(name), shared.get(name))]
        problems = [f"{name} is torn in the shared folder" for name in torn]
        if was_acked and there != shared:
            problems.append(f"acknowledged, but not shared: {differences(self.before, shared, there)}")
        again = super().run(sandbox)
        here, there = sandbox.memories(), self.shared()
        here.pop("reference-afterwards.md", None)
        there.pop("reference-afterwards.md", None)
        if not again.acked or here != memories or there != shared:
            problems.append(f"synced again: {again}, here {sorted(here)}, there {sorted(there)}")
        status = sandbox.memdir("team", "status")
        if self.is_calm and not status.acked:
            problems.append(f"not in sync: {status} {status.out}")
        # What the power cut tore off the folder's own ledger is gone with the next line.
        sandbox.must("save", "reference-later", "--type", "reference", "--scope", "team", "--description", "tides", stdin="curlew\n")
        super().run(sandbox)
        problems += record_problems(sandbox)
        return problems + [f"{path} is left over" for path in sandbox.temp_files()]


def rewritten(path, old, new):
    path.write_text(path.read_text().replace(old, new))


class SyncPull(Sync):
    name = "sync-pull"
    old_words = {"kittiwake": "reference-target", "whimbrel": None, "sanderling": "reference-windmill"}
    new_words = {"whimbrel": "reference-fresh", "fulmar": "reference-target", "kittiwake": None, "sanderling": None}

    def differ(self, sandbox):
        rewritten(self.folder / "reference-target.md", "kittiwake", "fulmar")
        (self.folder / "reference-windmill.md").unlink()
        text = (self.folder / "reference-harbour.md").read_text().replace("reference-harbour", "reference-fresh")
        (self.folder / "reference-fresh.md").write_text(text.replace("cormorant", "whimbrel"))


class SyncPush(Sync):
    name = "sync-push"
    changes_vault = False
    old_words = new_words = {"fulmar": "reference-target", "kittiwake": None, "sanderling": None}

    def differ(self, sandbox):
        rewritten(sandbox.vault / "reference-target.md", "kittiwake", "fulmar")
        (sandbox.vault / "reference-windmill.md").unlink()
        sandbox.must("save", "reference-fresh", "--type", "reference", "--scope", "team", "--description", "tides", stdin="whimbrel\n")


class SyncMerge(Sync):
    """Of two memories that changed on both sides one is merged and one is kept twice."""

    name = "sync-merge"
    is_calm = False
    old_words = {"fulmar": "reference-target", "whimbrel": None, "godwit": None}
    new_words = {"fulmar": "reference-target", "whimbrel": "reference-target", "godwit": "reference-harbour"}

    def differ(self, sandbox):
        rewritten(sandbox.vault / "reference-target.md", "One.", "One fulmar.")
        rewritten(self.folder / "reference-target.md", "Three.", "Three whimbrel.")
        rewritten(sandbox.vault / "reference-harbour.md", "Two.", "Two ruff.")
        rewritten(self.folder / "reference-harbour.md", "Two.", "Two godwit.")


ALL = [SaveNew, SaveFirst, SaveOver, Rename, Forget, Undo, Import, Erase, Accept, DreamApply, Extract, SyncPull, SyncPush, SyncMerge]


def judge(sandbox, scenario, old, new, acked):
    """Returns everything that is wrong after `scenario` was interrupted (or not: `acked`)."""
    problems = raw_problems(sandbox, old, new)
    if problems:
        return problems

    # The next command may only read; it repairs what is derived and finishes or undoes what was begun.
    sandbox.memdir("search", next(iter(scenario.new_words)), "--json")
    state = sandbox.memories()
    if state not in (old, new):
        return [f"neither before nor after, but mixed: {differences(old, new, state)}"]
    is_new = state == new
    if acked and not is_new:
        return ["acknowledged, but not there"]
    problems += settled_problems(sandbox, scenario, is_new)

    # The next writing command sweeps what was left lying about.
    afterwards = sandbox.save("reference-afterwards", "Written after the accident. spoonbill\n")
    if not afterwards.acked:
        return problems + [f"the next save: {afterwards}"]
    state = sandbox.memories()
    state.pop("reference-afterwards.md", None)
    if state != (new if is_new else old):
        problems.append(f"the next save changed other memories: {differences(old, new, state)}")
    problems += [f"{path} is left over" for path in sandbox.temp_files() if not scenario.sweeps(path)]
    problems += settled_problems(sandbox, scenario, is_new)
    problems += record_problems(sandbox, scenario.sweeps)
    return problems + scenario.aftermath(sandbox, is_new)


def raw_problems(sandbox, old, new):
    """What a look at the files alone finds, before any command runs."""
    problems = torn_page_problems(sandbox, OWN_LINES)
    there = sandbox.memories()
    for name in sorted(old.keys() | new.keys() | there.keys()):
        allowed = {old.get(name), new.get(name)}
        if there.get(name) not in allowed:
            problems.append(f"{name} is {describe(there.get(name))}, neither the old nor the new version")
    return problems


def settled_problems(sandbox, scenario, is_new):
    """What must hold once a command has run: index page, search and doctor agree with the files."""
    problems = page_problems(sandbox, OWN_LINES)
    for word, name in (scenario.new_words if is_new else scenario.old_words).items():
        found = sandbox.found(word)
        if found is None or (name not in found if name else found):
            problems.append(f"search {word} finds {found}, not {name}")
    doctor = sandbox.memdir("doctor", "--json")
    if not doctor.acked:
        problems.append(f"doctor: {doctor} {doctor.out.strip()[:300]}")
    return problems


def differences(old, new, state):
    def kind(name):
        if state.get(name) == new.get(name):
            return "new"
        return "old" if state.get(name) == old.get(name) else "other"

    changed = sorted(name for name in old.keys() | new.keys() | state.keys() if old.get(name) != new.get(name))
    return ", ".join(f"{name} {kind(name)}" for name in changed[:6]) + (" …" if len(changed) > 6 else "")


def describe(content):
    return "missing" if content is None else f"{len(content)} bytes"
