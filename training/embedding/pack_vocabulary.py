#!/usr/bin/env python3
"""Packs a WordPiece vocabulary so that it is looked up where it lies, without building anything first.

    pack_vocabulary.py --vocabulary vocab.txt --out crates/memdir-core/assets/embedding/vocabulary.bin

The file, little-endian: 65,536 slots of u16 (a token id, 0xFFFF for none); one u32 per token and one more, where each
token begins in the bytes that follow; the bytes of all tokens. The slot of a token is its hash, or the next free one
after it. The hash is 32-bit FNV-1a, its upper half folded into the lower; a piece inside a word is hashed with the
`##` it is written with, so the reader can begin from a constant. memdir_core::embed::vocabulary is the reader.
"""
import argparse
import struct

SLOTS, NONE = 1 << 16, 0xFFFF


def slot_of(token):
    value = 0x811C9DC5
    for byte in token:
        value = (value ^ byte) * 0x01000193 & 0xFFFFFFFF
    return (value ^ value >> 16) % SLOTS


def pack(tokens):
    slots = [NONE] * SLOTS
    for number, token in enumerate(tokens):
        slot = slot_of(token)
        while slots[slot] != NONE:
            slot = (slot + 1) % SLOTS
        slots[slot] = number
    starts = [0]
    for token in tokens:
        starts.append(starts[-1] + len(token))
    return struct.pack(f"<{SLOTS}H{len(starts)}I", *slots, *starts) + b"".join(tokens)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--vocabulary", required=True)
    parser.add_argument("--out", required=True)
    args = parser.parse_args()
    with open(args.vocabulary, "rb") as file:
        tokens = file.read().decode("utf-8").removesuffix("\n").split("\n")
    packed = pack([token.encode("utf-8") for token in tokens])
    with open(args.out, "wb") as file:
        file.write(packed)
    print(f"{len(tokens)} tokens, {len(packed)} bytes, longest {max(len(t.encode()) for t in tokens)} bytes")


if __name__ == "__main__":
    main()
