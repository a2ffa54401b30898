#!/usr/bin/env python3
"""Compares two tables on retrieval, question by question, with paired bootstrap intervals.

    compare.py --teacher DIR --before DIR --after DIR [--data DIR] [--notes paraphrases.jsonl]

`before` and `after` hold a table.i8 and a scale.f32 each. `data` holds retrieval sets NAME.docs.jsonl.xz (h: haystack,
id, s: session, t: time, who, text) and NAME.queries.jsonl.xz (h, q, gold: ids). The sets used for the README are for
measuring only and are not part of the project. `paraphrases.jsonl` is: notes of developers, and prompts that mean the
same without sharing a content word.

Ways of ranking: `dense` is the cosine; `bytes` the same on rows of bytes; `sum` is half the cosine and half BM25, each
stretched to 0..1; `fused` adds the neighbours of a turn and BM25 of its session. For notes: `dense`, and `floor`, BM25
as a share of what the query could reach plus the cosine.
"""
import argparse
import json
import lzma
import math
import os
import re
from collections import Counter, defaultdict

import numpy as np
import snowballstemmer

import corpus

HERE = os.path.dirname(os.path.abspath(__file__))
DENSE_SHARE, NEIGHBOURS, SESSION = 0.5, 0.3, 0.1
K1, B = 1.2, 0.75
STOP = set("""a about above after again against all am an and any are aren't as at be because been before being below between both but
by can can't cannot could couldn't did didn't do does doesn't doing don't down during each few for from further had hadn't has hasn't
have haven't having he he'd he'll he's her here here's hers herself him himself his how how's i i'd i'll i'm i've if in into is isn't
it it's its itself let's me more most mustn't my myself no nor not of off on once only or other ought our ours ourselves out over own
same shan't she she'd she'll she's should shouldn't so some such than that that's the their theirs them themselves then there there's
these they they'd they'll they're they've this those through to too under until up very was wasn't we we'd we'll we're we've were
weren't what what's when when's where where's which while who who's whom why why's will with won't would wouldn't you you'd you'll
you're you've your yours yourself yourselves""".split())
STEMMER = snowballstemmer.stemmer("english")
WORD = re.compile(r"\w+(?:'\w+)?")


def stems(text):
    return STEMMER.stemWords([word for word in WORD.findall(text.lower()) if word not in STOP])


class Words:
    """BM25 over some texts."""

    def __init__(self, texts):
        self.postings, lengths = defaultdict(list), []
        for number, text in enumerate(texts):
            words = stems(text)
            lengths.append(len(words))
            for word, count in Counter(words).items():
                self.postings[word].append((number, count))
        self.lengths = np.array(lengths, np.float32)
        self.mean = max(float(self.lengths.mean()), 1.0)

    def idf(self, word):
        found = len(self.postings.get(word, ()))
        return math.log(1 + (len(self.lengths) - found + 0.5) / (found + 0.5))

    def scores(self, query):
        total = np.zeros(len(self.lengths), np.float32)
        for word in set(stems(query)):
            for number, count in self.postings.get(word, ()):
                weight = K1 * (1 - B + B * self.lengths[number] / self.mean)
                total[number] += self.idf(word) * count * (K1 + 1) / (count + weight)
        return total

    def most(self, query):
        """What a text that has every word of the query could reach."""
        return sum(self.idf(word) for word in set(stems(query))) * (K1 + 1) or 1.0


class Table:
    def __init__(self, folder, teacher):
        scales = np.fromfile(folder + "/scale.f32", "<f4")
        self.rows = np.fromfile(folder + "/table.i8", np.int8).reshape(len(scales), -1).astype(np.float32) * scales[:, None]
        self.teacher = teacher

    def vectors(self, texts):
        sums = corpus.token_counts(self.teacher, texts) @ self.rows
        return sums / np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-9)


def stretched(scores):
    low, high = scores.min(), scores.max()
    return (scores - low) / (high - low) if high > low else np.zeros_like(scores)


# ------------------------------------------------------------------ turns of conversations
def read_lines(path):
    with lzma.open(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def haystacks(folder, name):
    docs, queries = defaultdict(list), defaultdict(list)
    for doc in read_lines(f"{folder}/{name}.docs.jsonl.xz"):
        docs[doc["h"]].append(doc)
    for query in read_lines(f"{folder}/{name}.queries.jsonl.xz"):
        queries[query["h"]].append(query)
    return [(docs[name], queries[name]) for name in sorted(queries)]


def with_neighbours(scores, sessions):
    total = scores.copy()
    for step in (1, -1):
        moved, beside = np.roll(scores, step), np.roll(sessions, step) == sessions
        beside[0 if step == 1 else -1] = False
        total += NEIGHBOURS * np.where(beside, moved, 0)
    return total


class Haystack:
    """The turns of one conversation with everything that does not depend on the table."""

    def __init__(self, docs, queries):
        self.texts = [f"{doc['who']}: {doc['text']}" for doc in docs]
        self.ids, self.queries = {doc["id"]: k for k, doc in enumerate(docs)}, queries
        self.sessions = np.array([doc["s"] for doc in docs])
        plain, dated = Words(self.texts), Words([f"{text} {spoken_date(doc['t'])}" for text, doc in zip(self.texts, docs)])
        names = list(dict.fromkeys(self.sessions))
        whole = Words([" ".join(self.texts[k] for k in np.flatnonzero(self.sessions == name)) for name in names])
        where = np.array([names.index(name) for name in self.sessions])
        self.plain = [plain.scores(query["q"]) for query in queries]
        self.dated = [dated.scores(query["q"]) for query in queries]
        self.whole = [stretched(whole.scores(query["q"]))[where] for query in queries]

    def recalls(self, table):
        """-> {way: R@5 and R@10 of every question}"""
        docs, asked = table.vectors(self.texts), table.vectors([query["q"] for query in self.queries])
        in_bytes = np.round(docs * 127)
        found = defaultdict(list)
        for k, query in enumerate(self.queries):
            gold = {self.ids[i] for i in query["gold"] if i in self.ids}
            if not gold:
                continue
            dense = docs @ asked[k]
            half = (1 - DENSE_SHARE) * stretched(self.dated[k]) + DENSE_SHARE * stretched(dense)
            ways = {
                "dense": dense, "bytes": in_bytes @ np.round(asked[k] * 127),
                "sum": 0.5 * stretched(self.plain[k]) + 0.5 * stretched(dense),
                "fused": with_neighbours(half, self.sessions) + SESSION * self.whole[k],
            }
            for way, scores in ways.items():
                best = np.argsort(-scores, kind="stable")[:10]
                found[way].append([len(gold & set(best[:n].tolist())) / len(gold) for n in (5, 10)])
        return found


def spoken_date(time):
    months = "January February March April May June July August September October November December".split()
    match = re.match(r"(\d{4})-(\d\d)-(\d\d)", time or "")
    return f"{int(match[3])} {months[int(match[2]) - 1]} {match[1]}" if match else ""


# ------------------------------------------------------------------ notes
def shared_words(note, prompt):
    return set(stems(note)) & set(stems(prompt))


def notes_found(rows, table):
    """-> {way: hit@1, hit@5 and reciprocal rank of every prompt}; every note is a candidate for every prompt."""
    notes, prompts = [row["note"] for row in rows], [row["prompt"] for row in rows]
    cosine, words = table.vectors(prompts) @ table.vectors(notes).T, Words(notes)
    found = defaultdict(list)
    for k, prompt in enumerate(prompts):
        floor = words.scores(prompt) / words.most(prompt) + np.maximum(cosine[k], 0)
        for way, scores in (("dense", cosine[k]), ("floor", floor)):
            rank = 1 + int((scores > scores[k]).sum())
            found[way].append([rank <= 1, rank <= 5, 1 / rank])
    return found


# ------------------------------------------------------------------ report
def interval(difference, seed=0, draws=10_000):
    chance = np.random.default_rng(seed)
    means = [difference[chance.integers(0, len(difference), len(difference))].mean() for _ in range(draws)]
    return np.percentile(means, [2.5, 97.5])


def report(name, way, measures, before, after):
    before, after = np.array(before, float) * 100, np.array(after, float) * 100
    for column, measure in enumerate(measures):
        low, high = interval(after[:, column] - before[:, column])
        b, a = before[:, column].mean(), after[:, column].mean()
        print(f"| {name} | {len(before)} | {way} | {measure} | {b:.1f} | {a:.1f} | {a - b:+.1f} [{low:+.1f}, {high:+.1f}] |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("teacher", "before", "after"):
        parser.add_argument("--" + name, required=True)
    parser.add_argument("--data")
    parser.add_argument("--sets", nargs="*", default=["locomo", "beam100k"])
    parser.add_argument("--notes", default=os.path.join(HERE, "paraphrases.jsonl"))
    args = parser.parse_args()
    before, after = Table(args.before, args.teacher), Table(args.after, args.teacher)
    print("| set | n | way | measure | before | after | difference |\n| --- | --- | --- | --- | --- | --- | --- |")
    with open(args.notes, encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    for row in rows:
        assert not shared_words(row["note"], row["prompt"]), (row, shared_words(row["note"], row["prompt"]))
    found = notes_found(rows, before), notes_found(rows, after)
    for way in found[0]:
        report("notes", way, ("hit@1", "hit@5", "MRR"), found[0][way], found[1][way])
    for name in args.sets if args.data else ():
        found = defaultdict(list), defaultdict(list)
        for docs, queries in haystacks(args.data, name):
            haystack = Haystack(docs, queries)
            for side, table in zip(found, (before, after)):
                for way, values in haystack.recalls(table).items():
                    side[way] += values
        for way in found[0]:
            report(name, way, ("R@5", "R@10"), found[0][way], found[1][way])


if __name__ == "__main__":
    main()
