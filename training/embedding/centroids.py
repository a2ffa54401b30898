#!/usr/bin/env python3
"""Finds the 256 topics that the training texts fall into: spherical k-means over the table's own vectors.

    centroids.py --corpus DIR --teacher DIR --table DIR --out FILE [--texts 100000]

Writes 256 rows of 256 signed bytes, each the middle of a topic scaled like a stored vector (length 127). The largest
topic comes first. An index that is divided by nearest middle can leave most of its parts unread.
"""
import argparse

import numpy as np

import corpus
from compare import Table

N_TOPICS, ROUNDS = 256, 25


def nearest(vectors, middles):
    """The nearest middle of each vector and how near it is."""
    where, how_near = np.empty(len(vectors), np.int64), np.empty(len(vectors), np.float32)
    for first in range(0, len(vectors), 20000):
        near = vectors[first:first + 20000] @ middles.T
        where[first:first + 20000], how_near[first:first + 20000] = near.argmax(1), near.max(1)
    return where, how_near


def spread_out(vectors, chance):
    """First middles, drawn so that one far from all others is likelier (k-means++ by cosine)."""
    chosen = [vectors[chance.integers(len(vectors))]]
    far = 1 - vectors @ chosen[0]
    while len(chosen) < N_TOPICS:
        weights = np.maximum(far, 0) ** 2
        chosen.append(vectors[chance.choice(len(vectors), p=weights / weights.sum())])
        far = np.minimum(far, 1 - vectors @ chosen[-1])
    return np.array(chosen)


def topics(vectors, seed=0):
    middles = spread_out(vectors[:20000], np.random.default_rng(seed))
    for _ in range(ROUNDS):
        where, how_near = nearest(vectors, middles)
        sums = np.zeros_like(middles)
        np.add.at(sums, where, vectors)
        empty = np.bincount(where, minlength=N_TOPICS) == 0
        sums[empty] = vectors[np.argsort(how_near)[: empty.sum()]]  # an empty topic takes the loneliest texts
        middles = sums / np.linalg.norm(sums, axis=1, keepdims=True)
    where, how_near = nearest(vectors, middles)
    sizes = np.bincount(where, minlength=N_TOPICS)
    print(f"{len(vectors)} texts, cosine to the nearest middle {how_near.mean():.3f}, "
          f"topics of {sizes.min()} to {sizes.max()} texts, median {int(np.median(sizes))}")
    return middles[np.argsort(-sizes, kind="stable")]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("corpus", "teacher", "table", "out"):
        parser.add_argument("--" + name, required=True)
    parser.add_argument("--texts", type=int, default=100_000)
    args = parser.parse_args()
    texts = corpus.load(args.corpus).first(args.texts).texts
    vectors = Table(args.table, args.teacher).vectors(texts).astype(np.float32)
    vectors = vectors[np.linalg.norm(vectors, axis=1) > 0.5]  # texts without a known token are zero
    np.round(topics(vectors) * 127).astype(np.int8).tofile(args.out)


if __name__ == "__main__":
    main()
