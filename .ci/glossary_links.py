"""Links the first use of each word of the glossary on a page, and shows its meaning there.

    python3 .ci/glossary_links.py FOLDER      the copied pages, which are changed
"""

import re
import sys
from html import escape
from pathlib import Path

GLOSSARY = Path("docs/glossary.md")
ROW = re.compile(r"^\| \*\*(?P<word>[^*]+)\*\* \| (?P<meaning>.*?) \|$", re.M)
# Text in which no word is linked: code, links, pictures, HTML, and emphasised words that a page explains itself.
LEFT = re.compile(r"`[^`]*`|!?\[[^\]]*\]\([^)]*\)|<[^>]*>|\*\*[^*]*\*\*")


def place(word: str) -> str:
    return "word-" + re.sub(r"\W+", "-", word.lower())


def words(text: str) -> dict[str, str]:
    """The meaning of each word, without marks."""
    return {row["word"]: re.sub(r"[`*]|\]\([^)]*\)|\[", "", row["meaning"]) for row in ROW.finditer(text)}


def with_places(glossary: str) -> str:
    return ROW.sub(lambda row: f'| <a id="{place(row["word"])}"></a>' + row[0].removeprefix("| "), glossary)


def linked(page: str, up: str, meanings: dict[str, str]) -> str:
    """A page with links; `up` leads from its folder to the root."""
    longest_first = sorted(meanings, key=len, reverse=True)
    known = re.compile(r"(?<![\w/.-])(" + "|".join(map(re.escape, longest_first)) + r")(s?)(?![\w/-]|\.\w)", re.I)
    seen, fenced, out = set(), False, []

    def unlinked(left: str) -> str:
        """The word of a link to the glossary that a page has itself, which becomes a link to its place there."""
        own = re.fullmatch(r"\[([^\]]+)\]\([^)]*glossary\.md\)", left)
        return own[1] if own and known.fullmatch(own[1]) else ""

    def link(use: re.Match) -> str:
        word = use[1].lower()
        word = next((known for known in meanings if known.lower() == word), word)
        if word in seen:
            return use[0]
        seen.add(word)
        title = escape(meanings[word], quote=True)
        return f'<a class="word" href="{up}{GLOSSARY}#{place(word)}" title="{title}">{use[0]}</a>'

    for line in page.split("\n"):
        fenced ^= line.lstrip().startswith("```")
        if fenced or line.lstrip().startswith(("```", "#", "<", "|")):
            out.append(line)
            continue
        done, text = 0, ""
        for left in LEFT.finditer(line):
            text += known.sub(link, line[done : left.start()])
            text += known.sub(link, unlinked(left[0])) or left[0]
            done = left.end()
        out.append(text + known.sub(link, line[done:]))
    return "\n".join(out)


def main(root: Path) -> None:
    glossary = root / GLOSSARY
    text = glossary.read_text(encoding="utf-8")
    meanings = words(text)
    glossary.write_text(with_places(text), encoding="utf-8")
    for page in sorted(root.rglob("*.md")):
        name = page.relative_to(root)
        if name in (GLOSSARY, Path("SUMMARY.md")):
            continue
        up = "../" * (len(name.parts) - 1)
        page.write_text(linked(page.read_text(encoding="utf-8"), up, meanings), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
