"""Versions of SGLang by what a source says: a number, or a date."""
import re

from .text import month_of

# Year, month and the newest release on PyPI when that month began, as dates of upload give it. A
# build of a branch or of the main line is of the release before it.
SGLANG_MONTHS = ((2026, 11, (0, 5, 23)), (2026, 10, (0, 5, 20)), (2026, 9, (0, 5, 18)), (2026, 8, (0, 5, 16)),
                 (2026, 7, (0, 5, 14)), (2026, 6, (0, 5, 12)), (2026, 5, (0, 5, 10)), (2026, 3, (0, 5, 9)),
                 (2026, 2, (0, 5, 8)), (2026, 1, (0, 5, 6)), (2025, 12, (0, 5, 5)), (2025, 11, (0, 5, 4)),
                 (2025, 10, (0, 5, 2)), (2025, 9, (0, 5, 1)), (2025, 8, (0, 4, 10)), (2025, 7, (0, 4, 8)),
                 (2025, 5, (0, 4, 6)), (2025, 4, (0, 4, 4)), (2025, 3, (0, 4, 3)), (2025, 2, (0, 4, 2)),
                 (2025, 1, (0, 4, 1)), (2024, 1, (0, 3, 0)))


def sglang_version(row, versions):
    written = re.search(r'sglang v?(\d+)\.(\d+)\.(\d+)', row.said)
    if written:
        return versions.row_of('sglang', tuple(map(int, written.groups())))
    published = row['notes'].lower().partition('published ')[2]
    date = month_of(row.setting('framework').lower()) or month_of(published)
    for year, month, version in SGLANG_MONTHS if date else ():
        if date >= (year, month):
            return versions.row_of('sglang', version)
    return 'sglang'
