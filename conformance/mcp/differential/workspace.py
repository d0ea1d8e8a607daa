"""A folder with files for the servers to work on, and a site for them to read: the same for every run."""

import base64
import functools
import http.server
import json
import os
import random
import struct
import subprocess
import threading
import zlib
from contextlib import contextmanager

# Dates of commits and files.
WHEN = 1_700_000_000
# Bytes of a text that is longer than any limit for the context of a model.
LONG = 60_000


def picture(size, seed):
    """A PNG that cannot be compressed."""
    noise = random.Random(seed)
    rows = b"".join(b"\0" + noise.randbytes(size * 3) for _ in range(size))

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", size, size, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def paper():
    """A PDF of one page, with a long stream that is not shown."""
    padding = base64.b85encode(random.Random(1).randbytes(LONG * 2))
    text = b"BT /F1 24 Tf 72 700 Td (A paper) Tj ET"
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>",
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(text), text),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(padding), padding),
    ]
    body, places = b"%PDF-1.4\n", []
    for number, content in enumerate(objects, 1):
        places.append(len(body))
        body += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    end = b"xref\n0 %d\n0000000000 65535 f \n%strailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n"
    return body + end % (len(objects) + 1, table, len(objects) + 1, len(body))


def repository(folder):
    """A repository with two commits, and a change that is in none."""
    def git(*args):
        date = f"{WHEN} +0000"
        env = dict(os.environ, GIT_AUTHOR_DATE=date, GIT_COMMITTER_DATE=date, GIT_CONFIG_GLOBAL="/dev/null")
        name = ["-c", "user.name=Ada", "-c", "user.email=ada@example.com", "-c", "init.defaultBranch=main"]
        subprocess.run(["git", *name, "-C", str(folder), *args], env=env, check=True, capture_output=True)

    folder.mkdir()
    git("init")
    for text in ["one\n", "one\ntwo ü\n"]:
        (folder / "a.txt").write_text(text)
        git("add", "a.txt")
        git("commit", "-m", f"Holds {len(text.split())} lines")
    (folder / "a.txt").write_text("one\ntwo ü\nthree\n")


def prepare(folder):
    """Fills a folder that is empty."""
    notes = folder / "notes"
    notes.mkdir(parents=True)
    (notes / "short.txt").write_text("A note: ü 漢 🎉\n")
    (notes / "empty.txt").write_text("")
    (notes / "long.txt").write_text("".join(f"line {n} é\n" for n in range(LONG // 10)))
    rows = [{"id": n, "name": f"row {n}", "tags": ["a", "ü"]} for n in range(LONG // 40)]
    (notes / "rows.json").write_text(json.dumps({"rows": rows, "total": len(rows)}, indent=1))
    (folder / "picture.png").write_bytes(picture(200, 1))
    (folder / "paper.pdf").write_bytes(paper())
    repository(folder / "repository")
    for path in sorted(folder.rglob("*")):
        if ".git" not in path.parts:
            os.utime(path, (WHEN, WHEN))


class Quiet(http.server.SimpleHTTPRequestHandler):
    """A handler that keeps no log."""

    def log_message(self, *_):
        pass


@contextmanager
def site(folder):
    """A site with one page; its address."""
    folder.mkdir()
    words = "".join(f"<p>Paragraph {n} with some words.</p>" for n in range(200))
    (folder / "page.html").write_text(f"<!doctype html><title>A page</title><link rel=icon href=data:,><h1>Of words</h1>{words}")
    handler = functools.partial(Quiet, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
