"""Reads what make_corpus.py wrote, the same way for every later step."""
import hashlib
import json
import re
import zlib
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sparse
from tokenizers import Tokenizer

# The teacher was trained on 256 tokens; the table reads the first 512 of a text (memdir_core::embed does the same).
TEACHER_TOKENS, TABLE_TOKENS = 256, 512
# One document in 40 is held back: not trained on, its pairs choose the epoch.
HELD_BACK = 40


@dataclass
class Texts:
    """All texts without repeats, the document of each, and pairs of positions (question, passage)."""

    texts: list
    documents: list
    pairs: np.ndarray

    def first(self, count):
        """The first texts and the pairs among them: a fair sample, since the corpus is in random order."""
        return Texts(self.texts[:count], self.documents[:count], self.pairs[(self.pairs < count).all(1)])

    def held_back(self):
        """A mask over the texts: those of held-back documents."""
        return np.array([zlib.crc32(name.encode()) % HELD_BACK == 0 for name in self.documents])


def load(folder):
    texts, documents, pairs, known = [], [], [], {}

    def position(text, document):
        key = hashlib.sha1(re.sub(r"\W+", " ", text.lower()).strip().encode()).digest()
        if key not in known:
            known[key] = len(texts)
            texts.append(text)
            documents.append(document)
        return known[key]

    for row in map(json.loads, open(folder + "/corpus.jsonl", encoding="utf-8")):
        document = f"{row['source']}/{row['document']}"
        if "text" in row:
            position(row["text"], document)
            continue
        question, passage = position(row["question"], document), position(row["passage"], document)
        if question != passage:
            pairs.append((question, passage))
    return Texts(texts, documents, np.array(pairs, dtype=np.int64).reshape(-1, 2))


def load_all(folders, files):
    """Several corpora as one, with what the teacher said of each: texts, and arrays as teacher.py describes them."""
    parts, arrays = [], [np.load(path) for path in files]
    for folder, array in zip(folders, arrays, strict=True):
        parts.append(load(folder).first(len(array["vectors"])))
    starts = np.cumsum([0] + [len(part.texts) for part in parts])
    counts = sum(array["counts"] for array in arrays)
    states = sum(array["states"] * array["counts"][:, None] for array in arrays) / np.maximum(counts, 1)[:, None]
    joined = Texts(
        [text for part in parts for text in part.texts],
        [document for part in parts for document in part.documents],
        np.concatenate([part.pairs + start for part, start in zip(parts, starts)]),
    )
    vectors = np.concatenate([array["vectors"] for array in arrays])
    return joined, {"vectors": vectors, "states": states, "counts": counts, "alone": arrays[0]["alone"]}


def tokenizer(teacher, limit):
    found = Tokenizer.from_file(teacher + "/tokenizer.json")
    found.no_padding()
    found.enable_truncation(limit)
    return found


def token_counts(teacher, texts):
    """One row per text, one column per token id: how often it occurs. Without [CLS] and [SEP]."""
    tokens = tokenizer(teacher, TABLE_TOKENS)
    starts, columns, values = [0], [], []
    for first in range(0, len(texts), 4096):
        for encoding in tokens.encode_batch(texts[first:first + 4096], add_special_tokens=False):
            ids, counts = np.unique(np.array(encoding.ids, dtype=np.int64), return_counts=True)
            columns.append(ids)
            values.append(counts.astype(np.float32))
            starts.append(starts[-1] + len(ids))
    shape = (len(texts), tokens.get_vocab_size())
    return sparse.csr_matrix((np.concatenate(values), np.concatenate(columns), starts), shape=shape)
