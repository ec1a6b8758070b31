"""Settings of labels that the reader knows. A run is not scored by halves of its command line."""
import csv
import pathlib
import re

from .text import Missing


def read_settings():
    path = pathlib.Path(__file__).parent / 'settings.tsv'
    with path.open() as lines:
        return [(re.compile(each['setting'], re.IGNORECASE), each['rows'])
                for each in csv.DictReader(lines, delimiter='\t')]


SETTINGS = read_settings()

# Settings, with words in their value, that no estimate describes.
UNDESCRIBED = (
    ('model_impl', 'transformers', "transformers' own layers under vLLM, where it does not know the class"),
    ('ple_offload_backend', 'file', 'tables of n-grams in a file on disk'),
    ('failure', 'while the engine is built', 'the build of an engine, which takes more than its run'),
)


def refuse_unread(row, kind):
    """Raises Missing for a setting that settings.tsv does not list for rows of `kind`, or that is not described."""
    for key, words, feature in UNDESCRIBED:
        if words in row.setting(key):
            raise Missing(f'feature: {feature}')
    for key in row.settings:
        if not any(pattern.fullmatch(key) and rows in ('both', kind) for pattern, rows in SETTINGS):
            raise Missing(f"settings: '{key}' is not read")
