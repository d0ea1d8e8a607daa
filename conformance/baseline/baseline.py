"""Are the bytes that toolcrib writes still the same?

    baseline.py PROGRAM                      compare with the digests that are checked in
    baseline.py PROGRAM --against OTHER      the difference to another program, or to a folder of --write, as a diff
    baseline.py PROGRAM --write FOLDER       write every piece into a folder
    baseline.py PROGRAM --accept             make what this program writes the baseline

Pieces are what `seed`, `render`, `payload`, `prompt` and `parse` write, the help of every op, and calls of functions, for the
examples and the catalogs of `tests/data`. A commit that means to change bytes accepts them, and says which and why.
`--only CATALOG` takes one catalog. Nothing is sent anywhere.
"""

import argparse
import difflib
import hashlib
import shutil
import sys
import tempfile
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pieces
from program import Program

DIGESTS = Path(__file__).with_name("digests.txt")
# Files of a folder that are named one by one; a larger folder is one line.
NAMED = 12
# Lines of one difference that are printed.
LINES = 60


def record(program, folder, only):
    """Writes every piece of the program below the folder; two catalogs at a time, the longest first."""
    catalogs = [catalog for catalog in pieces.CATALOGS if only in (None, catalog.name)]
    if not catalogs:
        raise SystemExit(f"there is no catalog `{only}`; one of {', '.join(c.name for c in pieces.CATALOGS)}")
    with tempfile.TemporaryDirectory() as scratch, ThreadPoolExecutor(2) as two:
        spoken = Program(program, scratch)
        for done in [two.submit(pieces.write, spoken, catalog, folder / catalog.name) for catalog in catalogs]:
            done.result()


def files(folder):
    """The files below a folder by the folder that holds them, sorted."""
    found = defaultdict(list)
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            parts = path.relative_to(folder).parts
            found["/".join(parts[:3] if len(parts) > 3 else parts[:-1])].append(path)
    return found


def digest(paths, folder):
    taken = hashlib.sha256()
    for path in paths:
        content = path.read_bytes()
        taken.update(f"{path.relative_to(folder).as_posix()} {len(content)}\n".encode() + content)
    return taken.hexdigest()[:16]


def digests(folder):
    """One line for each file, or for each folder of many files: name and hash."""
    lines = []
    for name, paths in files(folder).items():
        if len(paths) > NAMED:
            lines.append(f"{name}/ ({len(paths)} files) {digest(paths, folder)}")
        else:
            lines += [f"{path.relative_to(folder).as_posix()} {digest([path], folder)}" for path in paths]
    return sorted(lines)


def compare_digests(folder, only):
    """Prints what differs from the digests; how many lines that is."""
    kept = DIGESTS.read_text().splitlines()
    before = {line.rpartition(" ")[0]: line for line in kept if only in (None, line.partition("/")[0])}
    after = {line.rpartition(" ")[0]: line for line in digests(folder)}
    named = sorted(before.keys() | after.keys())
    for name in named:
        if before.get(name) != after.get(name):
            print(("differs" if name in before and name in after else "is gone" if name in before else "is new"), name)
    return sum(before.get(name) != after.get(name) for name in named)


def compare_files(before, after):
    """Prints the difference of two folders as a diff; how many files differ."""
    differ = 0
    for name in sorted({p.relative_to(root) for root in (before, after) for p in root.rglob("*") if p.is_file()}):
        old, new = ((root / name).read_bytes() if (root / name).exists() else b"" for root in (before, after))
        if old == new:
            continue
        differ += 1
        lines = list(difflib.unified_diff(
            readable(old), readable(new), f"before/{name}", f"after/{name}", lineterm="", n=1))
        print("\n".join(lines[:LINES]))
        if len(lines) > LINES:
            print(f"... {len(lines) - LINES} more lines")
    return differ


def readable(content):
    """Lines; JSON in one line is broken at its commas, so that a diff shows the place."""
    lines = content.decode(errors="replace").splitlines()
    return [part for line in lines for part in (line.replace(',"', ',\n"').split("\n") if len(line) > 300 else [line])]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=Path)
    parser.add_argument("--against", type=Path)
    parser.add_argument("--write", type=Path)
    parser.add_argument("--accept", action="store_true")
    parser.add_argument("--only")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        after = given.write or Path(scratch) / "after"
        if given.write and after.exists():
            shutil.rmtree(after)
        record(given.program, after, given.only)
        if given.accept:
            lines = DIGESTS.read_text().splitlines() if DIGESTS.exists() else []
            kept = [line for line in lines if given.only and line.partition("/")[0] != given.only]
            DIGESTS.write_text("\n".join(sorted(kept + digests(after))) + "\n")
        elif given.against:
            before = given.against
            if before.is_file():
                before = Path(scratch) / "before"
                record(given.against, before, given.only)
            elif given.only:
                raise SystemExit("--only needs a program as --against")
            differ = compare_files(before, after)
            print(f"{differ} files differ")
            return differ != 0
        elif not given.write:
            differ = compare_digests(after, given.only)
            print(f"baseline: {differ} of the pieces differ" if differ else "baseline: the same bytes")
            return differ != 0


if __name__ == "__main__":
    sys.exit(main())
