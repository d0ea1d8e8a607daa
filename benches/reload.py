"""Does the server stay right, quick and small while its catalog is written again and again?

    cargo build --release
    python3 benches/reload.py [PROGRAM] [RELOADS]

A catalog of 1,000 tools says in every description which generation it is. Eight connections read docs one after the
other while the file is written anew, each time when the last one is served. No request may fail, and every doc must be
of one generation: the registry version of its answer must be the one with which that generation was served.
"""

import collections
import http.client
import json
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

TOOLS = 1_000
CONNECTIONS = 8
MARKS = (10, 50, 100)
PATIENCE = 30
REGISTRY = re.compile(rb'"registry_version":"(\w+)"')
GENERATION = re.compile(rb"generation (\d+)\b")


def catalog(generation):
    """The text of the catalog in one generation."""
    about = "Argument {} of the operation, which says how thing {} of generation {} is looked up"
    return json.dumps([
        {
            "name": f"look_up_{index}",
            "description": f"Looks up thing {index} in the records, as of generation {generation}. Use it when a question"
            " is about such a thing and nothing more particular is at hand.",
            "category": f"Group {index % 40}",
            "parameters": {
                "type": "object",
                "properties": {
                    f"argument_{number}": {"type": "string", "description": about.format(number, index, generation)}
                    for number in range(4)
                },
                "required": ["argument_0"],
            },
        }
        for index in range(TOOLS)
    ])


def replace(file, text):
    """Puts a file in the place of another in one step, as editors do."""
    beside = file.with_name(".new")
    beside.write_text(text)
    os.replace(beside, file)


def resident(process):
    """Megabytes held now."""
    status = Path(f"/proc/{process.pid}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) / 1024


def served(connection):
    """The registry version that is served."""
    connection.request("GET", "/readyz?verbose")
    return json.loads(connection.getresponse().read())["registry_version"]


class Reader(threading.Thread):
    """Reads docs on one connection until it is stopped."""

    def __init__(self, port, seed, stop):
        super().__init__(daemon=True)
        self.port, self.random, self.stop = port, random.Random(seed), stop
        self.requests, self.slowest, self.failures = 0, 0.0, []
        self.seen = collections.Counter()

    def run(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        connection.connect()
        # With this it does not connect again by itself: a connection that is closed is a failure.
        connection.auto_open = 0
        while not self.stop.is_set():
            self.requests += 1
            try:
                self.read(connection, f"look_up_{self.random.randrange(TOOLS)}")
            except (OSError, http.client.HTTPException) as error:
                self.failures.append(repr(error))
                connection.close()
                connection.connect()

    def read(self, connection, tool):
        body, headers = json.dumps({"name": tool}), {"Content-Type": "application/json"}
        began = time.perf_counter()
        connection.request("POST", "/v1/read_tool_doc", body, headers)
        response = connection.getresponse()
        doc = response.read()
        self.slowest = max(self.slowest, time.perf_counter() - began)
        registry, generations = REGISTRY.search(doc), set(GENERATION.findall(doc))
        if response.status != 200 or registry is None or len(generations) != 1:
            self.failures.append(f"{tool}: {response.status}, generations {sorted(generations)}")
        else:
            self.seen[registry[1].decode(), int(generations.pop())] += 1


def reload(file, connection, generation, last):
    """Writes a generation and waits until it is served: its version, and the seconds it took."""
    text = catalog(generation)
    began = time.perf_counter()
    replace(file, text)
    while (version := served(connection)) == last:
        if time.perf_counter() - began > PATIENCE:
            sys.exit(f"generation {generation} is not served after {PATIENCE} seconds")
        time.sleep(0.01)
    return version, time.perf_counter() - began


def watch(process, file, port, reloads):
    """Reads and reloads; whether all went well."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    version = served(connection)
    versions, took, stop = {version: 0}, [], threading.Event()
    readers = [Reader(port, seed, stop) for seed in range(CONNECTIONS)]
    before = resident(process)
    for reader in readers:
        reader.start()
    time.sleep(2)
    print(f"memory     {before:.1f} MB at the start, {resident(process):.1f} MB while docs are read", flush=True)
    for generation in range(1, reloads + 1):
        version, seconds = reload(file, connection, generation, version)
        versions[version] = generation
        took.append(seconds)
        if generation in MARKS or generation == reloads:
            print(f"           {resident(process):.1f} MB after {generation} reloads", flush=True)
    stop.set()
    for reader in readers:
        reader.join(PATIENCE)
    failures = [failure for reader in readers for failure in reader.failures]
    failures += [f"connection {reader.port} hangs" for reader in readers if reader.is_alive()]
    seen = sum((reader.seen for reader in readers), collections.Counter())
    mixed = {pair: count for pair, count in seen.items() if versions.get(pair[0]) != pair[1]}
    requests, slowest = sum(reader.requests for reader in readers), max(reader.slowest for reader in readers)
    print(f"requests   {requests}, the slowest {slowest * 1000:.0f} ms")
    print(f"failures   {len(failures)} {failures[:5] or ''}")
    print(f"mixtures   {sum(mixed.values())} {list(mixed.items())[:5] or ''}")
    print(f"reloads    {len(took)}, {len({pair[1] for pair in seen})} generations read, median"
          f" {statistics.median(took):.2f} s from the write to the first answer, the slowest {max(took):.2f} s")
    return not failures and not mixed and len(versions) == reloads + 1


def main(program, reloads):
    with tempfile.TemporaryDirectory() as place:
        file = Path(place) / "tools.json"
        replace(file, catalog(0))
        command = [program, "serve", str(file), "--listen", "127.0.0.1:0", "--log-level", "error"]
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        try:
            lines = iter(process.stderr.readline, "")
            port = next((int(line.rsplit(":", 1)[1]) for line in lines if "listening on http://" in line), None)
            if port is None:
                sys.exit("the server did not start")
            threading.Thread(target=process.stderr.read, daemon=True).start()
            is_good = watch(process, file, port, reloads)
        finally:
            process.terminate()
            process.wait(timeout=20)
    sys.exit(0 if is_good else 1)


if __name__ == "__main__":
    program = sys.argv[1] if len(sys.argv) > 1 else "target/release/toolcrib"
    main(program, int(sys.argv[2]) if len(sys.argv) > 2 else max(MARKS))
