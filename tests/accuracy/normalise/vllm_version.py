"""Versions of vLLM by what a source says: a number, an issue of its tracker, or a date."""
import re

from .text import MONTHS, leading_int

# The least number of an issue or pull request of vLLM that was opened after a release. From 0.20 on:
# the largest number that the release's own code names.
VLLM_TRACKER = ((60915, 33), (51540, 28), (41410, 21), (39781, 20), (34500, 16), (26100, 11), (21500, 10),
                (14900, 8), (8100, 6), (2157, 5), (0, 2))

# Year and month in which a minor version was uploaded to PyPI, the last of each month. A date means
# the version that was there when its month began.
VLLM_MONTHS = ((2026, 11, 33), (2026, 10, 32), (2026, 9, 30), (2026, 8, 28), (2026, 7, 26),
               (2026, 6, 24), (2026, 5, 22), (2026, 4, 20), (2026, 3, 18), (2026, 2, 16),
               (2026, 1, 15), (2025, 12, 13), (2025, 10, 11), (2025, 7, 10), (2025, 5, 9), (2025, 3, 8), (2025, 1, 7),
               (2024, 9, 6), (2024, 6, 5), (2024, 3, 4), (2024, 1, 3), (2023, 9, 2))


def of_minor(minor):
    """A version without its last number; 0.2.6 is of the end of 2023, and from then on another row."""
    return (0, 2, 5) if minor == 2 else (0, minor)


def vllm_version(row, versions):
    for found in re.finditer(r'(?=vllm\s*v?([+-]?\d+)\.([+-]?\d+)(?:\.(\d+))?)', row.said):
        between = row.said[found.start() + 4:found.start(1)]
        if 'v' in between and not re.match(r'\s*v', between):
            continue
        version = tuple(int(part) for part in found.groups() if part)
        if (0, 8) <= version < (0, 11) and re.search(r'\bV0\b(?!\.\d)', row.setting('framework')):
            version = (0, 7)  # VLLM_USE_V1=0 runs the engine of before 0.8, until 0.11 removes it
        if any(version[:2]):
            return versions.row_of('vllm', version)
    for kind in ('issues', 'pull'):
        at = row['source'].find(f'vllm-project/vllm/{kind}/')
        if at >= 0:
            number = leading_int(row['source'][at:].split('/', 3)[3])
            for least, minor in VLLM_TRACKER:
                if number > least:
                    return versions.row_of('vllm', of_minor(minor))
    found = re.search(r'vllm (?:in \S+ \d+ )?(%s) (20\d\d)' % '|'.join(MONTHS), row.said)
    if found:
        date = (int(found[2]), MONTHS.index(found[1]) + 1)
        for year, month, minor in VLLM_MONTHS:
            if date > (year, month):
                return versions.row_of('vllm', of_minor(minor))
    return 'vllm-0.2' if ' 2023' in row.said else 'vllm'
