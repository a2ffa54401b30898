#!/usr/bin/env python3
"""Writes the character classes that tokenising needs, as ranges in Rust.

    unicode_ranges.py --teacher DIR > crates/memdir-core/src/embed/character/ranges.rs

The classes are general categories of Unicode: what is dropped (control, format, private use), what is an accent (Mn),
what is punctuation (P). The teacher's tokenizer was built with one version of Unicode and Python with another, so the
reference is asked character by character, and a summary on stderr says where Python would have answered otherwise.
"""
import argparse
import sys
import unicodedata

from tokenizers import Tokenizer

EVERY = [c for c in range(0x110000) if not 0xD800 <= c <= 0xDFFF]


def is_dropped(normalizer, code):
    """Dropped before anything else: nothing of it is left between two letters."""
    return normalizer.normalize_str("a" + chr(code) + "b") == "ab"


def is_punctuation(splitter, code):
    pieces = [piece for piece, _ in splitter.pre_tokenize_str("a" + chr(code) + "b")]
    return pieces == ["a", chr(code), "b"]


def ranges(codes):
    found = []
    for code in codes:
        if found and found[-1][1] == code - 1:
            found[-1][1] = code
        else:
            found.append([code, code])
    return found


def rust(name, doc, codes):
    items = [f"({first:#x}, {last:#x})" for first, last in ranges(codes)]
    lines = ["    " + ", ".join(items[i:i + 6]) + "," for i in range(0, len(items), 6)]
    return "\n".join([f"/// {doc}", "#[rustfmt::skip]", f"pub(super) static {name}: [(u32, u32); {len(items)}] = [", *lines, "];"])


def differences(name, codes, categories):
    ours = {c for c in EVERY if c > 127 and unicodedata.category(chr(c)) in categories}
    only_reference, only_python = set(codes) - ours, ours - set(codes)
    print(f"{name}: {len(codes)} characters, {len(only_reference)} not so in Python's Unicode "
          f"{unicodedata.unidata_version}, {len(only_python)} only there", file=sys.stderr)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--teacher", required=True)
    args = parser.parse_args()
    tokenizer = Tokenizer.from_file(args.teacher + "/tokenizer.json")
    normalizer, splitter = tokenizer.normalizer, tokenizer.pre_tokenizer
    above_ascii = [c for c in EVERY if c > 127]
    gone = [c for c in above_ascii if is_dropped(normalizer, c)]
    marks = [c for c in gone if unicodedata.category(chr(c)).startswith("M") or unicodedata.combining(chr(c))]
    dropped = sorted(set(gone) - set(marks))
    punctuation = [c for c in above_ascii if is_punctuation(splitter, c)]
    differences("dropped", dropped, {"Cc", "Cf", "Co"})
    differences("marks", marks, {"Mn"})
    differences("punctuation", punctuation, {"Pc", "Pd", "Ps", "Pe", "Pi", "Pf", "Po"})
    print("//! Character classes above ASCII, as sorted ranges. Written by `training/embedding/unicode_ranges.py`.\n")
    print(rust("DROPPED", "Control, format and private-use characters: a text is read as if they were not there.", dropped))
    print()
    print(rust("MARKS", "Accents that stand alone after decomposition (category Mn): dropped.", marks))
    print()
    print(rust("PUNCTUATION", "Punctuation (category P): a word of its own.", punctuation))


if __name__ == "__main__":
    main()
