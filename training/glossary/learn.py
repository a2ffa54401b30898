#!/usr/bin/env python3
"""Learns which English words a foreign word stands for: learn.py PAIRS OUT [LANGUAGE ...]

Reads the pairs of read.py. Every text becomes units (stems where a language has endings, words where it has no spaces), IBM
model 1 is fitted in both directions, and what both directions believe in is counted. OUT gets one file a language, lines
`unit<TAB>english<TAB>expected count<TAB>count of the unit<TAB>count of the English<TAB>forms of the unit`, best first; table.py
chooses."""

import sys
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
from units import UNITS, english_units

# Short texts tell most: in a label of two words there is little to confuse. Longer ones cost most of the time.
MAX_UNITS = 30
ROUNDS = 6
NONE = 0


class Numbers:
    """Numbers for words; 0 stands for no word at all."""

    def __init__(self):
        self.of, self.words = {"": 0}, [""]

    def __call__(self, word):
        if word not in self.of:
            self.of[word] = len(self.words)
            self.words.append(word)
        return self.of[word]


def fit(left, right, n_left):
    """Returns for each cell (a unit of `left` and one of `right` in one text) how far the right one comes from the left."""
    starts, cells_left, cells_right, cells_slot = 0, [], [], []
    for a, b in zip(left, right):
        a = np.concatenate(([NONE], a))
        cells_left.append(np.repeat(a[None, :], len(b), 0).ravel())
        cells_right.append(np.repeat(b, len(a)))
        cells_slot.append(np.repeat(np.arange(starts, starts + len(b)), len(a)))
        starts += len(b)
    cells_left = np.concatenate(cells_left)
    cells_right = np.concatenate(cells_right)
    cells_slot = np.concatenate(cells_slot)
    keys, which = np.unique(cells_left.astype(np.int64) << 32 | cells_right, return_inverse=True)
    of_left = (keys >> 32).astype(np.int64)
    believed = np.ones(len(keys)) / np.maximum(1, np.bincount(of_left, minlength=n_left))[of_left]
    for _ in range(ROUNDS):
        weights = believed[which]
        weights /= np.bincount(cells_slot, weights)[cells_slot]
        counts = np.bincount(which, weights, minlength=len(keys))
        believed = counts / np.bincount(of_left, counts, minlength=n_left)[of_left]
    return keys, counts


def main():
    pairs, out = Path(sys.argv[1]), Path(sys.argv[2])
    out.mkdir(parents=True, exist_ok=True)
    for language in sys.argv[3:] or sorted(UNITS):
        learn(pairs / f"{language}.tsv", UNITS[language], out / f"{language}.tsv")


def learn(path, units, out):
    ours, theirs, surfaces = Numbers(), Numbers(), defaultdict(Counter)
    english_side, foreign_side, english_words = [], [], []
    for line in path.read_text().splitlines():
        _, english, foreign = line.split("\t")
        if english.count(" ") > MAX_UNITS:
            continue
        a, b = list(english_units(english)), list(units(foreign))
        if not a or not b or max(len(a), len(b)) > MAX_UNITS or len(a) > 3 * len(b) + 3 or len(b) > 3 * len(a) + 3:
            continue
        for unit, surface in b:
            surfaces[unit][surface] += 1
        english_side.append(np.array([ours(stem) for stem, _ in a]))
        english_words.append([word for _, word in a])
        foreign_side.append(np.array([theirs(unit) for unit, _ in b]))
    keys, counts = fit(english_side, foreign_side, len(ours.words))
    there = dict(zip(keys.tolist(), counts.tolist()))
    keys, counts = fit(foreign_side, english_side, len(theirs.words))
    n_foreign = Counter(int(unit) for side in foreign_side for unit in side)
    n_english = Counter(int(unit) for side in english_side for unit in side)
    found = defaultdict(list)
    for key, count in zip(keys.tolist(), counts.tolist()):
        foreign, english = key >> 32, key & 0xFFFFFFFF
        if foreign == NONE:
            continue
        # The mean forgives a word that stands for two of the other language, the least does not forgive chance.
        back = there.get(english << 32 | foreign, 0.0)
        if min(count, back) >= 0.2:
            found[foreign].append(((count * back) ** 0.5, english))
    found = {foreign: sorted(rows, reverse=True)[:6] for foreign, rows in found.items()}
    written = forms(found, english_side, foreign_side, english_words)
    with out.open("w") as file:
        for foreign, rows in sorted(found.items(), key=lambda row: -n_foreign[row[0]]):
            unit = theirs.words[foreign]
            shown = " ".join(f"{surface}:{n}" for surface, n in surfaces[unit].most_common(12))
            for both, english in rows:
                word = base_form(written[(foreign, english)])
                file.write(f"{unit}\t{word}\t{both:.2f}\t{n_foreign[foreign]}\t{n_english[english]}\t{shown}\n")
    print(out.stem, len(english_side), "texts,", len(found), "units", flush=True)


def forms(found, english_side, foreign_side, english_words):
    """Counts how the English of each pair is written where the two stand together: one stem is many words."""
    wanted = {foreign: {english for _, english in rows} for foreign, rows in found.items()}
    written = defaultdict(Counter)
    for a, b, words in zip(english_side, foreign_side, english_words):
        numbers = a.tolist()
        for foreign in set(b.tolist()):
            of_this = wanted.get(foreign)
            if of_this:
                for number, word in zip(numbers, words):
                    if number in of_this:
                        written[(foreign, number)][word] += 1
    return written


def base_form(surfaces):
    """The shortest of the usual forms: `setting` for `settings`, `encrypt` for `encrypted`."""
    most = max(surfaces.values())
    return min((word for word, n in surfaces.items() if n >= 0.15 * most), key=lambda word: (len(word), word))


if __name__ == "__main__":
    main()
