#!/usr/bin/env python3
"""train.py DATA BASE FILE [SET]: trains the static model that search embeds on everyday phrases, and writes it as pack.py does.

With SET, the queries and tools of this public set are left out: `fit.py` needs features of queries that the vectors do not
know.

Inputs, all listed here:

- BASE: a table of vectors in the format of model2vec (distilled from all-MiniLM-L6-v2; vocabulary of BERT), or an earlier
  `static.bin`;
- DATA/catalogs: tools of the catalogs in CATALOGS, none of them with everyday requests or among those of `sixty.tsv`;
- DATA/retrieval: labelled queries of the public sets, so that what is known of them stays;
- `phrases.txt`: everyday phrases of these tools, written by hand;
- `wishes.txt`: tools of many kinds that no vendor has, and what people say when they want them;
- `objects.txt`: words of people for objects of tools; ACTIONS: verbs of people for verbs of tools. Phrases are made of both.

A tool is the sum of its pieces as in `meaning.rs` and `index/builder.rs`. Each phrase is to be nearer to its tool than to the tools
of other phrases in the batch, and than to the most similar tools of its own catalog. The table is held near to BASE.
Needs numpy and scipy (requirements.txt). The same inputs give the same bytes on one machine.
"""
import json
import re
import sys
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
from scipy.sparse import csr_matrix

from pack import pack, table, unpack

SEED = 11
HERE = Path(__file__).parent
KEPT_APART = {"stripe-remote", "kubectl-mcp-server", "simplechecklist"}
PUBLIC = ("metatool", "bfcl", "livemcpbench", "toolret-apibank")
STEPS, BATCH, RATE, WARMTH, ANCHOR, HARD, WHOLE = 600, 384, 8e-4, 0.07, 0.02, 10, 0.6
# Share of BASE in the table that is written: what is learned costs less of what was known.
KEPT = 0.3
# Shares of the batches: wishes, phrases by hand, made phrases, public sets, names with their descriptions.
SHARES = {"wishes": 0.5, "hand": 0.15, "made": 0.12, "public": 0.15, "names": 0.08}
MADE_EACH = 3

# Verbs of tools, and what people say for them.
ACTIONS = {
    "create add new insert post register": "create|make|make a new|add|open|start|set up|put in|write|new",
    "delete remove destroy drop clear": "delete|remove|get rid of|throw away|throw out|trash|bin|erase|wipe|drop|take away|kill",
    "cancel stop terminate deactivate disable": "stop|cancel|call off|end|turn off|switch off|shut down|suspend|quit",
    "update edit modify set replace change put patch": "change|edit|update|fix|correct|adjust|rewrite|set|modify",
    "rename": "rename|give another name to|call it something else:",
    "list": "list|show|show me all|what|which|see all|what are the|list my",
    "get fetch read retrieve show view describe": "show|read|open|look at|see|what is|tell me about|show me|get|pull up|check",
    "search find query lookup": "find|search|look for|look up|where is|search for",
    "send publish": "send|shoot off|mail|deliver|publish|put out",
    "enable activate start": "turn on|switch on|enable|activate|start",
    "run execute trigger invoke": "run|start|execute|kick off|do|launch",
    "copy duplicate clone fork": "copy|make a copy of|duplicate|clone|fork",
    "move transfer": "move|put somewhere else|bring over|relocate",
    "upload import": "upload|put up|import|load|bring in",
    "download export": "download|save|export|get a copy of|grab",
    "share invite grant": "share|give access to|invite|let in",
    "restore recover undo": "restore|bring back|undo|recover|get back",
    "verify validate check test": "check|verify|test|is it ok:|confirm",
    "analyze calculate compute": "work out|calculate|analyze|compute|what is",
    "convert translate": "turn into another form:|convert|translate|change",
}
NO_OBJECT = set("by for of the a in and to with from id ids all my api v1 v2 mcp tool on or".split())


def split(text):
    text = re.sub(r"(?<=\w)['’](s|t|re|ve|ll|d|m)\b", "", text)
    text = re.sub(r"([a-z0-9])([A-Z])", r"\1 \2", text)
    return re.findall(r"[a-z]+|[0-9]+", re.sub(r"([A-Z]+)([A-Z][a-z])", r"\1 \2", text).lower())


class Pieces:
    """Words as rows of the table, as `pieces` in meaning.rs."""

    def __init__(self, vocabulary):
        self.rows = {piece: row for piece, row in vocabulary.items() if re.fullmatch(r"(##)?[a-z0-9]+", piece)}
        self.known = {}

    def of(self, word):
        if word not in self.known:
            self.known[word] = self.find(word)
        return self.known[word]

    def find(self, word):
        rows, start = [], 0
        while start < len(word):
            for end in range(len(word), start, -1):
                row = self.rows.get(("##" if start else "") + word[start:end])
                if row is not None:
                    break
            else:
                return []
            rows.append(row)
            start = end
        return [] if len(rows) > 2 and 2 * len(rows) > len(word) else rows

    def matrix(self, texts, size):
        data, columns, starts = [], [], [0]
        for text in texts:
            for row, count in sorted(Counter(row for word in text for row in self.of(word)).items()):
                columns.append(row)
                data.append(count)
            starts.append(len(columns))
        return csr_matrix((np.array(data, np.float32), columns, starts), (len(texts), size))


def tools_of(data):
    """Server, name and description of each tool to train on."""
    found = []

    def add(server, tools):
        for tool in tools:
            found.append((server, tool["name"], re.sub(r"\s+", " ", tool.get("description") or "").strip()))

    catalogs = data / "catalogs"
    for server in json.loads((catalogs / "livemcpbench-servers.json").read_text()):
        for part in server["tools"].values():
            add("livemcpbench " + server["name"], part["tools"])
    for server, tools in json.loads((catalogs / "docker-registry-tools.json").read_text()).items():
        if server not in KEPT_APART:
            add(server, tools)
    for server in json.loads((catalogs / "toucan-nasty-servers.json").read_text()):
        response = server["metadata"]["remote_server_response"]
        add("toucan " + str(server["metadata"].get("server_name")), response["tools"])
    add("bfcl", json.loads((catalogs / "bfcl-functions.json").read_text()))
    paths = json.loads((catalogs / "twilio-openapi.json").read_text())["paths"]
    for path in paths.values():
        for operation in path.values():
            if isinstance(operation, dict) and "operationId" in operation:
                text = operation.get("description") or operation.get("summary") or ""
                add("twilio", [{"name": operation["operationId"], "description": text}])
    return found


def by_hand(tools, without):
    """Phrases by hand, each with the places of the tools that it fits."""
    known = defaultdict(list)
    for place, (server, name, _) in enumerate(tools):
        known[server.split(" ")[0], name].append(place)
    for line in (HERE / "phrases.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            tool, phrases = line.split(": ", 1)
            key = tuple(tool.split(" ", 1))
            if key not in known and key[0] != without:
                raise SystemExit(f"phrases.txt: no tool {tool}")
            for phrase in phrases.split("; ") if key in known else []:
                yield phrase, known[key]


def wishes(tools):
    """Wishes of people, each with the place of its tool; the tools of wishes.txt are added."""
    for line in (HERE / "wishes.txt").read_text().splitlines():
        if line.startswith("= "):
            catalog = line
        elif line and not line.startswith("#"):
            name, text, phrases = line.split(" | ")
            tools.append((catalog, name, text))
            for phrase in phrases.split("; "):
                yield phrase, [len(tools) - 1]


def made(tools, rng):
    """Phrases of a verb and an object."""
    verbs = {verb: said.split("|") for names, said in ACTIONS.items() for verb in names.split()}
    objects = {}
    for line in (HERE / "objects.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            name, said = line.split(": ", 1)
            objects[name] = said.split(", ")
    for place, (server, name, _) in enumerate(tools):
        words = split(name)
        verb = next((word for word in words if word in verbs), None)
        nouns = [word for word in words if word != verb and word not in NO_OBJECT and len(word) > 2]
        if verb is None or not 0 < len(nouns) < 5:
            continue
        for _ in range(MADE_EACH):
            said = []
            for noun in nouns:
                single = noun[:-1] if noun.endswith("s") and noun[:-1] in objects else noun
                choices = objects.get(noun) or objects.get(single) or []
                said.append(choices[rng.integers(len(choices))] if choices and rng.random() < 0.7 else noun)
            article = ("the", "a", "my", "this", "")[rng.integers(5)]
            yield f"{verbs[verb][rng.integers(len(verbs[verb]))]} {article} {' '.join(said)}", [place]


def normalized(sums):
    lengths = np.linalg.norm(sums, axis=1, keepdims=True) + 1e-9
    return sums / lengths, lengths


def back(gradient, unit, lengths):
    """The gradient of a sum, given that of its direction."""
    return (gradient - (gradient * unit).sum(1, keepdims=True) * unit) / lengths


class Adam:
    def __init__(self, values):
        self.first, self.second, self.step = np.zeros_like(values), np.zeros_like(values), 0

    def apply(self, values, gradient, rate):
        self.step += 1
        self.first += 0.1 * (gradient - self.first)
        self.second += 0.001 * (gradient * gradient - self.second)
        first, second = self.first / (1 - 0.9 ** self.step), self.second / (1 - 0.999 ** self.step)
        values -= rate * first / (np.sqrt(second) + 1e-8)


def public(data, tools, without):
    """Labelled queries of the public sets, whose tools are added."""
    for set_ in (set_ for set_ in PUBLIC if set_ != without):
        folder = data / "retrieval" / set_
        known = json.loads((folder / "catalog.json").read_text())
        first = len(tools)
        tools += [("public " + set_, tool["name"], tool.get("description") or "")
                  for tool in (known["tools"] if isinstance(known, dict) else known)]
        places = {name: place for place, (_, name, _) in enumerate(tools[first:], first)}
        rows = [json.loads(line) for line in (folder / "queries.jsonl").read_text().splitlines()]
        for row in rows[:: max(1, len(rows) // 1500)]:
            gold = [places[name] for name in row["gold"] if name in places]
            if gold:
                yield row["query"][:300], gold


def similar(tools, unit):
    """For each tool the most similar ones of its own catalog."""
    servers, found = defaultdict(list), {}
    for place, (server, _, _) in enumerate(tools):
        servers[server].append(place)
    for places in servers.values():
        near = unit[places] @ unit[places].T
        for own, order in zip(places, np.argsort(-near, axis=1, kind="stable")[:, 1: 4 * HARD + 1]):
            found[own] = [places[other] for other in order]
    return found


def train(pairs, tools, pieces, start, rng):
    """The table after training, of the rows that occur; the others stay."""
    size = len(start)
    wholes = pieces.matrix([split(name) + split(text[:300]) for _, name, text in tools], size)
    names = pieces.matrix([split(name) for _, name, _ in tools], size)
    asked = {part: pieces.matrix([split(phrase) for phrase, _ in rows], size) for part, rows in pairs.items()}
    siblings = similar(tools, normalized(wholes @ start)[0])
    used = np.unique(np.concatenate([matrix.indices for matrix in [wholes, names, *asked.values()]]))
    wholes, names = wholes[:, used], names[:, used]
    asked = {part: matrix[:, used] for part, matrix in asked.items()}
    before = start[used]
    values, mean, adam, losses = before.copy(), before.copy(), Adam(before), defaultdict(list)
    for step in range(STEPS):
        part = list(SHARES)[rng.choice(len(SHARES), p=list(SHARES.values()))]
        rows = rng.choice(len(pairs[part]), min(BATCH, len(pairs[part])), replace=False)
        golds = [pairs[part][row][1] for row in rows]
        right = [gold[rng.integers(len(gold))] for gold in golds]
        hard = [other for own in right for other in rng.permutation(siblings[own])[:HARD]]
        # A tool is its whole text, and in another turn its name alone.
        use = wholes if part == "names" or rng.random() < WHOLE else names
        columns = list(dict.fromkeys(right + hard))
        place = {tool: column for column, tool in enumerate(columns)}
        x, y = asked[part][rows], use[columns]
        query, lengths = normalized(x @ values)
        document, sizes = normalized(y @ values)
        scores = query @ document.T / WARMTH
        at = (np.arange(len(rows)), np.array([place[tool] for tool in right]))
        # Another tool that would do, or is described alike, is not wrong.
        alike = document[at[1]] @ document.T > 0.97
        for row, gold in enumerate(golds):
            alike[row, [place[tool] for tool in gold if tool in place]] = True
        alike[at] = False
        scores[alike] = -1e9
        share = np.exp(scores - scores.max(1, keepdims=True))
        share /= share.sum(1, keepdims=True)
        losses[part].append(-np.log(share[at] + 1e-9).mean())
        share[at] -= 1
        share /= WARMTH * len(rows)
        gradient = x.T @ back(share @ document, query, lengths) + y.T @ back(share.T @ query, document, sizes)
        gradient = np.asarray(gradient, np.float32) + ANCHOR / len(rows) * (values - before)
        adam.apply(values, gradient, RATE * (1 - step / STEPS))
        # The mean of the later tables knows less by heart than the last one.
        if 2 * step >= STEPS:
            mean += (values - mean) / (step - STEPS // 2 + 1)
    for part, seen in sorted(losses.items()):
        print(part, "loss", np.mean(seen[:15]).round(3), "to", np.mean(seen[-15:]).round(3))
    after = start.copy()
    after[used] = (1 - KEPT) * mean + KEPT * before
    return after


def read_base(base):
    """The vocabulary, and its table with rows of length one on average."""
    if base.is_file():
        vocabulary, start = unpack(base)
    else:
        vocabulary = json.loads((base / "tokenizer.json").read_text())["model"]["vocab"]
        start = table(base / "model.safetensors").astype(np.float32)
    return vocabulary, start / np.linalg.norm(start, axis=1).mean()


def main():
    data, base, target = map(Path, sys.argv[1:4])
    without = sys.argv[4] if sys.argv[4:] else None
    rng = np.random.default_rng(SEED)
    vocabulary, start = read_base(base)
    tools = [tool for tool in tools_of(data) if tool[0].split(" ")[0] != without]
    pairs = {"hand": list(by_hand(tools, without)), "made": list(made(tools, rng)), "public": list(public(data, tools, without)),
             "wishes": list(wishes(tools))}
    pairs["names"] = [(" ".join(split(name)), [place]) for place, (_, name, text) in enumerate(tools) if len(text) > 20]
    print({name: len(part) for name, part in pairs.items()}, len(tools), "tools")
    values = train(pairs, tools, Pieces(vocabulary), start, rng)
    target.write_bytes(pack(vocabulary, values.astype(np.float64)))
    print(f"{target}: {target.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
