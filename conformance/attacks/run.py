"""What does it cost others when strangers take all they can? Time of a healthy caller, and memory before, during and after.

    python3 conformance/attacks/run.py PROGRAM [ATTACK...]

Each attack runs some seconds against a server of its own, on loopback, in a folder that is removed. While it runs, another
caller asks for a call, a search and a page; afterwards the memory is read once more. A line that begins with `FAULT` is a
promise that was broken: that caller waited for over a second or was refused, or the memory is over one and a half times and 32 MB of
what it was. Exit code 1 means faults.
"""

import http.client
import http.server
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

SECONDS = 6
AMY, BOB = ("amy" * 6, "bob" * 6)
ZEROS = b"[" + b"0," * 7_000_000 + b"0]"
OBJECTS = b"[" + b'{"a":0},' * 1_800_000 + b"0]"


class Backend(http.server.BaseHTTPRequestHandler):
    """Answers `/slow` after a while, and the others with small values that are many."""

    def do_GET(self):
        if self.path == "/slow":
            time.sleep(SECONDS)
        body = {"/zeros": ZEROS, "/objects": OBJECTS}.get(self.path, b"{}")
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        try:
            self.wfile.write(body)
        except OSError:
            pass

    def log_message(self, *_):
        pass


def catalog(folder, backend):
    def tool(name, **more):
        text = {"type": "string"}
        parameters = {"type": "object", "properties": {"a": text}}
        return {"name": name, "description": "Gets it.", "effect": "read", "parameters": parameters, **more}

    def at(path):
        return {"type": "http", "server": "b", "method": "GET", "path": path}

    lookahead = {"type": "object", "properties": {"a": {"type": "string", "pattern": r"(?=.*[A-Z])(?=.*\d).{8,}"}}}
    constant = {"type": "static", "content": 1}
    tools = [tool("get_fast", backend=constant), tool("get_costly", parameters=lookahead, backend=constant)]
    tools += [tool(f"get_{name}", backend=at(f"/{name}")) for name in ("slow", "zeros", "objects")]
    (folder / "tools.json").write_text(json.dumps(tools))
    (folder / "toolcrib.toml").write_text(
        f'[[source]]\npath = "tools.json"\ntrust = "run"\n[server.b]\nurl = "http://127.0.0.1:{backend}"\n'
        '[[serve.token]]\nenv = "AMY"\n[[serve.token]]\nenv = "BOB"\n'
    )


class Server:
    def __init__(self, program, folder):
        self.log = open(folder / "log", "w+")
        command = [program, "serve", str(folder), "--listen", "127.0.0.1:0"]
        own = {"PATH": os.environ["PATH"], "HOME": str(folder), "AMY": AMY, "BOB": BOB}
        self.process = subprocess.Popen(command, stderr=self.log, env=own)
        until = time.time() + 30
        while not (found := re.search(r"http://127\.0\.0\.1:(\d+)", Path(self.log.name).read_text())):
            if time.time() > until or self.process.poll() is not None:
                sys.exit("the server does not start: " + Path(self.log.name).read_text()[-500:])
            time.sleep(0.05)
        self.port = int(found[1])

    def ask(self, token, path, body=None, accept="application/json"):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        headers = {"authorization": f"Bearer {token}", "content-type": "application/json", "accept": accept}
        try:
            connection.request("GET" if body is None else "POST", path, body and json.dumps(body), headers)
            answer = connection.getresponse()
            answer.read()
            return answer.status
        finally:
            connection.close()

    def unfinished(self, path, sent):
        stream = socket.create_connection(("127.0.0.1", self.port), timeout=5)
        head = f"POST {path} HTTP/1.1\r\nhost: localhost:{self.port}\r\nauthorization: Bearer {AMY}\r\n"
        stream.sendall(f"{head}content-type: application/json\r\ncontent-length: 1000000\r\n\r\n".encode())
        try:
            stream.sendall(b"x" * sent)
        except OSError:
            pass
        return stream

    def memory(self):
        return int(re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{self.process.pid}/status").read_text())[1]) // 1024


def calls(op, threads, argument=""):
    """One caller's calls of a tool, again and again on so many connections."""

    def attack(server, is_over):
        def send():
            while not is_over.is_set():
                try:
                    server.ask(AMY, "/v1/tool_exec", {"op": op, "args": {"a": argument}})
                except OSError:
                    pass

        started = [threading.Thread(target=send, daemon=True) for _ in range(threads)]
        for thread in started:
            thread.start()
        return started

    return attack


def bodies(server, is_over):
    """Requests that stop just before their end."""
    held = [server.unfinished("/v1/tool_exec", 900_000) for _ in range(400)]
    held += [server.unfinished("/mcp", 1) for _ in range(200)]

    def keep():
        is_over.wait()
        for stream in held:
            stream.close()

    thread = threading.Thread(target=keep, daemon=True)
    thread.start()
    return [thread]


ATTACKS = {
    "bodies that stop half way": bodies,
    "calls of a slow tool": calls("get_slow", 70),
    "arguments that are costly to check": calls("get_costly", 12, "a" * 900_000),
    "answers of seven million values": calls("get_zeros", 6),
    "answers of many small objects": calls("get_objects", 6),
}


def run(program, name, attack, backend):
    folder = Path(tempfile.mkdtemp(prefix="attack-"))
    catalog(folder, backend)
    server = Server(program, folder)
    asked = {
        "call": ("/v1/tool_exec", {"op": "get_fast", "args": {"a": "b"}}, "application/json"),
        "search": ("/v1/tool_search", {"query": "get it"}, "application/json"),
        "page": ("/tools/get_fast.html", None, "text/html"),
    }
    try:
        for path, body, accept in asked.values():
            server.ask(BOB, path, body, accept)
        before = peak = server.memory()
        is_over = threading.Event()
        started = attack(server, is_over)
        time.sleep(0.5)
        slowest, refused, until = {}, 0, time.time() + SECONDS
        while time.time() < until:
            for what, (path, body, accept) in asked.items():
                since = time.time()
                refused += server.ask(BOB, path, body, accept) != 200
                slowest[what] = max(slowest.get(what, 0), time.time() - since)
            peak = max(peak, server.memory())
        is_over.set()
        for thread in started:
            thread.join(40)
        time.sleep(3)
        after = server.memory()
    finally:
        server.process.kill()
        server.process.wait()
        server.log.close()
        shutil.rmtree(folder, ignore_errors=True)
    is_well = not refused and max(slowest.values()) <= 1 and after <= before * 1.5 + 32
    times = ", ".join(f"{what} {took * 1000:.0f} ms" for what, took in slowest.items())
    print(f"{'held ' if is_well else 'FAULT'} {name}: {before} -> {peak} -> {after} MB; slowest {times}; {refused} refused")
    return is_well


def main():
    program, wanted = os.path.abspath(sys.argv[1]), sys.argv[2:]
    backend = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Backend)
    backend.daemon_threads = True
    threading.Thread(target=backend.serve_forever, daemon=True).start()
    chosen = [(name, attack) for name, attack in ATTACKS.items() if not wanted or any(word in name for word in wanted)]
    results = [run(program, name, attack, backend.server_address[1]) for name, attack in chosen]
    sys.exit(not all(results))


if __name__ == "__main__":
    main()
