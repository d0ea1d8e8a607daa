"""A program of toolcrib, on the command line and over HTTP, whichever of its options it has."""

import json
import os
import re
import subprocess
import urllib.error
import urllib.request
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ENDED = 60  # seconds that the longest command may take


class Program:
    def __init__(self, path, scratch):
        self.path = str(Path(path).resolve())
        self.environment = {
            "PATH": os.environ["PATH"], "HOME": scratch, "XDG_CACHE_HOME": f"{scratch}/cache",
            "XDG_STATE_HOME": f"{scratch}/state", "XDG_CONFIG_HOME": f"{scratch}/config",
        }
        told = self.run("payload", "--help")[1]
        self.names_catalog = "--catalog" in told
        self.mode = "--mode" if "--mode " in told else "--surface"
        self.core = re.search(r"\[possible values: auto, full[^\]]*\bcore\b", told) is not None

    def run(self, *arguments, given=""):
        """What a command answers: exit code, output, messages."""
        done = subprocess.run(
            [self.path, *map(str, arguments)], input=given.encode(), capture_output=True, cwd=ROOT,
            env=self.environment, timeout=ENDED * 10)
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    def of(self, catalog, command, *arguments, given=""):
        """The same, of a catalog."""
        named = ["--catalog", catalog] if self.names_catalog else [catalog]
        return self.run(command, *arguments, *named, given=given)

    def mode_options(self, mode):
        """Options of a mode. The wide program has two gateways; the one with a profile's full tools stays."""
        return [self.mode, self.named(mode)]

    def named(self, mode):
        return "core" if mode == "gateway" and self.core else mode

    @contextmanager
    def served(self, catalog, profile):
        """The catalog over HTTP, on a free port."""
        command = [self.path, "serve", catalog, "--listen", "127.0.0.1:0", *self.mode_options("full")]
        command += ["--profile", profile] if profile else []
        process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=ROOT, env=self.environment)
        try:
            for line in process.stderr:
                if found := re.search(r"listening on (http://127\.0\.0\.1:\d+)", line):
                    subprocess.Popen(["cat"], stdin=process.stderr, stdout=subprocess.DEVNULL)
                    yield Server(self, found[1])
                    return
            raise SystemExit(f"{catalog} could not be served: exit code {process.wait()}")
        finally:
            process.terminate()
            process.wait(timeout=ENDED)


class Server:
    def __init__(self, program, address):
        self.program, self.address = program, address
        self.mode = "mode" if '"mode"' in self.get("/openapi.json") else "surface"

    def get(self, path, accept="*/*"):
        return self.ask(urllib.request.Request(self.address + path, headers={"accept": accept}))

    def post(self, path, body):
        """The answer to a body, a value or JSON as it stands."""
        text = body if isinstance(body, str) else json.dumps(body, ensure_ascii=False)
        headers = {"content-type": "application/json", "accept": "*/*"}
        return self.ask(urllib.request.Request(self.address + path, text.encode(), headers))

    def ask(self, request):
        try:
            with urllib.request.urlopen(request, timeout=ENDED) as answer:
                return answer.read().decode()
        except urllib.error.HTTPError as refused:
            return f"{refused.code} {refused.read().decode()}"

    def bound(self, job, provider, mode, **options):
        """The answer to `POST /v1/payload` or `/v1/prompt`."""
        return self.post(f"/v1/{job}", {"provider": provider, self.mode: self.program.named(mode), **options})
