#!/usr/bin/env python3
"""Compares memdir's tokens with those of the teacher's own tokenizer, on a large mixed text.

    check_tokens.py --teacher DIR --texts DIR [--lines 400000] [--hardest FILE] [--program target/debug/examples/tokens]

Lines come from the files below `texts` (code, documentation, anything) and from generators: every character of
Unicode between letters, words with accents, Chinese, hangul, emoji with joiners and skin tones, control characters,
long words, random Unicode. Build the program first: `cargo build -p memdir-core --example tokens`.

`--hardest FILE` writes the fixture of the unit test: a few hundred of the lines with the reference's ids.
"""
import argparse
import os
import random
import subprocess
import sys

from tokenizers import Tokenizer

MAX_TOKENS = 512
EVERY = [c for c in range(0x110000) if not 0xD800 <= c <= 0xDFFF]
BLOCKS = [(0x20, 0x7E), (0xA0, 0x24F), (0x300, 0x36F), (0x370, 0x3FF), (0x400, 0x52F), (0x590, 0x6FF), (0x900, 0x97F),
          (0xE00, 0xE7F), (0x1E00, 0x1FFF), (0x2000, 0x206F), (0x20A0, 0x2BFF), (0x3000, 0x30FF), (0x4E00, 0x9FFF),
          (0xAC00, 0xD7A3), (0xF900, 0xFAFF), (0xFE00, 0xFEFF), (0xFF00, 0xFFEF), (0x1D400, 0x1D7FF), (0x1F300, 0x1FAFF)]
SEEDS = ["café", "naïve", "RÉSUMÉ", "Straße", "İstanbul", "ΣΊΣΥΦΟΣ", "Ångström", "o\u0302\u0323", "\u1e69", "中文", "日本語テスト",
         "오늘 회의", "ﬁne", "Ａｂｃ", "[SEP]", "[CLS] [MASK]", "[UNK]", "##ing", "don't", "a\u200db", "🚀", "👩🏽‍💻", "🇩🇪", "x" * 99, "x" * 100,
         "x" * 101, "é" * 100, "é" * 101, "e\u0301" * 100, "\u0000", "\ufffd", "\u00ad", "\u0085", "\u2028", "\u3000", "…", "«x»", "—"]


# ------------------------------------------------------------------ lines
def lines_of_files(root, n_lines, chance):
    """Lines of text files, spread over all files below a folder."""
    paths = [os.path.join(folder, name) for folder, _, names in os.walk(root) for name in names
             if os.path.isfile(os.path.join(folder, name)) and name.endswith((".rs", ".py", ".md", ".html", ".txt", ".c", ".js", ".toml", ".jsonl", ".el", ".yml"))]
    paths.sort()
    chance.shuffle(paths)
    found = []
    for path in paths:
        with open(path, "rb") as file:
            lines = file.read(2_000_000).decode("utf-8", "replace").split("\n")
        found += [line for line in chance.sample(lines, min(len(lines), 120)) if line.strip()]
        if len(found) >= n_lines:
            break
    return found[:n_lines]


def every_character():
    """Each character between letters, eight to a line, so that a wrong class shows in its neighbours."""
    for first in range(0, len(EVERY), 8):
        yield " ".join(f"ab{chr(c)}cd" for c in EVERY[first:first + 8])


def random_word(chance):
    kind = chance.random()
    if kind < 0.3:
        return chance.choice(SEEDS)
    first, last = chance.choice(BLOCKS) if kind < 0.9 else (0, 0x10FFFF)
    length = chance.choice((1, 2, 3, 5, 8, 13, 40)) if chance.random() < 0.97 else chance.randrange(90, 130)
    codes = [chance.randrange(first, last + 1) for _ in range(length)]
    return "".join(chr(c) for c in codes if not 0xD800 <= c <= 0xDFFF)


def random_line(chance):
    glue = chance.choice((" ", "", "\t", "\n", "\u00a0", "-", "_", "\u200b", "\u0301"))
    return glue.join(random_word(chance) for _ in range(chance.randrange(1, 12)))


def damaged_line(line, chance):
    """A real line with accents, joiners or other marks strewn in."""
    marks = ["\u0301", "\u0323", "\u200d", "\ufe0f", "\u00ad", "\u0007", "中", "é", "\u3099", "\u0f71", "İ", "\r\n"]
    for _ in range(chance.randrange(1, 5)):
        at = chance.randrange(len(line) + 1)
        line = line[:at] + chance.choice(marks) + line[at:]
    return line


def mixed_lines(root, n_lines, seed):
    chance = random.Random(seed)
    real = lines_of_files(root, n_lines // 4, chance)
    lines = real + list(every_character()) + SEEDS + [seed_text * 200 for seed_text in ("memory ", "中文", "a.b", "é ")]
    while len(lines) < n_lines:
        lines.append(random_line(chance) if chance.random() < 0.6 else damaged_line(chance.choice(real), chance))
    return lines


# ------------------------------------------------------------------ both sides
def reference(teacher):
    tokenizer = Tokenizer.from_file(teacher + "/tokenizer.json")
    tokenizer.no_padding()
    tokenizer.enable_truncation(MAX_TOKENS)
    tokenizer.encode_special_tokens = True  # a literal [SEP] in a text is text
    return lambda lines: [e.ids for e in tokenizer.encode_batch(lines, add_special_tokens=False)]


def escaped(line):
    return line.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r")


def of_program(program, lines):
    text = "".join(escaped(line) + "\n" for line in lines)
    answer = subprocess.run([program], input=text.encode("utf-8"), capture_output=True, check=True).stdout.decode()
    return [[int(word) for word in line.split()] for line in answer.split("\n")[:-1]]


def hardness(line, ids):
    """Lines of many kinds of characters that still yield known tokens are the ones that show a fault."""
    known = sum(i != 100 for i in ids)
    return len({ord(c) >> 7 for c in line}) * min(known, 20) / (20 + len(line))


def write_hardest(path, lines, ids, count, seed=3):
    chance = random.Random(seed)
    known = dict(zip(lines, ids))
    of_seeds = [(line, known.pop(line)) for line in SEEDS]
    rest = [(line, i) for line, i in known.items() if 3 <= len(line) <= 120 and i]
    rest.sort(key=lambda pair: -hardness(*pair))
    chosen = of_seeds + chance.sample(rest[:4000], count - len(of_seeds))
    with open(path, "w", encoding="utf-8") as file:
        for line, of_line in chosen:
            visible = "".join(c if c.isascii() and c.isprintable() and c != "\\" else f"\\u{{{ord(c):x}}}" for c in line)
            file.write(" ".join(map(str, of_line)) + "\t" + visible + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--teacher", required=True)
    parser.add_argument("--texts", required=True)
    parser.add_argument("--lines", type=int, default=400_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--hardest")
    parser.add_argument("--program", default="target/debug/examples/tokens")
    args = parser.parse_args()
    lines = mixed_lines(args.texts, args.lines, args.seed)
    expected, got = reference(args.teacher)(lines), of_program(args.program, lines)
    assert len(got) == len(lines), f"{len(got)} answers to {len(lines)} lines"
    wrong = [k for k in range(len(lines)) if expected[k] != got[k]]
    print(f"{len(lines)} lines, {sum(map(len, expected))} tokens, {len(wrong)} lines differ")
    for k in wrong[:20]:
        print(ascii(lines[k])[:300], "\n  reference", expected[k][:40], "\n  memdir   ", got[k][:40])
    if args.hardest:
        write_hardest(args.hardest, lines, expected, 300)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
