#!/usr/bin/env python3
"""Cuts the second half of the corpus out of the projects of projects.toml: how developers talk to each other.

    make_projects.py --projects DIR --out DIR

`projects` is what fetch_projects.py filled. Writes `corpus.jsonl` and `counts.json` like make_corpus.py, whose rules for
sections and paragraphs hold here too. Manuals explain; changelogs, upgrade notes, linter rules and answers to frequent
questions say what went wrong and what to do instead, in the short sentences in which people leave each other notes. So
there are three more kinds of pairs: what a rule forbids and why, what an operation is called and what it does, a line of
a changelog and its detail.
"""
import argparse
import json
import os
import random
import re
from collections import Counter
from concurrent.futures import ProcessPoolExecutor

import blocks
import make_corpus
from fetch_projects import projects
from make_corpus import Corpus, is_english, is_prose, n_words

TEXT_LIMITS = {"sentence": 44000, "paragraph": 22000}
PAIR_LIMITS = {"heading": 17000, "first-rest": 13000, "rule": 9000, "operation": 2500, "note": 6000}
FILES, BLOCKS_OF_FILE = 400, 400
# What a changelog says beside the change: numbers of requests, hashes, names of people, the scope of a commit.
ATTRIBUTION = re.compile(
    r"\(?\b(by|thanks( to)?|contributed by|via|closes|fixes|see|pr|issue|bpo)?:?\s*[@#][\w./-]+\)?|\(\s*[0-9a-f]{7,40}\s*\)"
    r"|\b[0-9a-f]{7,40}\b(?=[\s:,)])|\(?https?://\S+|\(\s*[,;]*\s*\)|\[\s*\]", re.I)
SCOPE = re.compile(r"^(\w[\w ,/-]{0,30}(\([^)]*\))?!?: )(?=[a-z])")
NOISE = re.compile(r"updated dependencies|bump version|version bump only|^release v?\d|no changes|all notable changes|semantic versioning", re.I)

# A file that speaks of such a licence may be under it, whatever its package states: it is not read.
OTHER_LICENCE = re.compile(r"creative ?commons|CC[- ]BY|attribution-sharealike|free documentation licen", re.I)
# Headings that name a version or a kind of change ask nothing.
ASKS_NOTHING = re.compile(
    r"\d+\.\d+|^(change ?log|release notes|bug ?fixes|(new )?features|(minor|patch|major) changes|fix(es|ed)|what's (new|changed))\b", re.I)


def cleaned(text):
    return blocks.squeeze(SCOPE.sub("", ATTRIBUTION.sub(" ", text)).replace(" ,", ",").replace(" .", ".")).strip(" -:*")


# ------------------------------------------------------------------ reading
RULE_DOC = re.compile(r"((?:^///.*\n)+)(?:^#\[.*\n)*^pub(?:\([a-z]+\))? struct (\w+)", re.M)
RULE_SAYS = re.compile(r'"((?:[^"\\]|\\.){15,160})"\.to_string\(\)|format!\(\s*"((?:[^"\\]|\\.){15,160})"')


def rules_of(text):
    """Rules of a linter in Rust: `(name, sections of its documentation, what it says to the user)`."""
    for match in RULE_DOC.finditer(text):
        lines = "\n".join(line[4:] for line in match[1].split("\n"))
        said = RULE_SAYS.search(text, match.end(), match.end() + 1500)
        message = (said[1] or said[2]) if said else ""
        name = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", match[2]).lower()
        yield name, blocks.from_markdown(lines), re.sub(r"\{[^}]*\}|`", "", message).strip()


def notes_of(text):
    """Items of a release note (YAML lists of paragraphs, read line by line)."""
    for item in re.split(r"^ *- +(?:[|>][-+]?\s*\n)?", text, flags=re.M)[1:]:
        item = re.split(r"^\w+:\s*$", item, flags=re.M)[0]
        yield [cleaned(blocks.plain_rst(part)) for part in re.split(r"\n\s*\n", item) if part.strip()]


def operations_of(text):
    for methods in json.loads(text).get("paths", {}).values():
        for operation in methods.values():
            if isinstance(operation, dict) and operation.get("summary") and operation.get("description"):
                yield operation["summary"], [t for k, t in blocks.from_markdown(operation["description"]) if k == "prose"]


def read_project(job):
    """-> parts of one project: `(kind, path, content)` with plain values only, since they cross processes."""
    source, folder = job
    found = []
    for path in files_of(folder):
        name, text = os.path.relpath(path, folder), blocks.read(path)
        if OTHER_LICENCE.search(text):
            continue
        if path.endswith(".rs"):
            found += [("rule", name, rule) for rule in rules_of(text)]
        elif path.endswith(".json"):
            found += [("operation", name, operation) for operation in operations_of(text)]
        elif path.endswith(".yaml"):
            found += [("note", name, note) for note in notes_of(text)]
        else:
            reader = blocks.from_rst if path.endswith((".rst", ".txt")) else blocks.from_markdown
            cut = [(kind, cleaned(text)) for kind, text in reader(text)[:BLOCKS_OF_FILE]]
            found.append(("document", name, [(k, t) for k, t in cut if t and not NOISE.search(t)]))
    return source, found


def files_of(folder):
    found = sorted(os.path.join(f, name) for f, _, names in os.walk(folder) for name in names)
    found = [path for path in found if os.path.getsize(path) < 14_000_000]
    random.Random(1).shuffle(found)
    rules = [path for path in found if path.endswith(".rs")]
    return rules + [path for path in found if not path.endswith(".rs")][:FILES]


# ------------------------------------------------------------------ cutting
class Projects(Corpus):
    def cut_rule(self, source, document, rule):
        name, body, message = rule
        parts = {}
        for kind, text in body:
            if kind == "heading":
                parts[text.lower().rstrip("?")] = []
            elif kind == "prose" and parts:
                parts[list(parts)[-1]].append(text)
        what, why = " ".join(parts.get("what it does", [])), parts.get("why is this bad", [])
        for text in [what, message, *why]:
            self.add_short(source, document, text)
        document = f"{document}/{name}"
        for one, two in ((what, " ".join(why)), (name, what), (message, why[0] if why else ""), (message, what)):
            self.add_both("rule", source, document, one, two)

    def cut_note(self, source, document, paragraphs):
        for text in paragraphs:
            if is_prose(text) and n_words(text) >= 4:
                self.cut_paragraph(source, document, text)
        if len(paragraphs) > 1:
            self.add_both("note", source, document, paragraphs[0], paragraphs[1])

    def cut_operation(self, source, document, operation):
        summary, said = operation
        for text in said:
            self.add_short(source, document, text)
        if said:
            self.add_both("operation", source, f"{document}/{summary}", summary, said[0])

    def add_short(self, source, document, text):
        if 4 <= n_words(text) <= 90 and is_prose(text):
            self.add("sentence" if n_words(text) < 25 else "paragraph", source, document, text)

    def add_both(self, kind, source, document, one, two):
        if 2 <= n_words(one) <= 40 and 5 <= n_words(two) <= 120 and is_english(one + two):
            self.add_pair(kind, source, document, one, two)

    def cut_paragraph(self, source, document, text):
        if n_words(text) <= 90:
            super().cut_paragraph(source, document, text)

    def add_pair(self, kind, source, document, question, passage):
        if kind != "heading" or not ASKS_NOTHING.search(question):
            super().add_pair(kind, source, document, question, passage)

    def add_section(self, *_):
        """No long texts: the manuals have enough of them."""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--projects", required=True)
    parser.add_argument("--out", required=True)
    args = parser.parse_args()
    make_corpus.TEXT_LIMITS, make_corpus.PAIR_LIMITS, make_corpus.SHARE = TEXT_LIMITS, PAIR_LIMITS, 0.03
    jobs = [
        (f"{way}:{name}", os.path.join(args.projects, way, name.replace("/", "+")))
        for way, listed in sorted(projects().items()) for name in sorted(listed)
    ]
    corpus = Projects(seed=11)
    with ProcessPoolExecutor(2) as executor:
        for source, parts in executor.map(read_project, jobs):
            for kind, document, content in parts:
                cut = {"rule": corpus.cut_rule, "note": corpus.cut_note, "operation": corpus.cut_operation, "document": corpus.cut_document}
                cut[kind](source, document, content)
    print({kind: len(rows) for kind, rows in {**corpus.texts, **corpus.pairs}.items()}, flush=True)
    make_corpus.write(args.out, corpus)


if __name__ == "__main__":
    main()
