#!/usr/bin/env python3
"""Fails on a sentence of a comment or a document that is hard to read.

usage: sentences.py ROOT      checks the comments of all source files below ROOT, and its documents
       sentences.py --self    checks the rule itself on made-up files

A sentence has at most 25 words and does not open with a word of OPENERS: its subject comes first.
A word consists of letters. Numbers, symbols, paths, identifiers, code, quotations, and parentheses
with a source do not count. Tables, fenced blocks and indented lines (formulas, commands) are not
sentences. No file is exempt.
"""

import re
import sys
from pathlib import Path

MOST_WORDS = 25
OPENERS = re.compile(r"(of|the same|what|that|whether|how (many|much)|where|beside)(?=[\s,;:.]|$)", re.IGNORECASE)
FOLDERS = ["hardware", "model", "report", "sweep", "tests", "bench", "examples"]
DATA = re.compile(r"/(golden|data)/")  # expected output, and files of other programs
HASH = (".py", ".sh", ".toml", ".cmake", ".sbatch", "CMakeLists.txt", "Containerfile")
NOT_WORDS = re.compile(r"`[^`]*`|\"[^\"]*\"|https?://\S+|\([^()]*[\d_/.:][^()]*\)")
WORD = re.compile(r"[\W_]*([A-Za-z][A-Za-z'-]+|a|A)[\W_]*")
SENTENCE_END = re.compile(r"(?<=[.!?])[)\"*]*\s+(?=\S)|(?<=[:;])\s+(?=[A-Z`\"(])")
ITEM = re.compile(r"([-*]|\d+\.) +")


def lines_of(name, text):
    """Yields (line, column, text, starts) for each line of prose; `starts`: it begins a block."""
    if name.endswith(".md"):
        return markdown_lines(text)
    mark = "#" if name.endswith(HASH) else "//"
    return comment_lines(text, mark, name.endswith(".py"))


def markdown_lines(text):
    fenced = False
    for number, line in enumerate(text.splitlines()):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif not fenced and not re.match(r"\s*[|!<]", line):
            yield number, 0, re.sub(r"\]\([^)]*\)", "]", line), line.startswith("#")


def comment_lines(text, mark, docstrings):
    whole = re.compile(rf"^(\s*){mark}[/!#]*<?(.*)$")
    trailing = re.compile(rf"^(.*[^\s:]\s+){mark}[/!]*<?(\s.*)$")
    in_docstring = False
    for number, line in enumerate(text.splitlines()):
        opens = docstrings and line.lstrip().startswith('"""')
        if in_docstring or opens:
            body = line.replace('"""', "", 1) if opens and not in_docstring else line
            closes = '"""' in body
            yield number, -1, body.split('"""')[0], opens and not in_docstring
            in_docstring = not closes
        elif found := whole.match(line):
            if not line.startswith("#!"):
                yield number, len(found[1]), found[2], False
        elif (found := trailing.match(line)) and found[1].count('"') % 2 == 0:
            yield number, len(found[1]), found[2], True


def paragraphs(name, text):
    """Runs of lines that belong together, as lists of (line, text without indentation)."""
    run, place, base, margin = [], None, 0, 0
    for number, column, prose, starts in lines_of(name, text):
        words = prose.lstrip()
        depth = len(prose) - len(words)
        new_block = starts or place != (number - 1, column)
        place = (number, column)
        if new_block:
            base = depth
        item = ITEM.match(words)
        indented = depth > (base if new_block or not run else margin) + 1 and not item
        if run and (new_block or item or indented or not words):
            yield run
            run = []
        if words and not indented:
            margin = max(margin, depth) if run else depth + (item.end() if item else 0)
            run.append((number, words))
    if run:
        yield run


def sentences(paragraph):
    text = " ".join(words for _, words in paragraph)
    return SENTENCE_END.split(ITEM.sub("", text, count=1) if ITEM.match(text) else text)


def judge(sentence):
    """The reason why a sentence is hard to read; None: it is not."""
    words = sum(1 for token in NOT_WORDS.sub(" ", sentence).split() if WORD.fullmatch(token))
    if words > MOST_WORDS:
        return f"{words} words, at most {MOST_WORDS}"
    found = OPENERS.match(sentence.lstrip("#(\"* "))
    return f'opens with "{found[0]}"' if found and words > 1 else None


def hard_sentences(name, text):
    for paragraph in paragraphs(name, text):
        for sentence in sentences(paragraph):
            if reason := judge(sentence):
                yield f"{name}:{paragraph[0][0] + 1}: {reason}: {sentence}"


def check_the_rule():
    long = "Word" + " word" * (MOST_WORDS - 1)
    wrong = [("a.cpp", f"// {long} word.\n"), ("a.hpp", f"int a;  // {long}\n        // word\n"),
             ("a.cpp", "// Right.\n// Of a card.\n"), ("a.toml", "# Whether it fits.\n"),
             ("a.py", f'def f():\n    """{long}\n    word."""\n'), ("a.md", f"* {long}\n  word\n"),
             ("a.sh", "x=1  # what is left\n")]
    right = [("a.cpp", f"// {long}. {long}.\n"), ("a.cpp", f'f("// {long} word");\n'), ("a.cpp", f"//\n//   {long} word\n"),
             ("a.cpp", f"// {long} 12 a_b `word word` (vLLM 0.19 a.py: word word)\n"),
             ("a.md", f"| {long} | word |\n"), ("a.md", f"```\n{long} word\n```\n"), ("a.md", f"{long}\n\nword\n")]
    for name, text in wrong:
        assert list(hard_sentences(name, text)), text
    for name, text in right:
        assert not list(hard_sentences(name, text)), text


def main():
    if sys.argv[1:] == ["--self"]:
        return check_the_rule()
    root = Path(sys.argv[1])
    files = [*sorted(root.glob("*.md")), root / "CMakeLists.txt",
             *(file for folder in FOLDERS for file in sorted((root / folder).rglob("*")))]
    files = [file for file in files if file.name.endswith((".cpp", ".hpp", ".def", ".md", *HASH))
             and not DATA.search(str(file.relative_to(root)))]
    found = [text for file in files
             for text in hard_sentences(str(file.relative_to(root)), file.read_text(encoding="utf8"))]
    print("\n".join(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
