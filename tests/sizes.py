#!/usr/bin/env python3
"""Fails where a source file has more than 300 lines or a function more than 60.

usage: sizes.py ROOT      checks all .cpp, .hpp and .py files of the source folders below ROOT
       sizes.py --self    checks the rule itself on made-up files

Relies on the format that tests/format.sh demands: the line that opens a function ends in "{", and
its closing brace stands at the same depth. Tables (initialisers) are not functions. Lambdas count as
lines of the function around them.
"""

import re
import sys
from pathlib import Path

MOST_LINES, MOST_OF_FUNCTION = 300, 60
FOLDERS = ["hardware", "model", "report", "sweep", "tests", "bench", "examples"]
SCOPE = re.compile(r"^\s*(namespace|extern|struct|class|enum|union|template)\b[^()]*\{$")
OPENS = re.compile(r"^( *)\S.*\{$|^( *)\{$")


def functions(lines):
    """(first line, lines) of each function that is not inside another one."""
    at = 0
    while at < len(lines):
        line = lines[at]
        depth = len(line) - len(line.lstrip())
        opens = line.endswith("{") and not SCOPE.match(line) and not re.search(r"(=|\breturn|[(,]) ?\{$", line)
        if not opens or depth_of(lines, at) > 2 or "(" not in declaration(lines, at):
            at += 1
            continue
        end = next((i for i in range(at, len(lines)) if re.match(rf"^ {{{depth_of(lines, at)}}}\}}", lines[i])), at)
        yield start_of(lines, at) + 1, end - start_of(lines, at) + 1
        at = max(end, at) + 1


def start_of(lines, at):
    """First line of the declaration whose body opens in line `at`."""
    first = at
    while first > 0 and lines[first - 1].strip() and not re.search(r"[;{}:>]$|^\s*(//|#)", lines[first - 1]):
        first -= 1
    return first


def depth_of(lines, at):
    line = lines[start_of(lines, at)]
    return len(line) - len(line.lstrip())


def declaration(lines, at):
    return " ".join(lines[start_of(lines, at) : at + 1])


def too_large(name, text):
    lines = text.splitlines()
    if len(lines) > MOST_LINES:
        yield f"{name}: {len(lines)} lines; at most {MOST_LINES}"
    if name.endswith(".py"):
        return
    for first, length in functions(lines):
        if length > MOST_OF_FUNCTION:
            yield f"{name}:{first}: a function of {length} lines; at most {MOST_OF_FUNCTION}"


def check_the_rule():
    body = "".join(f"  call({i});\n" for i in range(58))
    function = "int f(int a) {\n%s}\n"
    member = "struct S {\n  int f(int a,\n        int b) const {\n%s  }\n};\n"
    table = "const Row rows[] = {\n%s};\n"
    assert not list(too_large("a.cpp", function % body))
    assert list(too_large("a.cpp", function % (body + "  call();\n")))
    assert not list(too_large("a.hpp", member % body[: -len("  call(57);\n")]))
    assert list(too_large("a.hpp", member % body))
    assert not list(too_large("a.cpp", table % (body * 3)))
    assert not list(too_large("a.cpp", "//\n" * 300))
    assert list(too_large("a.cpp", "//\n" * 301))


def main():
    if sys.argv[1:] == ["--self"]:
        return check_the_rule()
    root = Path(sys.argv[1])
    files = [file.relative_to(root) for folder in FOLDERS for file in sorted((root / folder).rglob("*"))]
    found = [text for file in files if file.suffix in (".cpp", ".hpp", ".py")
             for text in too_large(str(file), (root / file).read_text(encoding="utf8"))]
    print("\n".join(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
