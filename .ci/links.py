"""Checks that every link of a folder of HTML pages leads to a file in it, and to a place in that file.

    python3 .ci/links.py FOLDER
"""

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    """The links of a page, and the places that others can link to."""

    def __init__(self, text: str):
        super().__init__()
        self.links, self.places = [], set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name in ("href", "src") and value:
                self.links.append(value)
            elif name in ("id", "name") and value:
                self.places.add(value)


def main(root: Path) -> int:
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in sorted(root.rglob("*.html"))}
    broken, count = [], 0
    for path, page in pages.items():
        if path.name in ("404.html", "print.html", "toc.html"):
            continue  # 404 stands at any address, print repeats all pages, and toc is a frame for browsers without scripts
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            count += 1
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if target.is_dir():
                target = target / "index.html"
            places = pages[target].places if target in pages else None
            if not target.is_file() or (parts.fragment and places is not None and unquote(parts.fragment) not in places):
                broken.append(f"{path.relative_to(root)}: {link}")
    print(f"the site has {len(pages)} pages and {count} links, of which {len(broken)} lead nowhere")
    print("\n".join(sorted(set(broken))))
    return 1 if broken or not count else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve()))
