"""Does toolcrib sign in to protected servers that are made with the official SDKs, and call them as an operator and for others?

    python3 conformance/mcp/protected_servers.py PATH/TO/toolcrib PATH/TO/issuer PYTHON_OF_VERSION_1 [NODE FOLDER]

Version 2 of the SDK for Python is met on the newer revision; version 1, and the one for TypeScript, on the older. Exit code 1 when
anything is not as it should be.
"""

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

import httpx2

import serving
from protected import CLIENT, SECRET, issuing

# A browser that agrees: it follows the redirects to the page that toolcrib waits at.
BROWSER = """#!{python}
import sys, urllib.request
urllib.request.urlopen(sys.argv[1], timeout=30).read()
"""
DEFINITION = {
    "name": "read_note", "description": "Read one note.", "effect": "read", "server": "notes",
    "parameters": {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]},
    "backend": {"type": "mcp", "server": "notes", "tool": "read_note"},
}
CALL = {"op": "read_note", "args": {"name": "plan"}}


def expect(condition, what):
    if not condition:
        raise AssertionError(what)


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


@contextmanager
def server(command, port, issuer, *scopes):
    """A protected server that wants these scopes; its address."""
    started = [*command, str(port), issuer, CLIENT, SECRET, *scopes]
    process = subprocess.Popen(started, stderr=subprocess.DEVNULL)
    try:
        url = f"http://127.0.0.1:{port}/mcp"
        for _ in range(600):
            try:
                status = httpx2.post(url, json={}).status_code
                expect(status == 401, f"a call without a token got {status}")
                break
            except httpx2.ConnectError:
                time.sleep(0.1)
        yield url
    finally:
        process.terminate()
        process.wait(timeout=20)


class Operator:
    """Somebody with a catalog of one server, and a browser."""

    def __init__(self, program, folder, url, auth="", is_source=True):
        self.program, self.folder = program, Path(folder)
        browser = self.folder / "browser"
        browser.write_text(BROWSER.format(python=sys.executable))
        browser.chmod(0o755)
        table = '[[source]]\nserver = "notes"\n[source.mcp]\n' if is_source else "[server.notes]\n"
        text = f'[exec]\nallow = "write"\n{table}url = "{url}"\n{auth}'
        (self.folder / "toolcrib.toml").write_text(text)
        self.environment = {
            **os.environ, "TOOLCRIB_CATALOG": str(folder), "XDG_STATE_HOME": str(self.folder / "state"), "BROWSER": str(browser), "AGENT_SECRET": SECRET,
        }

    def run(self, *arguments):
        """The exit code of a command, and all that it says."""
        command = [self.program, *arguments]
        given = {"cwd": self.folder, "env": self.environment, "stdin": subprocess.DEVNULL, "timeout": 120}
        done = subprocess.run(command, capture_output=True, text=True, **given)
        return done.returncode, done.stdout + done.stderr

    def call(self):
        return self.run("call", "tool_exec", json.dumps(CALL))

    def login(self):
        code, said = self.run("login", "notes")
        expect(code == 0, f"login: {said}")


def signs_in(program, command, issuer):
    """An operator signs in, calls, refreshes, steps up, and signs out."""
    with tempfile.TemporaryDirectory() as folder:
        port = free_port()
        with server(command, port, issuer, "tools:read") as url:
            operator = Operator(program, folder, url)
            code, said = operator.run("doctor")
            expect(code == 1 and "toolcrib login notes" in said, f"doctor before the sign-in: {said}")
            httpx2.post(f"{issuer}/control/behaviour", json={"token_seconds": 1}).raise_for_status()
            operator.login()
            httpx2.post(f"{issuer}/control/behaviour", json={"token_seconds": 3600}).raise_for_status()
            time.sleep(2)
            code, said = operator.call()
            expect(code == 0 and "note plan" in said, f"a call after the first token has expired: {said}")
            code, said = operator.run("doctor")
            expect(code == 0 and "signed in" in said, f"doctor after the sign-in: {said}")
        with server(command, port, issuer, "tools:read", "tools:write"):
            code, said = operator.call()
            expect(code == 1 and "login" in said, f"a call that needs another scope: {said}")
            operator.login()
            code, said = operator.call()
            expect(code == 0 and "note plan" in said, f"a call with the wider token: {said}")
            code, said = operator.run("login", "notes", "--sign-out")
            expect(code == 0, f"login --sign-out: {said}")
            code, said = operator.call()
            expect(code == 1 and "SIGN_IN_REQUIRED" in said, f"a call after the sign-out: {said}")


def serves_agents(program, command, issuer):
    """toolcrib is a client of its own, with client credentials."""
    auth = f'\n[source.mcp.auth]\nas = "service"\nissuer = "{issuer}"\nclient_id = "{CLIENT}"\nclient_secret = "${{AGENT_SECRET}}"\nscopes = ["tools:read"]\n'
    with tempfile.TemporaryDirectory() as folder, server(command, free_port(), issuer, "tools:read") as url:
        code, said = Operator(program, folder, url, auth).call()
        expect(code == 0 and "note plan" in said, f"a call as a service: {said}")


def passes_on(program, command, issuer):
    """A caller's own token goes to the server; one for another resource is refused there."""
    with tempfile.TemporaryDirectory() as folder, server(command, free_port(), issuer, "tools:read") as url:
        (Path(folder) / "tools.json").write_text(json.dumps([DEFINITION]))
        Operator(program, folder, url, '[server.notes.auth]\nas = "caller"\n', is_source=False)
        with serving.served(program, folder) as endpoint:
            root = endpoint.removesuffix("/mcp")
            asked = {"grant_type": "client_credentials", "scope": "tools:read"}
            for resource, is_right in [(url, True), (url + "/other", False)]:
                token = httpx2.post(f"{issuer}/token", data={**asked, "resource": resource}, auth=(CLIENT, SECRET)).json()
                headers = {"Authorization": f"Bearer {token['access_token']}"}
                answer = httpx2.post(f"{root}/v1/tool_exec", json=CALL, headers=headers, timeout=60)
                expect(("note plan" in answer.text) == is_right, f"the token of a caller for {resource}: {answer.text}")


CHECKS = {"a person": signs_in, "a service": serves_agents, "a caller": passes_on}


def main(program, issuer_program, python_1, node=None, folder=None):
    here = Path(__file__).parent
    script = str(here / "protected_server.py")
    servers = {"python 2, newer revision": [sys.executable, script], "python 1, older revision": [python_1, script]}
    if node:
        servers["typescript 1, older revision"] = [node, shutil.copy(here / "protected_server.mjs", folder)]
    failures = 0
    with issuing(issuer_program) as issuer:
        for name, command in servers.items():
            for who, check in CHECKS.items():
                try:
                    check(program, command, issuer)
                    print(f"ok      a server of {name}: {who}")
                except Exception as problem:
                    failures += 1
                    print(f"FAILED  a server of {name}: {who}: {type(problem).__name__}: {problem}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(*(str(Path(argument).absolute()) for argument in sys.argv[1:6])))
