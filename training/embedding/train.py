#!/usr/bin/env python3
"""Fits the table to the teacher, and writes what the binary includes.

    train.py --corpus DIR... --teacher DIR --vectors FILE.npz... --out DIR [--near FILE.npy...] [--from rows.npz] [--epochs 8]
             [--steps N]

`vectors` is what teacher.py wrote for each corpus, `near` the pairs that near.py found, `from` the rows.npz of an earlier
run to go on from (its directions are kept). Writes to `out`: table.i8, scale.f32, vectors.txt (the fixture of the unit test) and
rows.npz (rows in float32 and directions, for a later run).

The vector of a text is the sum of the rows of its tokens, scaled to length 1. Three wishes are fitted together:
  - it points where the teacher's vector of the text points (the teacher's 384 directions reduced to 256),
  - it has the same neighbours among the texts of a batch as the teacher's vector has,
  - a question is nearer to its own passage than to the other passages of the batch.
A token's weight is not a number of its own: it is the length of the token's row, and is fitted with it.

Two runs from the same start, one with random batches and one with batches of near neighbours, are added up: both stay
in the teacher's directions, so their sum is a table too, and a slightly better one than either. They run at the same
time, on one core each.
"""
import argparse
import multiprocessing
import os
import time

import numpy as np
import torch
import torch.nn.functional as F

import corpus

DIMENSIONS = 256
SINGLES, PAIRS = 1024, 512  # texts and pairs in a batch
NEAR_SHARE = 0.4  # of the pairs in a batch: texts that the teacher finds near
LEARNING_RATE, WARM_UP = 3e-3, 100
DROPPED = 0.15  # tokens left out at random, so that no text leans on one of its tokens
HARD = 0.5  # how far "its own passage and no other" counts against what the teacher thinks of the others
TABLE_TEMPERATURE, TEACHER_TEMPERATURE = 0.05, 0.04
WEIGHT_NEIGHBOURS = 2.0
RARE = 20.0  # a token seen less often than this leans on what the teacher says of it alone
FREQUENT = 1e-3  # a token with this share of the corpus begins at half its weight


# ------------------------------------------------------------------ where the rows begin
def directions(vectors):
    """The 256 directions in which the teacher's vectors differ most, best first. Not centred: cosines must stay."""
    square = np.zeros((vectors.shape[1],) * 2)
    for first in range(0, len(vectors), 20000):
        part = vectors[first:first + 20000].astype(np.float32)
        square += part.T @ part
    values, found = np.linalg.eigh(square)
    kept = values[::-1][:DIMENSIONS].sum() / values.sum()
    print(f"{DIMENSIONS} directions keep {kept:.3f} of the teacher's energy", flush=True)
    return found[:, ::-1][:, :DIMENSIONS].astype(np.float32)


def first_rows(z, counts, onto):
    """The mean state of each token in its contexts, weighted down where the token is frequent."""
    alone = unit(z["alone"])
    seen = z["counts"][:, None]
    base = (z["states"] * seen + alone * RARE) / (seen + RARE)
    share = (counts + 0.5) / (counts + 0.5).sum()
    return (base @ onto) * (FREQUENT / (FREQUENT + share))[:, None]


# ------------------------------------------------------------------ one run
class Student:
    """The rows being fitted."""

    def __init__(self, rows, counts, seed):
        self.rows = torch.nn.Parameter(torch.from_numpy(rows.astype(np.float32) / np.abs(rows).mean() * 0.05))
        self.counts = counts
        self.chance = torch.Generator().manual_seed(seed)

    def vectors(self, which):
        part = self.counts[which]
        weights = torch.from_numpy(part.data.copy())
        weights = weights * (torch.rand(len(weights), generator=self.chance) >= DROPPED)
        ids, starts = torch.from_numpy(part.indices.astype(np.int64)), torch.from_numpy(part.indptr[:-1].astype(np.int64))
        return F.normalize(F.embedding_bag(ids, self.rows, starts, mode="sum", per_sample_weights=weights), dim=1, eps=1e-6)


def away(student, teacher):
    """How far the vectors point away from the teacher's."""
    return (1 - (student * teacher).sum(1)).mean()


def other_neighbours(student, teacher):
    """How differently the two see who is near to whom in the batch (a text is not its own neighbour)."""
    itself = torch.eye(len(student), dtype=torch.bool)
    wanted = (teacher @ teacher.T / TEACHER_TEMPERATURE).masked_fill(itself, -1e4)
    given = (student @ student.T / TABLE_TEMPERATURE).masked_fill(itself, -1e4)
    return F.kl_div(F.log_softmax(given, 1), F.log_softmax(wanted, 1), reduction="batchmean", log_target=True)


def wrong_partner(student, teacher):
    """How much of a question's attention goes to others than its passage, and the other way round."""
    loss = 0.0
    for one, two in ((0, 1), (1, 0)):
        by_teacher = F.softmax(teacher[one] @ teacher[two].T / TEACHER_TEMPERATURE, 1)
        wanted = HARD * torch.eye(len(by_teacher)) + (1 - HARD) * by_teacher
        loss = loss - (wanted * F.log_softmax(student[one] @ student[two].T / TABLE_TEMPERATURE, 1)).sum(1).mean() / 2
    return loss


def loss_of(student, target, texts, pairs):
    given, wanted = student.vectors(texts), target(texts)
    loss = away(given, wanted) + WEIGHT_NEIGHBOURS * other_neighbours(given, wanted)
    ends = (student.vectors(pairs[:, 0]), student.vectors(pairs[:, 1]))
    wanted_ends = (target(pairs[:, 0]), target(pairs[:, 1]))
    loss = loss + wrong_partner(ends, wanted_ends)
    return loss + 0.25 * (away(ends[0], wanted_ends[0]) + away(ends[1], wanted_ends[1]))


def fit(rows, counts, vectors, onto, pairs, near, held, measured, epochs, most_steps, seed, topics):
    """Adam with a falling learning rate; answers with the epoch that is best on the held-back pairs of both kinds."""
    student, chance = Student(rows, counts, seed), np.random.default_rng(seed)
    optimizer = torch.optim.Adam([student.rows], lr=LEARNING_RATE, betas=(0.9, 0.99))
    onto = torch.from_numpy(onto)
    target = lambda which: F.normalize(torch.from_numpy(vectors[which].astype(np.float32)) @ onto, dim=1)
    texts = np.flatnonzero(~held & (np.diff(counts.indptr) > 0))
    pairs, near = pairs[~held[pairs].any(1)], near[~held[near].any(1)]
    n_near = int(PAIRS * NEAR_SHARE) if len(near) else 0
    n_steps, done, best = max(1, min(most_steps, len(texts) // SINGLES)), 0, (-1.0, None)
    for epoch in range(epochs):
        order, total, start = chance.permutation(texts), 0.0, time.time()
        if topics is not None and epoch % 2 == 0:
            order = by_topic(texts, topics, chance)
        for step in range(n_steps):
            falling = 0.5 + 0.5 * np.cos(np.pi * done / (n_steps * epochs))
            optimizer.param_groups[0]["lr"] = LEARNING_RATE * falling * min(1.0, (done + 1) / WARM_UP)
            drawn = pairs[chance.integers(0, len(pairs), PAIRS - n_near)]
            if n_near:
                drawn = np.concatenate([drawn, near[chance.integers(0, len(near), n_near)]])
            loss = loss_of(student, target, order[step * SINGLES:(step + 1) * SINGLES], drawn)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            done, total = done + 1, total + float(loss.detach())
        now = student.rows.detach().numpy().copy()
        scores = held_back(now, counts, measured)
        print(f"{'random' if topics is None else 'topics'}, epoch {epoch}: loss {total / n_steps:.4f}, {said(scores)}, {time.time() - start:.0f} s", flush=True)
        if sum(scores) > best[0]:
            best = (sum(scores), now)
    return best[1]


def topics_of(vectors, onto, n_topics=256, sample=30000):
    """The topic of each text: rough k-means over 64 directions, on a sample."""
    chance, onto = np.random.default_rng(0), torch.from_numpy(onto[:, :64].copy())
    some = F.normalize(torch.from_numpy(vectors[chance.permutation(len(vectors))[:sample]].astype(np.float32)) @ onto, dim=1)
    middles = some[:n_topics]
    for _ in range(8):
        nearest = (some @ middles.T).argmax(1)
        middles = F.normalize(torch.zeros_like(middles).index_add_(0, nearest, some) + 1e-6 * middles, dim=1)
    parts = [vectors[k:k + 20000].astype(np.float32) for k in range(0, len(vectors), 20000)]
    return np.concatenate([(torch.from_numpy(part) @ onto @ middles.T).argmax(1).numpy() for part in parts])


def by_topic(texts, topics, chance, run=64):
    """A random order in which every run of 64 texts is of one topic, so that a batch holds near neighbours."""
    runs = []
    for topic in np.unique(topics[texts]):
        members = chance.permutation(texts[topics[texts] == topic])
        runs += [members[k:k + run] for k in range(0, len(members), run)]
    chance.shuffle(runs)
    return np.concatenate(runs)


def unit(rows):
    return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)


def reciprocal_rank(rows, counts, pairs):
    """Mean of 1 / rank of the right passage among the passages of all these pairs."""
    near = unit(counts[pairs[:, 0]] @ rows) @ unit(counts[pairs[:, 1]] @ rows).T
    return float((1 / (1 + (near > np.diag(near)[:, None]).sum(1))).mean())


def held_back(rows, counts, measured):
    """Reciprocal ranks of held-back pairs: of documentation, and of texts that the teacher finds near."""
    return [reciprocal_rank(rows, counts, pairs) for pairs in measured if len(pairs) >= 100]


def said(scores):
    return "held-back pairs " + " and ".join(f"{score:.4f}" for score in scores)


# ------------------------------------------------------------------ writing
FIXTURE = [
    "hello world", "Use tabs, not spaces.", "How do I revert the last commit?", "café naïve RÉSUMÉ", "deploy-on-friday: never",
    "feedback_no_mocks.md", "https://example.org/a/b?c=d#e", "fn main() { println!(\"hi\"); }",
    "DB_URL=postgres://localhost:5432/app", "", "   ", "the", "中文 and 日本語 mixed with English", "오늘 회의는 3시", "Straße größer",
    "e\u0301 decomposed and é composed", "x" * 120, "emoji 🚀 ship it",
    "The release branch is cut on the first Tuesday of the month; the release manager announces it in the channel.",
    "memory " * 700,
]


def finished(rows, tokens):
    """Rows of tokens that carry no meaning become zero; the longest row gets length 1."""
    rows = rows.copy()
    rows[[tokens.token_to_id(name) for name in ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")]] = 0
    return rows / np.linalg.norm(rows, axis=1).max()


def in_bytes(rows):
    scales = (np.abs(rows).max(1) / 127).astype(np.float32)
    whole = np.round(rows / np.where(scales > 0, scales, 1)[:, None]).clip(-127, 127).astype(np.int8)
    return whole, scales


def visible(text):
    return "".join(c if c.isascii() and c.isprintable() and c != "\\" else f"\\u{{{ord(c):x}}}" for c in text)


def fixture_line(text, tokens, whole, scales):
    ids = tokens.encode(text, add_special_tokens=False).ids
    total = (whole[ids].astype(np.float32) * scales[ids][:, None]).sum(0)
    components = unit(total[None])[0] * 10000 if np.any(total) else []
    return "\t".join([visible(text), " ".join(map(str, ids)), " ".join(str(round(float(x))) for x in components)])


def write(out, rows, onto, tokens):
    os.makedirs(out, exist_ok=True)
    whole, scales = in_bytes(rows)
    whole.tofile(out + "/table.i8")
    scales.astype("<f4").tofile(out + "/scale.f32")
    np.savez(out + "/rows.npz", rows=rows, onto=onto)
    with open(out + "/vectors.txt", "w", encoding="utf-8") as file:
        file.writelines(fixture_line(text, tokens, whole, scales) + "\n" for text in FIXTURE)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("teacher", "out"):
        parser.add_argument("--" + name, required=True)
    for name in ("corpus", "vectors"):
        parser.add_argument("--" + name, nargs="+", required=True)
    parser.add_argument("--near", nargs="*", default=[])
    parser.add_argument("--from", dest="begin", help="rows.npz of an earlier run")
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--steps", type=int, default=10**9, help="batches in an epoch, where not all texts are wanted")
    args = parser.parse_args()
    torch.set_num_threads(1)
    texts, z = corpus.load_all(args.corpus, args.vectors)
    near = np.concatenate([np.zeros((0, 2), np.int64), *map(np.load, args.near)])
    counts = corpus.token_counts(args.teacher, texts.texts)
    held = texts.held_back()
    measured = [texts.pairs[held[texts.pairs].all(1)][:2500], near[held[near].any(1)][:2500]]
    print(f"{len(texts.texts)} texts, {int(counts.sum())} tokens, {len(texts.pairs)} pairs and {len(near)} near ones, "
          f"{' and '.join(str(len(pairs)) for pairs in measured)} held back", flush=True)
    if args.begin:
        earlier = np.load(args.begin)
        start, onto = earlier["rows"], earlier["onto"]
    else:
        onto = directions(z["vectors"])
        start = first_rows(z, np.asarray(counts.sum(0)).ravel(), onto)
    print(f"before fitting: {said(held_back(start, counts, measured))}", flush=True)
    shared = (start, counts, z["vectors"], onto, texts.pairs, near, held, measured, args.epochs, args.steps, 0)
    with multiprocessing.get_context("fork").Pool(2) as pool:
        jobs = [pool.apply_async(fit, (*shared, topics)) for topics in (None, topics_of(z["vectors"], onto))]
        runs = [job.get() for job in jobs]
    rows = sum(run / np.linalg.norm(run, axis=1).mean() for run in runs)
    print(f"both runs added up: {said(held_back(rows, counts, measured))}", flush=True)
    tokens = corpus.tokenizer(args.teacher, corpus.TABLE_TOKENS)
    write(args.out, finished(rows, tokens), onto, tokens)


if __name__ == "__main__":
    main()
