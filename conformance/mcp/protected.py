"""Do the official clients for Python sign in to toolcrib's MCP transport, and request scopes that a call lacks?

    python3 conformance/mcp/protected.py PATH/TO/toolcrib PATH/TO/issuer [NODE FOLDER]

Every mode of the client: people by a browser, which a redirect stands for, and agents with client credentials. With NODE and the
folder of the npm packages, the clients for TypeScript do the same. Exit code 1 when anything is not as it should be.
"""

import asyncio
import json
import shutil
import subprocess
import sys
import tempfile
import warnings
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import httpx2
from mcp import MCPError
from mcp.client import Client
from mcp.client.auth import OAuthClientProvider
from mcp.client.auth.extensions.client_credentials import ClientCredentialsOAuthProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import AuthorizationCodeResult, OAuthClientMetadata

import serving

MODES = ["auto", "legacy", "2026-07-28"]
CLIENT, SECRET = "agent", "test-secret-of-the-agent"
DOCUMENT = "https://client.example.com/metadata.json"
CALLBACK = "http://127.0.0.1:8976/callback"
TOOLS = [
    {"name": name, "description": f"{name} of the catalog.", "effect": effect,
     "parameters": {"type": "object", "properties": {}}, "backend": {"type": "static", "content": f"done: {name}"}}
    for name, effect in [("read_note", "read"), ("write_note", "write")]
]
GRANTS = """
[exec]
allow = "write"
[profile.notes]
include = ["*"]
[[serve.issuer]]
issuer = "ISSUER"
[[serve.issuer.grant]]
scope = "tools:read"
[[serve.issuer.grant]]
scope = "tools:write"
allow = "write"
"""


@contextmanager
def issuing(program):
    """The issuer of the tests; its address."""
    process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        url = process.stdout.readline().strip()
        known = {"client_id": CLIENT, "client_secret": SECRET, "redirect_uris": [CALLBACK]}
        httpx2.post(f"{url}/control/client", json=known).raise_for_status()
        yield url
    finally:
        process.stdin.close()
        process.wait(timeout=20)


@contextmanager
def protected(program, issuer):
    """The server, which takes the tokens of the issuer; the address of its endpoint."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "tools.json").write_text(json.dumps(TOOLS))
        (Path(folder) / "toolcrib.toml").write_text(GRANTS.replace("ISSUER", issuer))
        with serving.served(program, folder) as url:
            yield url


class Memory:
    """Tokens and registration of one client."""

    def __init__(self):
        self.tokens = self.client = None

    async def get_tokens(self):
        return self.tokens

    async def set_tokens(self, tokens):
        self.tokens = tokens

    async def get_client_info(self):
        return self.client

    async def set_client_info(self, client):
        self.client = client


def person(url, document):
    """A person with a browser, who agrees; the client registers, or shows its metadata document."""
    landed = []

    async def browse(address):
        async with httpx2.AsyncClient(follow_redirects=False) as browser:
            landed.append((await browser.get(address)).headers["location"])

    async def arrive():
        query = parse_qs(urlsplit(landed.pop()).query)
        told = {name: query[name][0] for name in ("code", "state", "iss") if name in query}
        return AuthorizationCodeResult(**told)

    about = OAuthClientMetadata(redirect_uris=[CALLBACK], client_name="check", token_endpoint_auth_method="none")
    return OAuthClientProvider(url, about, Memory(), browse, arrive, client_metadata_url=document)


def agent(url, issuer):
    """A program with client credentials."""
    return ClientCredentialsOAuthProvider(url, Memory(), CLIENT, SECRET, issuer=issuer)


async def check(url, provider, mode):
    """Lists, reads, and writes, which needs a wider token than the first one."""
    async with httpx2.AsyncClient(auth=provider, timeout=30) as http:
        async with Client(streamable_http_client(url, http_client=http), mode=mode) as client:
            assert (await client.list_tools()).tools, "no tools"
            granted = provider.context.current_tokens.scope.split()
            assert "tools:read" in granted and "tools:write" not in granted, f"the first token has {granted}"
            read = await client.call_tool("tool_exec", {"op": "read_note", "args": {}})
            assert not read.is_error and "done: read_note" in str(read), read
            written = await client.call_tool("tool_exec", {"op": "write_note", "args": {}})
            assert not written.is_error and "done: write_note" in str(written), written
            assert "tools:write" in provider.context.current_tokens.scope.split(), "no wider token"


async def refused(url, mode):
    """Without a token a client gets nowhere."""
    try:
        async with Client(url, mode=mode) as client:
            await client.list_tools()
    except BaseException as problem:
        if isinstance(first(problem), (MCPError, httpx2.HTTPStatusError)):
            return
        raise
    raise AssertionError("a client without a token got in")


def first(problem):
    """The first problem of a group."""
    while isinstance(problem, BaseExceptionGroup):
        problem = problem.exceptions[0]
    return problem


async def python(url, issuer):
    endpoints = {"mcp": url, "p/notes/mcp": url.removesuffix("/mcp") + "/p/notes/mcp"}
    ways = {
        "a person, registration": lambda at: person(at, None),
        "a person, metadata document": lambda at: person(at, DOCUMENT),
        "client credentials": lambda at: agent(at, issuer),
    }
    failures = 0
    cases = [(mode, way, path) for mode in MODES for way in [*ways, "no token"] for path in endpoints]
    for mode, way, path in cases:
        at = endpoints[path]
        try:
            checking = refused(at, mode) if way == "no token" else check(at, ways[way](at), mode)
            await asyncio.wait_for(checking, 60)
            print(f"ok      python, {mode}, {path}: {way}")
        except BaseException as problem:
            failures += 1
            problem = first(problem)
            print(f"FAILED  python, {mode}, {path}: {way}: {type(problem).__name__}: {problem}")
    return failures


def main(program, issuer_program, node=None, folder=None):
    with issuing(issuer_program) as issuer, protected(program, issuer) as url:
        failures = asyncio.run(python(url, issuer))
        if node:
            shutil.copy(Path(__file__).with_name("protected.mjs"), folder)
            done = subprocess.run([node, "protected.mjs", url, issuer, CLIENT, SECRET, DOCUMENT], cwd=folder, timeout=600)
            failures += done.returncode
    return 1 if failures else 0


if __name__ == "__main__":
    # The older revision is what is tested.
    warnings.simplefilter("ignore")
    sys.exit(main(*(str(Path(argument).resolve()) for argument in sys.argv[1:5])))
