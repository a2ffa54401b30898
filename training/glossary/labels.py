#!/usr/bin/env python3
"""Learns from labels alone: labels.py PAIRS OUT LANGUAGE ...

Where a text is one content word in both languages nothing has to be aligned. This reads only such pairs,
and writes the same form as learn.py."""

import sys
from collections import Counter, defaultdict
from pathlib import Path

from learn import base_form
from table import FOREIGN_SMALL, SMALL
from units import UNITS, english_units


def main():
    pairs, out = Path(sys.argv[1]), Path(sys.argv[2])
    out.mkdir(parents=True, exist_ok=True)
    for language in sys.argv[3:]:
        counts, forms, words, n_english = defaultdict(Counter), defaultdict(Counter), defaultdict(Counter), Counter()
        for line in (pairs / f"{language}.tsv").read_text().splitlines():
            _, english, foreign = line.split("\t")
            if len(english) > 24 or english.count(" ") > 1 or len(foreign) > 24:
                continue
            ours = [pair for pair in english_units(english) if pair[1] not in SMALL]
            if len(ours) != 1:
                continue
            theirs = [pair for pair in UNITS[language](foreign) if pair[0] not in FOREIGN_SMALL[language]]
            if len(theirs) == 1:
                (stem, word), (unit, form) = ours[0], theirs[0]
                counts[unit][stem] += 1
                forms[unit][form] += 1
                words[(unit, stem)][word] += 1
                n_english[stem] += 1
        with (out / f"{language}.tsv").open("w") as file:
            for unit, stems in sorted(counts.items(), key=lambda row: -sum(row[1].values())):
                n = sum(stems.values())
                shown = " ".join(f"{form}:{n}" for form, n in forms[unit].most_common(12))
                for stem, both in stems.most_common(6):
                    word = base_form(words[(unit, stem)])
                    file.write(f"{unit}\t{word}\t{both:.2f}\t{n}\t{max(3, n_english[stem])}\t{shown}\n")
        print(language, len(counts), "units", flush=True)


if __name__ == "__main__":
    main()
