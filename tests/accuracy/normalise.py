#!/usr/bin/env python3
"""Measurements in their sources' words into rows whose columns are the flags of a scenario.

Usage: normalise.py IN.csv > OUT.csv

The columns of IN.csv are those of tests/accuracy/README.md. A row that lacks what an estimate
needs says so in the column `missing`.
"""
import argparse
import pathlib
import sys

sys.dont_write_bytecode = True

from normalise.catalogue import Cards, Models  # noqa: E402 (the folder is found first)
from normalise.rows import normalise  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('file', help='measurements, as CSV')
    parser.add_argument('--headroom', default=ROOT / 'build/release/headroom',
                        help='the program, which knows the names of models')
    parser.add_argument('--models', help='a folder of configs of more models')
    asked = parser.parse_args()
    if not pathlib.Path(asked.headroom).exists():
        parser.error(f'{asked.headroom}: no such program; build it, or name it by --headroom')
    catalogue = (Cards(ROOT / 'hardware/catalogue'),
                 Models(asked.headroom, ROOT / 'sweep/names/models.tsv', asked.models))
    with open(asked.file, newline='', encoding='utf-8-sig') as lines:
        normalise(lines, sys.stdout, catalogue)


if __name__ == '__main__':
    main()
