#!/usr/bin/env python3
"""Compares tests/accuracy/canonical with what the prose rows are read as; --write replaces it.

unseen.csv holds made-up rows; unseen_expected.csv says by hand what some of their columns are."""
import argparse
import csv
import difflib
import io
import pathlib
import sys

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(HERE))

from normalise.catalogue import Cards, Models  # noqa: E402 (the folder is found first)
from normalise.rows import normalise  # noqa: E402


def wrong_of_unseen(catalogue):
    """Number of columns of the made-up rows that differ from the hand-written ones."""
    folder, out, wrong = HERE / 'normalise', io.StringIO(), 0
    with (folder / 'unseen.csv').open(newline='') as lines:
        normalise(lines, out, catalogue)
    found = {row['id']: row for row in csv.DictReader(io.StringIO(out.getvalue()))}
    with (folder / 'unseen_expected.csv').open(newline='') as lines:
        for row in csv.DictReader(lines):
            value = found[row['id']][row['column']]
            if value != row['expected']:
                print(f"{row['id']}: {row['column']} is '{value}', not '{row['expected']}'")
                wrong += 1
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('headroom', help='the program')
    parser.add_argument('--write', action='store_true')
    asked = parser.parse_args()
    root = HERE.parent.parent
    catalogue = (Cards(root / 'hardware/catalogue'),
                 Models(asked.headroom, root / 'sweep/names/models.tsv', HERE / 'held_out/models'))
    wrong = wrong_of_unseen(catalogue)
    for prose in sorted(HERE.glob('*.csv')) + sorted(HERE.glob('held_out/*.csv')):
        if prose.name in ('vllm_graphs.csv', 'llama_breakdown.csv'):  # tables beside the rows
            continue
        stored, out = HERE / 'canonical' / prose.relative_to(HERE), io.StringIO()
        with prose.open(newline='', encoding='utf-8-sig') as lines:
            normalise(lines, out, catalogue)
        if asked.write:
            stored.parent.mkdir(parents=True, exist_ok=True)
            stored.write_text(out.getvalue())
            continue
        before = stored.read_text().splitlines() if stored.exists() else []
        changed = list(difflib.unified_diff(before, out.getvalue().splitlines(), str(stored),
                                            'read now', n=0, lineterm=''))
        wrong += bool(changed)
        print(*changed[:8], sep='\n', end='\n' if changed else '')
    return 1 if wrong else 0


if __name__ == '__main__':
    sys.exit(main())
