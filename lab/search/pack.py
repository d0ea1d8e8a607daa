#!/usr/bin/env python3
"""pack.py FOLDER FILE: writes the static model that search embeds, from a model in the format of model2vec.

FOLDER has `tokenizer.json` (WordPiece) and `model.safetensors` (a table `embeddings` in f16 or f32). FILE has, in
little-endian byte order:

  16 bytes   "toolcrib model 1"
  u32, u32   number of pieces, number of dimensions
  u32 each   end of each piece's text
  bytes      texts of the pieces, sorted; a piece that continues a word begins with "##"
  u16 each   scale of each row
  i8 each    rows: a vector is its row times its scale

Only pieces of ASCII letters and digits are kept: search splits texts at all other characters. Rounding is the only
loss. The same input gives the same bytes.
"""
import json
import re
import sys
from pathlib import Path

import numpy as np

# Sums of 4,000 pieces fit 32 bits.
LARGEST_SCALE = 4095


def table(path):
    """The vectors of a safetensors file."""
    data = path.read_bytes()
    size = int.from_bytes(data[:8], "little")
    entry = json.loads(data[8:8 + size])["embeddings"]
    start, end = entry["data_offsets"]
    kind = {"F16": "<f2", "F32": "<f4"}[entry["dtype"]]
    return np.frombuffer(data[8 + size + start:8 + size + end], kind).astype(np.float64).reshape(entry["shape"])


def pack(vocabulary, vectors):
    """The bytes of a model."""
    kept = sorted(piece for piece in vocabulary if re.fullmatch(r"(##)?[a-z0-9]+", piece))
    rows = vectors[[vocabulary[piece] for piece in kept]]
    largest = np.abs(rows).max(axis=1)
    unit = largest.max() / 127 / LARGEST_SCALE
    scales = np.maximum(1, np.round(largest / 127 / unit))
    numbers = np.clip(np.round(rows / (scales * unit)[:, None]), -127, 127)
    ends = np.cumsum([len(piece) for piece in kept])
    return b"".join([
        b"toolcrib model 1",
        np.array(rows.shape, "<u4").tobytes(),
        ends.astype("<u4").tobytes(),
        "".join(kept).encode(),
        scales.astype("<u2").tobytes(),
        numbers.astype("i1").tobytes(),
    ])


def unpack(path):
    """The vocabulary of a model, and its vectors."""
    data = path.read_bytes()
    count, size = map(int, np.frombuffer(data, "<u4", 2, 16))
    ends = np.frombuffer(data, "<u4", count, 24)
    texts = 24 + 4 * count
    scales = texts + int(ends[-1])
    pieces = [data[texts + start:texts + end].decode() for start, end in zip([0, *ends[:-1]], ends)]
    scale = np.frombuffer(data, "<u2", count, scales).astype(np.float32)
    numbers = np.frombuffer(data, "i1", count * size, scales + 2 * count).reshape(count, size)
    return {piece: row for row, piece in enumerate(pieces)}, numbers * scale[:, None]


if __name__ == "__main__":
    folder, target = map(Path, sys.argv[1:])
    words = json.loads((folder / "tokenizer.json").read_text())["model"]["vocab"]
    target.write_bytes(pack(words, table(folder / "model.safetensors")))
    print(f"{target}: {target.stat().st_size:,} bytes")
