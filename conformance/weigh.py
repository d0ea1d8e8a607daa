"""What the product weighs, against what it may weigh (`budget.toml`).

    weigh.py              exit code 1 and the difference where a number is over its budget
    weigh.py --lower      write today's numbers into the budget wherever they are lower

Code is each line of Rust in `src/` and `crates/*/src/` that is not blank, a comment or a test: tests are files `tests.rs`,
folders `tests`, and modules with a body under `#[cfg(test)]`. Each crate has a number of its own. A heading is a comment between
blank lines that opens a second topic in a file. Commands are those of `docs/reference/commands.md` without their parts, and words
those of `docs/`. `tests/tidy` counts circles.
"""

import json
import re
import subprocess
import sys
import tomllib
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BUDGET = ROOT / "budget.toml"
TEST_MODULE = re.compile(r"(pub(\(.*?\))? )?mod \w+ *\{")


def tracked(*patterns):
    listed = subprocess.run(["git", "ls-files", "-z", *patterns], cwd=ROOT, check=True, capture_output=True).stdout.decode()
    return [name for name in listed.split("\0") if name and (ROOT / name).is_file()]


def text(name):
    return (ROOT / name).read_text(errors="replace")


def code_lines(source):
    """Lines of code in a file of Rust."""
    lines = iter(source.splitlines())
    counted, tested = 0, False
    for line in lines:
        bare = line.strip()
        if bare.startswith(("#[cfg(test)]", "#[cfg(all(test,")):
            tested = True
            continue
        if tested and TEST_MODULE.match(bare):
            # Texts in tests have braces that no code closes; the module ends where its indentation does.
            end = line[: len(line) - len(line.lstrip())] + "}"
            while (line := next(lines, None)) is not None and line != end:
                pass
        elif bare.startswith("/*"):
            while "*/" not in bare:
                bare = next(lines, "*/")
        elif bare and not bare.startswith("//"):
            counted += 1
        tested = False
    return counted


def headings(source):
    """Comments by themselves between blank lines, such as `// The cursors of lists.`"""
    return len(re.findall(r"(?m)(?:^|\n)\n// [A-Z].*\n(?:// .*\n)*(?=\n)", source))


def is_product(name):
    inside = name.startswith("src/") or re.match(r"crates/[^/]+/(src/|build\.rs)", name)
    return inside and "/tests/" not in name and not name.endswith("/tests.rs")


def settings(schema):
    """Properties of every object that a schema describes."""
    if isinstance(schema, list):
        return sum(map(settings, schema))
    if not isinstance(schema, dict):
        return 0
    own = schema.get("properties")
    return (len(own) if isinstance(own, dict) else 0) + sum(map(settings, schema.values()))


def weigh():
    code, opened = Counter(), 0
    for name in filter(is_product, tracked("src/*.rs", "crates/*.rs")):
        opened += headings(text(name))
        code[name.split("/")[1] if name.startswith("crates/") else "toolcrib"] += code_lines(text(name))
    commands = re.findall(r"^### `toolcrib [\w-]+`$", text("docs/reference/commands.md"), re.MULTILINE)
    return {
        "code": sum(code.values()),
        **code,
        "packages": text("Cargo.lock").count("[[package]]"),
        "settings": settings(json.loads(text("schema/toolcrib.schema.json"))),
        "commands": len(commands),
        "headings": opened,
        "words": sum(len(text(name).split()) for name in tracked("docs/*.md")),
    }


def main():
    weight, budget = weigh(), tomllib.loads(BUDGET.read_text())
    if "--lower" in sys.argv:
        kept = BUDGET.read_text()
        for name, counted in weight.items():
            if counted < budget[name]:
                kept = re.sub(rf"(?m)^{name} = .*$", f"{name} = {counted:_}", kept)
        BUDGET.write_text(kept)
        return 0
    for name, counted in weight.items():
        over = counted - budget[name]
        told = f"{over:,} over the budget of {budget[name]:,}" if over > 0 else f"of {budget[name]:,}"
        print(f"{name:11}{counted:>8,}  {told}")
    return any(counted > budget[name] for name, counted in weight.items())


if __name__ == "__main__":
    sys.exit(main())
