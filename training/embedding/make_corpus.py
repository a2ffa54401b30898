#!/usr/bin/env python3
"""Cuts the training corpus out of unpacked Debian packages, permissive licences only.

    make_corpus.py --packages DIR --out DIR

`packages` holds one folder per package of sources.toml, each filled by `dpkg -x` (fetch.sh does it). Writes
`corpus.jsonl`, the input of teacher.py and train.py, and `counts.json`, how much came from where. A line is a text
({"text", "source", "document"}) or a pair ({"question", "passage", "source", "document"}); lines are in random order, so
that the first n of them are a fair sample of all.

Pairs are what makes a question find its answer: a heading and the paragraph below it, a first sentence and the rest
of its paragraph, words and their definition.
"""
import argparse
import glob
import gzip
import json
import os
import random
import re
import tomllib
from collections import Counter, defaultdict
from concurrent.futures import ProcessPoolExecutor

import blocks

HERE = os.path.dirname(os.path.abspath(__file__))
NOT_ENGLISH = re.compile(r"\.(de|fr|ja|ko|tr|es|da|pt-br|zh-cn)(\.|$)")
GENERATED = re.compile(r"genindex|search\.html|/_modules/|py-modindex|modindex")
EMPTY_HEADINGS = {"description", "notes", "examples", "example", "see also", "synopsis", "name", "return value", "value",
                  "syntax", "return values", "parameters", "note", "introduction", "overview"}
SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z\"'(])")

# How many texts of each kind are kept: sentences for prompts, paragraphs for memories, sections for long turns.
TEXT_LIMITS = {"sentence": 62000, "paragraph": 52000, "section": 9000, "wordnet": 36000, "jargon": 5000, "dialogue": 12000}
PAIR_LIMITS = {"heading": 30000, "first-rest": 20000, "wordnet": 26000, "dialogue": 4000}
# No source gives more than this share of a kind, so that no single manual colours the table.
SHARE = 0.09


def n_words(text):
    return len(text.split())


def is_english(text):
    return sum(c.isascii() for c in text) > 0.97 * len(text)


def is_prose(text):
    letters = sum(c.isalpha() or c == " " for c in text)
    return is_english(text) and letters > 0.75 * len(text)


# ------------------------------------------------------------------ reading
def files_of(package, source, root):
    """The files of one package, in an order that depends on nothing but their names."""
    suffix = {"html": r"\.html?(\.en)?(\.gz)?$", "markdown": r"\.(md|markdown)(\.gz)?$", "manual": r"/man\d/.*\.gz$"}
    wanted, pattern = re.compile(suffix[source["kind"]]), re.compile(source.get("only", ""))
    found = []
    for folder, _, names in os.walk(os.path.join(root, package)):
        for name in names:
            path = os.path.join(folder, name)
            if not wanted.search(path) or not pattern.search(path) or os.path.islink(path):
                continue
            if GENERATED.search(path) or NOT_ENGLISH.search(name) or os.path.getsize(path) > 1_500_000:
                continue
            found.append(path)
    found.sort()
    random.Random(1).shuffle(found)
    return found[: source.get("files", 300)]


READERS = {"html": blocks.from_html, "markdown": blocks.from_markdown, "manual": blocks.from_manual}


def documents_of(job):
    package, source, root = job
    reader = READERS[source["kind"]]
    found = [(package, os.path.relpath(path, root), reader(blocks.read(path))) for path in files_of(package, source, root)]
    print(f"{package}: {len(found)} files, {sum(len(d[2]) for d in found)} blocks", flush=True)
    return found


# ------------------------------------------------------------------ cutting
def sections(document_blocks):
    """Yields `(title, heading, blocks)`; the title is the first heading of the document."""
    title, heading, body = "", "", []
    for kind, text in document_blocks:
        if kind != "heading":
            body.append((kind, text))
            continue
        if body:
            yield title, heading, body
            body = []
        heading = re.sub(r"^[\d.]+\s+", "", text)[:120]
        title = title or heading
    if body:
        yield title, heading, body


class Corpus:
    """Collects texts and pairs by kind; `choose` then takes a fair share of each."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.texts, self.pairs = defaultdict(list), defaultdict(list)

    def add(self, kind, source, document, text):
        self.texts[kind].append((source, document, text.strip()))

    def add_pair(self, kind, source, document, question, passage):
        self.pairs[kind].append((source, document, question.strip(), passage.strip()))

    def cut_document(self, source, document, document_blocks):
        for title, heading, body in sections(document_blocks):
            self.cut_section(source, document, title, heading, body)

    def cut_section(self, source, document, title, heading, body):
        asked = "" if heading.lower() in EMPTY_HEADINGS else heading
        if asked and title and asked != title and self.random.random() < 0.6:
            asked = f"{title}: {asked}"
        asked = asked or title
        prose = [text for kind, text in body if kind == "prose" and is_prose(text) and n_words(text) >= 5]
        for position, text in enumerate(prose):
            self.cut_paragraph(source, document, text)
            if position == 0 and 2 <= n_words(asked) <= 14 and 10 <= n_words(text) <= 150 and is_english(asked):
                self.add_pair("heading", source, document, asked, text)
        if sum(len(text) for _, text in body) > 350:
            self.add_section(source, document, title, heading, body)

    def cut_paragraph(self, source, document, text):
        size, sentences = n_words(text), [s for s in SENTENCE_END.split(text) if s]
        if size <= 150:
            self.add("paragraph" if size >= 8 else "sentence", source, document, text)
        if len(sentences) < 2:
            return
        for sentence in sentences:
            if 5 <= n_words(sentence) <= 25:
                self.add("sentence", source, document, sentence)
        first = n_words(sentences[0])
        if 5 <= first <= 30 and size - first >= 10 and size <= 150:
            self.add_pair("first-rest", source, document, sentences[0], " ".join(sentences[1:]))

    def add_section(self, source, document, title, heading, body):
        whole = heading + "\n" if heading == title else f"{title}\n{heading}\n"
        for kind, text in body:
            if is_english(text):
                whole += (text[:500] if kind == "code" else text) + "\n"
            if len(whole) > 950:
                break
        if n_words(whole) >= 50:
            self.add("section", source, document, whole[:1100])

    # -------------------------------------------------------------- other forms
    def cut_wordnet(self, root):
        """Words and what they mean; the glosses and their examples are the plainest English of the corpus."""
        for part in ("noun", "verb", "adj", "adv"):
            path = os.path.join(root, "wordnet-base/usr/share/wordnet", "data." + part)
            with open(path, encoding="latin1") as file:
                for line in file:
                    if not line.startswith(" ") and "|" in line:
                        self.cut_synset(line)

    def cut_synset(self, line):
        left, gloss = line.split("|", 1)
        fields = left.split()
        lemmas = [fields[4 + 2 * i].replace("_", " ").split("(")[0] for i in range(int(fields[3], 16))]
        parts = [part.strip() for part in gloss.strip().split(";")]
        meaning = "; ".join(part for part in parts if not part.startswith('"'))
        if n_words(meaning) < 3:
            return
        document, names, draw = "synset" + str(int(fields[0]) % 9999), ", ".join(lemmas[:4]), self.random.random()
        if draw < 0.38:
            self.add_pair("wordnet", "wordnet-base", document, names, meaning)
        elif draw < 0.5:
            self.add("wordnet", "wordnet-base", document, f"{names}: {meaning}")
        for part in parts:
            if part.startswith('"') and n_words(part) >= 4 and self.random.random() < 0.6:
                self.add("wordnet", "wordnet-base", document, part.strip('"'))

    def cut_jargon(self, root):
        path = os.path.join(root, "jargon-text/usr/share/doc/jargon-text/jargon.txt.gz")
        text = gzip.open(path).read().decode("utf-8", "replace")
        for position, paragraph in enumerate(re.split(r"\n\s*\n", text)):
            paragraph = blocks.squeeze(paragraph)
            if 8 <= n_words(paragraph) <= 150 and is_prose(paragraph):
                self.add("jargon", "jargon-text", f"jargon{position // 40}", paragraph)

    def cut_dialogue(self, root):
        """Questions and answers of chatterbot-corpus (YAML lists, read line by line)."""
        for path in sorted(glob.glob(os.path.join(root, "chatterbot-corpus/**/english/*.yml"), recursive=True)):
            document = os.path.basename(path)
            for talk in re.finditer(r"^- - (.+)\n((?:  - .+\n)+)", open(path, encoding="utf-8").read(), re.M):
                said = talk[1].strip("'\" ")
                answer = blocks.squeeze(re.findall(r"  - (.+)", talk[2])[0].strip("'\" "))
                if n_words(said) >= 3 and n_words(answer) >= 4:
                    self.add_pair("dialogue", "chatterbot-corpus", document, said, answer)

    # -------------------------------------------------------------- choosing
    def fair_share(self, items, limit):
        self.random.shuffle(items)
        n_sources = len({item[0] for item in items})
        most = max(400, int(limit * SHARE)) if n_sources > 6 else limit
        taken, chosen = Counter(), []
        for item in items:
            if taken[item[0]] < most and len(chosen) < limit:
                taken[item[0]] += 1
                chosen.append(item)
        return chosen

    def choose(self):
        """-> texts and pairs within the limits, no text twice (compared without case and punctuation)."""
        seen, texts, pairs = set(), [], []

        def is_new(text):
            key = re.sub(r"\W+", " ", text.lower()).strip()
            return key not in seen and (seen.add(key) or True)

        for kind in sorted(self.pairs):
            for item in self.fair_share(self.pairs[kind], PAIR_LIMITS[kind]):
                question_is_new, passage_is_new = is_new(item[2]), is_new(item[3])
                if question_is_new or passage_is_new:
                    pairs.append((kind, *item))
        for kind in sorted(self.texts):
            for item in self.fair_share(self.texts[kind], TEXT_LIMITS[kind]):
                if is_new(item[2]):
                    texts.append((kind, *item))
        return texts, pairs


def write_lines(path, rows):
    with open(path, "w", encoding="utf-8") as file:
        for row in rows:
            file.write(json.dumps(row, ensure_ascii=False) + "\n")


def write(folder, corpus):
    """Chooses, and writes corpus.jsonl and counts.json."""
    texts, pairs = corpus.choose()
    os.makedirs(folder, exist_ok=True)
    rows = [{"text": t, "source": s, "document": d} for _, s, d, t in texts]
    rows += [{"question": q, "passage": p, "source": s, "document": d} for _, s, d, q, p in pairs]
    corpus.random.shuffle(rows)
    write_lines(folder + "/corpus.jsonl", rows)
    counts = {
        "texts": Counter(t[0] for t in texts), "pairs": Counter(p[0] for p in pairs),
        "by_source": dict(Counter([t[1] for t in texts] + [p[1] for p in pairs for _ in (0, 1)]).most_common()),
    }
    with open(folder + "/counts.json", "w") as file:
        json.dump(counts, file, indent=1)
    print(json.dumps(counts))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--packages", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--processes", type=int, default=2)
    args = parser.parse_args()
    with open(os.path.join(HERE, "sources.toml"), "rb") as file:
        sources = tomllib.load(file)["package"]
    jobs = [(name, source, args.packages) for name, source in sorted(sources.items()) if source["kind"] in READERS]
    corpus = Corpus(seed=7)
    with ProcessPoolExecutor(args.processes) as executor:
        for documents in executor.map(documents_of, jobs):
            for document in documents:
                corpus.cut_document(*document)
    corpus.cut_wordnet(args.packages)
    corpus.cut_jargon(args.packages)
    corpus.cut_dialogue(args.packages)
    write(args.out, corpus)


if __name__ == "__main__":
    main()
