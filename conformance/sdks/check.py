"""Do the official SDKs accept what toolcrib emits, and does toolcrib read what they write?

    python3 conformance/sdks/check.py [PATH/TO/toolcrib]

Without a path the program is built with cargo. A missing SDK is reported as not checked. Exit code 1 when anything is
refused. Nothing is sent anywhere.
"""

import json
import subprocess
import sys
from pathlib import Path

import payloads
import turns

ROOT = Path(__file__).resolve().parents[2]
MODES = ["full", "hybrid", "native", "gateway", "files"]
# Catalog and profile.
CATALOGS = [("examples/github", "core"), ("examples/universal-agent", None)]


def program():
    """The command that runs toolcrib."""
    if len(sys.argv) > 1:
        return [str(Path(sys.argv[1]).resolve())]
    subprocess.run(["cargo", "build", "--locked", "--quiet"], cwd=ROOT, check=True)
    metadata = subprocess.run(
        ["cargo", "metadata", "--format-version", "1", "--no-deps", "--locked"],
        cwd=ROOT, check=True, capture_output=True, text=True,
    )
    return [str(Path(json.loads(metadata.stdout)["target_directory"]) / "debug" / "toolcrib")]


def run(command, arguments, stdin=None):
    """What one command prints, as JSON, and how it ended."""
    given = {"input": stdin} if isinstance(stdin, (str, type(None))) else {"stdin": stdin}
    done = subprocess.run(command + arguments, cwd=ROOT, capture_output=True, text=True, **given)
    printed = json.loads(done.stdout) if done.stdout.strip() else None
    return done.returncode, printed, done.stderr


def variants(provider, mode):
    """Options that change what is bound."""
    if mode == "hybrid":
        return [[], ["--deferred", "compact"]]
    if mode == "native" and provider == "anthropic":
        return [[], ["--cache", "on"], ["--search", "regex"]]
    if mode == "files":
        return [[], ["--discovery"]]
    if mode in ("full", "native") and provider in ("anthropic", "bedrock"):
        return [[], ["--cache", "on"]]
    return [[]]


def check_payloads(command, provider, check):
    """One line a mode; how many were refused."""
    refused = 0
    for mode in MODES:
        results = []
        for catalog, profile in CATALOGS:
            for variant in variants(provider, mode):
                of = [catalog] + (["--profile", profile] if profile else [])
                code, body, errors = run(
                    command, ["payload", *of, "--provider", provider, "--mode", mode, *variant]
                )
                why = errors.strip()[-300:] if code else payloads.refusal(check, body)
                results.append((f"{catalog} {' '.join(variant)}".strip(), why))
        bad = [f"{what}: {why}" for what, why in results if why]
        refused += len(bad)
        print(f"{provider:20} {mode:8} {'refused' if bad else 'ok'}  {len(results)} payloads")
        for line in bad:
            print(f"    {line}")
    return refused


def main():
    command = program()
    refused = 0
    for provider, module, check in payloads.CHECKS:
        if not payloads.installed(module):
            note = [f"payloads for {provider} against its SDK", f"{module} is not installed"]
            refused += subprocess.run([ROOT / ".ci/not_checked", *note]).returncode
            continue
        refused += check_payloads(command, provider, check)
        refused += turns.check(command, run, provider)
    print("all accepted" if refused == 0 else f"{refused} refused")
    return 1 if refused else 0


if __name__ == "__main__":
    sys.exit(main())
