#!/usr/bin/env python3
"""Keeps rows that nothing is fitted to, and the record of who looked at them. tests/accuracy/README.md has the protocol.

  held_out.py half SOURCE…             which half a source belongs to, by its name
  held_out.py score PROGRAM --why TEXT [--set NAME]
                                       scores held-out rows and appends the figures to held_out/looks.tsv; prints groups only
  held_out.py check                    whether every row has a set, every source its half, and the README counts every look
"""
import argparse
import collections
import csv
import datetime
import hashlib
import io
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
COLUMNS = "date commit set group rows scored median p90 inside wrong undecided why".split()
BEGIN, END = "<!-- looks -->\n", "<!-- end of looks -->\n"


class Refused(Exception):
    """A user has to change something first."""


def read(path, **form):
    with open(path, newline="", encoding="utf-8-sig") as file:
        return list(csv.DictReader(file, **form))


def half_of(source, halved_by="repository"):
    """The half of a source by its name. By `repository`, all its files at a commit are one source."""
    if halved_by == "repository":
        source = re.sub(r"^(github:[^@:\s]+@[0-9a-f]+):.*$", r"\1", source)
    return "held_out" if int(hashlib.sha256(source.encode()).hexdigest()[0], 16) % 2 else "fit"


class HeldOut:
    """The rows, sets and looks of a folder such as tests/accuracy."""

    def __init__(self, folder):
        self.folder = folder
        self.sets = read(folder / "held_out/sets.tsv", delimiter="\t")
        self.looks_file = folder / "held_out/looks.tsv"

    def looks(self):
        return read(self.looks_file, delimiter="\t")

    def names(self):
        return list(dict.fromkeys(each["set"] for each in self.sets))

    def entry_of(self, table, row):
        """The entry of sets.tsv that a row is in, if it is in one."""
        prefix, number = re.fullmatch(r"(.*?)-?(\d+)", row).groups()
        found = [each for each in self.sets if (each["table"], each["prefix"]) == (table, prefix)
                 and int(each["first"]) <= int(number) <= int(each["last"])]
        return found[0] if len(found) == 1 else None

    def set_of(self, table, row):
        entry = self.entry_of(table, row)
        return entry and entry["set"]

    def rows(self):
        """Set and record of every held-out row, as canonical rows have it."""
        for path in sorted((self.folder / "canonical/held_out").glob("*.csv")):
            for record in read(path):
                yield path.stem, self.set_of(path.stem, record["id"]), record

    def table(self):
        """The part of the README that counts the looks, in Markdown."""
        rows = collections.Counter(name for _, name, _ in self.rows())
        text = "| set | rows | looks | last look, at commit |\n|---|---:|---:|---|\n"
        for name in self.names():
            seen = list(dict.fromkeys((look["date"], look["commit"], look["why"]) for look in self.looks()
                                      if look["set"] == name))
            last = f"{seen[-1][0]}, {seen[-1][1]}" if seen else "never"
            text += f"| {name} | {rows[name]} | {len(seen)} | {last} |\n"
        return text

    def readme(self, write):
        """True if the README has the table; `write` puts it there."""
        path = self.folder / "README.md"
        text = path.read_text()
        begin, end = text.find(BEGIN), text.find(END)
        if begin < 0 or end < 0:
            raise Refused(f"{path}: no lines {BEGIN.strip()} and {END.strip()} around the table of looks")
        new = text[:begin] + BEGIN + self.table() + text[end:]
        if write:
            path.write_text(new)
        return write or new == text


def git(folder, *arguments):
    done = subprocess.run(["git", "-C", folder, *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        raise Refused(f"git {arguments[0]}: {done.stderr.strip()}")
    return done.stdout.strip()


def commit_of(folder):
    """The commit that is scored. Rows and program must be written down before."""
    # A look writes these two files itself.
    written = (":(exclude)held_out/looks.tsv", ":(exclude)README.md")
    changed = git(folder, "status", "--porcelain", "--untracked-files=no", "--", ":/", *written)
    if changed:
        raise Refused(f"not everything is committed, so no commit says what is scored:\n{changed}")
    return git(folder, "rev-parse", "--short=8", "HEAD")


def percent(text):
    return "" if text in ("", None) else f"{100 * float(text):.1f}"


def scores(program, rows, folder):
    """The groups that `headroom accuracy` makes of canonical rows."""
    with tempfile.TemporaryDirectory() as place:
        files = []
        for table in sorted({table for table, _ in rows}):
            records = [record for each, record in rows if each == table]
            files.append(pathlib.Path(place) / f"{table}.csv")
            with open(files[-1], "w", newline="") as file:
                out = csv.DictWriter(file, records[0].keys(), lineterminator="\n")
                out.writeheader()
                out.writerows(records)
        done = subprocess.run([program, "accuracy", *map(str, files), "--models", str(folder / "held_out/models"), "--format", "json"],
                              capture_output=True, text=True, check=False)
    if done.returncode:
        raise Refused(f"{program} accuracy: {done.stderr.strip()}")
    return done.stdout


def lines_of(answer, date, commit, name, rows, why):
    import json  # noqa: PLC0415 (only here)
    for group in json.loads(answer)["groups"]:
        verdict = "wrong_sure" in group
        yield {"date": date, "commit": commit, "set": name, "group": group["group"], "rows": rows, "scored": group["n"],
               "median": percent(group.get("median")), "p90": percent(group.get("p90")), "inside": percent(group.get("coverage")),
               "wrong": percent(group["wrong_sure"]) if verdict else "", "undecided": percent(group["marginal"]) if verdict else "",
               "why": why}


def score(held_out, program, why, names):
    if not why.strip() or re.search(r"[\t\n]", why):
        raise Refused("--why: say in one line what the look is for")
    for name in names:
        if name not in held_out.names():
            raise Refused(f"--set {name}: no such set; known: {', '.join(held_out.names())}")
    commit = commit_of(held_out.folder)
    date = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d")
    new = []
    for name in names or held_out.names():
        rows = [(table, record) for table, each, record in held_out.rows() if each == name]
        if not rows:  # a set whose collection found none
            continue
        new += lines_of(scores(program, rows, held_out.folder), date, commit, name, len(rows), why)
    with open(held_out.looks_file, "a", newline="") as file:
        csv.DictWriter(file, COLUMNS, delimiter="\t", lineterminator="\n").writerows(new)
    held_out.readme(write=True)
    out = io.StringIO()
    csv.DictWriter(out, COLUMNS, delimiter="\t", lineterminator="\n").writerows(new)
    print("\t".join(COLUMNS), out.getvalue(), sep="\n", end="")
    print(f"written to {held_out.looks_file}: commit it with what follows from it", file=sys.stderr)


def faults(held_out):
    """Lines about what breaks the protocol."""
    for table, name, record in held_out.rows():
        if name is None:
            yield f"held_out/{table}.csv: {record['id']}: in no set, or in several, of held_out/sets.tsv"
    for where in ("held_out", "fit"):
        for path in sorted((held_out.folder / (where if where == "held_out" else ".")).glob("*.csv")):
            for number, record in enumerate(read(path), 2):
                if "id" not in record:  # a table beside the rows, as vllm_graphs.csv
                    if half_of(record["source"], "source") != where:
                        yield f"{path.name} of {where}:{number}: its source belongs to the other half"
                    continue
                entry = held_out.entry_of(path.stem, record["id"])
                if entry and entry["halved_by"] and half_of(record["source"], entry["halved_by"]) != where:
                    yield f"{path.name} of {where}: {record['id']}: its source belongs to the other half"
    for number, look in enumerate(held_out.looks(), 2):
        if list(look) != COLUMNS or look["set"] not in held_out.names() or not (look["date"] and look["commit"] and look["why"]):
            yield f"held_out/looks.tsv:{number}: expected {' '.join(COLUMNS)}, with a known set, a date, a commit and a reason"
    if not held_out.readme(write=False):
        yield "README.md: the table of looks is not that of held_out/looks.tsv; `held_out.py check --write` puts it there"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=pathlib.Path, default=HERE, help="instead of tests/accuracy, for tests")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("half").add_argument("source", nargs="+")
    asked = commands.add_parser("score")
    asked.add_argument("program")
    asked.add_argument("--why", required=True, help="what the look is for, in one line")
    asked.add_argument("--set", action="append", default=[], help="instead of all sets")
    commands.add_parser("check").add_argument("--write", action="store_true", help="the README's table anew")
    asked = parser.parse_args()
    if asked.command == "half":
        for source in asked.source:
            print(half_of(source), source, sep="\t")
        return 0
    held_out = HeldOut(asked.folder)
    try:
        if asked.command == "score":
            score(held_out, asked.program, asked.why, asked.set)
            return 0
        if asked.write:
            held_out.readme(write=True)
        wrong = list(faults(held_out))
    except Refused as refused:
        print(f"held_out.py: {refused}", file=sys.stderr)
        return 1
    print(*wrong, sep="\n", end="\n" if wrong else "")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
