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


# The greatest number of an issue or pull request that was open when llama-server began to reserve
# logits of the last tokens alone.
LLAMA_CPP_LAST_LOGITS = 23861


def before_last_logits(row):
    """True unless the source is newer than that change; most sources name neither build nor date."""
    for kind in ('issues', 'pull', 'discussions'):
        at = row['source'].find(f'ggml-org/llama.cpp/{kind}/')
        if at >= 0:
            return leading_int(row['source'][at:].split('/', 3)[3]) <= LLAMA_CPP_LAST_LOGITS
    return True


# The first month whose builds are all that new.
BUILDS_BY_MONTH = ((2024, 6, 3121), (2024, 12, 4283), (2025, 9, 6325), (2026, 2, 7830), (2026, 7, 9776))


def build_by_month(said):
    """The least build of a month like "Sep 2026"; 0 where none is named, or it is before June 2024."""
    date = month_of(said) or (0, 0)
    return max((build for year, month, build in BUILDS_BY_MONTH if (year, month) <= date), default=0)


def llama_cpp_version(row, versions):
    said, build = row.said, build_of(row.said) or build_by_month(row.said)
    if re.search(r'llama\.cpp v?0\.\d', said):  # releases after b9775 have such numbers
        return 'llama.cpp-vulkan' if 'vulkan' in said else 'llama.cpp'
    if 'vulkan' in said:  # shaders with matrix units are of December 2024
        old = (' 2023' in said or ' 2024' in said) and 'dec 2024' not in said and \
            'dec 2024' not in lower(row['notes'])
        if old or 0 < build < 4283:
            return 'llama.cpp-vulkan-b4282'
        newest = build > 9775 or (build == 0 and not before_last_logits(row))
        return 'llama.cpp-vulkan' if newest else 'llama.cpp-vulkan-b9775'
    if with_blas(row):
        return 'llama.cpp-blas'
    early = (' 2023', 'jan 2024', 'feb 2024', 'mar 2024', 'apr 2024', 'may 2024')
    if any(word in said for word in early) or 0 < build < 3121:
        return 'llama.cpp-b3120'
    if build > 0:
        return versions.row_of('llama.cpp', (build,))
    if ' 2024' in said or ' 2025' in said:
        return 'llama.cpp-b6324' if ' 2024' in said else 'llama.cpp-b7829'
    return 'llama.cpp-b9775' if before_last_logits(row) else 'llama.cpp'
