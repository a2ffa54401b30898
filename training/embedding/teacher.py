#!/usr/bin/env python3
"""Lets the teacher read the corpus: the slow part, done once.

    teacher.py --corpus DIR --teacher DIR --out FILE.npz [--threads 2] [--texts N]

Keeps, as arrays of one .npz file:
  vectors   the teacher's vector of every text, length 1, float16
  states    per token id, the mean of the teacher's last hidden state wherever the token occurs
  counts    how often that was
  alone     per token id, the teacher's vector of the token by itself, for tokens the corpus hardly has

A shard that is done is kept beside the file, so that an interrupted run goes on where it stopped. On a busy machine two
processes of one thread are faster than one of two: start them with `--share 0/2` and `--share 1/2`, which read every
second shard and stop; a last run without it joins the shards.
"""
import argparse
import os
import time

import numpy as np
import torch

import corpus

SHARD = 4000
# Tokens in a batch: small enough for the cache of an ordinary processor, large enough to keep it busy.
BATCH_TOKENS = 3200


def load_model(folder):
    """bfloat16: the vectors keep a cosine above 0.9999 to those in float32, in half the time."""
    from transformers import AutoModel

    return AutoModel.from_pretrained(folder, attn_implementation="sdpa").eval().to(torch.bfloat16)


def tokens_alone(model, begin, end):
    n_tokens = model.config.vocab_size
    alone = np.zeros((n_tokens, model.config.hidden_size), np.float32)
    for first in range(0, n_tokens, 1024):
        token = torch.arange(first, min(first + 1024, n_tokens))
        ids = torch.stack([torch.full_like(token, begin), token, torch.full_like(token, end)], 1)
        states = model(input_ids=ids, attention_mask=torch.ones_like(ids)).last_hidden_state
        alone[first:first + len(token)] = states.float().mean(1).numpy()
    return alone


def batches(encodings):
    """Positions in batches of similar length, about `BATCH_TOKENS` tokens each."""
    todo = sorted(range(len(encodings)), key=lambda k: len(encodings[k].ids))
    while todo:
        width = len(encodings[todo[min(15, len(todo) - 1)]].ids)
        size = max(8, min(192, BATCH_TOKENS // width))
        yield todo[:size]
        todo = todo[size:]


def padded(encodings, batch):
    width = max(len(encodings[k].ids) for k in batch)
    ids, mask = torch.zeros(len(batch), width, dtype=torch.long), torch.zeros(len(batch), width, dtype=torch.long)
    for row, k in enumerate(batch):
        ids[row, : len(encodings[k].ids)] = torch.tensor(encodings[k].ids)
        mask[row, : len(encodings[k].ids)] = 1
    return ids, mask


def read_shard(model, encodings):
    n_tokens, size = model.config.vocab_size, model.config.hidden_size
    states, counts = torch.zeros(n_tokens, size), torch.zeros(n_tokens)
    vectors = np.zeros((len(encodings), size), np.float16)
    for batch in batches(encodings):
        ids, mask = padded(encodings, batch)
        hidden = model(input_ids=ids, attention_mask=mask).last_hidden_state.float()
        mean = (hidden * mask.unsqueeze(-1)).sum(1) / mask.sum(1, keepdim=True)
        length = mean.norm(dim=1, keepdim=True)
        real = mask.bool()
        states.index_add_(0, ids[real], (hidden / length.unsqueeze(1))[real])
        counts.index_add_(0, ids[real], torch.ones(int(real.sum())))
        vectors[batch] = (mean / length).half().numpy()
    return vectors, states.numpy(), counts.numpy()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("corpus", "teacher", "out"):
        parser.add_argument("--" + name, required=True)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--texts", type=int, default=10**9, help="read only so many texts, a fair sample of all")
    parser.add_argument("--share", default="0/1", help="read only shards k, k + n, k + 2n, ... and join nothing: k/n")
    args = parser.parse_args()
    turn, n_turns = map(int, args.share.split("/"))
    torch.set_num_threads(args.threads)
    texts = corpus.load(args.corpus).first(args.texts).texts
    tokens = corpus.tokenizer(args.teacher, corpus.TEACHER_TOKENS)
    model, start, parts = load_model(args.teacher), time.time(), []
    with torch.inference_mode():
        for first in range(0, len(texts), SHARD):
            path = f"{args.out}.{first // SHARD}.npz"
            if first // SHARD % n_turns != turn:
                continue
            if not os.path.exists(path):
                vectors, states, counts = read_shard(model, tokens.encode_batch(texts[first:first + SHARD]))
                np.savez(path + ".part.npz", vectors=vectors, states=states, counts=counts)
                os.replace(path + ".part.npz", path)
            parts.append(path)
            print(f"teacher: {min(first + SHARD, len(texts))} of {len(texts)} texts, {time.time() - start:.0f} s", flush=True)
        if n_turns > 1:
            return
        if not os.path.exists(args.out + ".alone.npy"):
            np.save(args.out + ".alone.npy", tokens_alone(model, tokens.token_to_id("[CLS]"), tokens.token_to_id("[SEP]")))
    join(parts, np.load(args.out + ".alone.npy"), args.out)


def join(parts, alone, out):
    shards = [np.load(path) for path in parts]
    counts = sum(shard["counts"] for shard in shards)
    states = sum(shard["states"] for shard in shards) / np.maximum(counts, 1)[:, None]
    np.savez(out, vectors=np.concatenate([s["vectors"] for s in shards]), states=states, counts=counts, alone=alone)
    for path in [*parts, out + ".alone.npy"]:
        os.remove(path)


if __name__ == "__main__":
    main()
