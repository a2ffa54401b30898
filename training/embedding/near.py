#!/usr/bin/env python3
"""Finds pairs of short texts that mean nearly the same in other words: the teacher says so, and they share few words.

    near.py --corpus DIR... --vectors FILE.npz... --out FILE.npy [--texts 130000]

`corpus` and `vectors` as for train.py. A prompt and the memory it needs are often just such a pair, and documentation
has none by itself: a heading repeats the words of its paragraph. Both texts come from different documents. Pairs with a
text of a held-back document are kept too: train.py does not fit them, but measures by them.
"""
import argparse
import functools
import time
from collections import Counter

import numpy as np

import corpus
from compare import STEMMER, STOP, WORD

SHORTEST, LONGEST = 4, 30  # words of a text
NEAREST, FARTHEST = 0.97, 0.68  # above it is the same sentence, below it is only the same topic
SHARED = 0.34  # of the content words of the shorter text
KEPT = 3  # pairs per text


@functools.cache
def stem(word):
    return STEMMER.stemWord(word)


def content(text):
    return frozenset(stem(word) for word in WORD.findall(text.lower()) if word not in STOP)


def in_other_words(one, two):
    fewer = min(len(one), len(two))
    return fewer > 1 and len(one & two) <= SHARED * fewer


def short_texts(texts, most):
    """Positions of short texts; where there are more than `most`, a random choice of them."""
    found = [k for k, text in enumerate(texts.texts) if SHORTEST <= len(text.split()) <= LONGEST]
    return np.sort(np.random.default_rng(0).permutation(np.array(found))[:most])


def pairs_of(texts, vectors, most):
    where = short_texts(texts, most)
    near, words = vectors[where].astype(np.float32), [content(texts.texts[k]) for k in where]
    seen, start = set(), time.time()
    for first in range(0, len(where), 1000):
        cosine = near[first:first + 1000] @ near.T
        rows, others = np.nonzero((cosine >= FARTHEST) & (cosine <= NEAREST))
        order, kept = np.argsort(-cosine[rows, others], kind="stable"), Counter()
        for one, two in zip(first + rows[order], others[order]):
            same = texts.documents[where[one]] == texts.documents[where[two]]
            if kept[one] == KEPT or same or not in_other_words(words[one], words[two]):
                continue
            kept[one] += 1
            seen.add((min(one, two), max(one, two)))
        if first % 20000 == 0:
            print(f"near: {first} of {len(where)} texts, {len(seen)} pairs, {time.time() - start:.0f} s", flush=True)
    return where[np.array(sorted(seen), dtype=np.int64).reshape(-1, 2)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", nargs="+", required=True)
    parser.add_argument("--vectors", nargs="+", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--texts", type=int, default=130_000)
    args = parser.parse_args()
    texts, z = corpus.load_all(args.corpus, args.vectors)
    pairs = pairs_of(texts, z["vectors"], args.texts)
    for one, two in pairs[:: max(1, len(pairs) // 12)]:
        print(f"  {texts.texts[one]}  <>  {texts.texts[two]}")
    print(f"{len(pairs)} pairs, {int(texts.held_back()[pairs].any(1).sum())} of them held back")
    np.save(args.out, pairs)


if __name__ == "__main__":
    main()
