"""Versions of llama.cpp by what a source says: a build, an issue of its tracker, or a date."""
import re

from .text import leading_int, lower, month_of


def with_blas(row):
    """True if layers on the CPU were left to BLAS: "BLAS build", "backend=CUDA+BLAS"."""
    notes = lower(row['notes'])
    return ('blas build' in notes and 'no blas' not in notes) or \
        'blas' in lower(row.setting('backend'))


def build_of(said):
    """The number behind " b" or "build "; 0 where there is none."""
    for word in (' b', 'build '):
        for found in re.finditer(re.escape(word), said):
            number = leading_int(said[found.end():])
            if number > 0:
                return number
    return 0


# The first number of an issue or pull request whose builds are all that new: by what changed the rows of versions.
BUILDS_BY_NUMBER = ((7861, 3121), (10598, 4283), (15435, 6325), (19068, 7830), (23862, 9776))


def build_by_number(row):
    """The least build of a source in llama.cpp's own tracker; 0 for other sources, and before June 2024."""
    at = re.search(r'ggml-org/llama\.cpp/(?:issues|pull|discussions)/(\d+)', row['source'])
    number = int(at.group(1)) if at else 0
    return max((build for first, build in BUILDS_BY_NUMBER if first <= number), default=0)


# The first month whose builds are all that new.
BUILDS_BY_MONTH = ((2024, 6, 3121), (2024, 12, 4283), (2025, 9, 6325), (2026, 2, 7830), (2026, 7, 9776))


def build_by_month(said):
    """The least build of a month like "Sep 2026"; 0 where none is named, or it is before June 2024."""
    date = month_of(said) or (0, 0)
    return max((build for year, month, build in BUILDS_BY_MONTH if (year, month) <= date), default=0)


def llama_cpp_version(row, versions):
    said, build = row.said, build_of(row.said) or build_by_month(row.said) or build_by_number(row)
    if re.search(r'llama\.cpp v?0\.\d', said):  # releases after b9775 have such numbers
        return 'llama.cpp-vulkan' if 'vulkan' in said else 'llama.cpp'
    if 'vulkan' in said:  # shaders with matrix units are of December 2024
        old = (' 2023' in said or ' 2024' in said) and 'dec 2024' not in said and \
            'dec 2024' not in lower(row['notes'])
        if old or 0 < build < 4283:
            return 'llama.cpp-vulkan-b4282'
        return 'llama.cpp-vulkan' if build > 9775 else 'llama.cpp-vulkan-b9775'
    if with_blas(row):
        return 'llama.cpp-blas'
    early = (' 2023', 'jan 2024', 'feb 2024', 'mar 2024', 'apr 2024', 'may 2024')
    if any(word in said for word in early) or 0 < build < 3121:
        return 'llama.cpp-b3120'
    if build > 0:
        return versions.row_of('llama.cpp', (build,))
    if ' 2024' in said or ' 2025' in said:
        return 'llama.cpp-b6324' if ' 2024' in said else 'llama.cpp-b7829'
    return 'llama.cpp-b9775'  # most sources name neither build nor date
