"""The optimizer of a training row, by the program's names."""
import re

from .text import Missing, lower

# transformers' names of torch's AdamW (training_args.py OptimizerNames) and of its loops. Other
# words are passed on.
OPTIMIZERS = {'adamw-torch': 'adamw-foreach', 'adamw-torch-fused': 'adamw'}


def is_before_fused_steps(row):
    """True if transformers' default of torch 2.8 (August 2025), AdamW(fused=True), was to come
    (transformers training_args.py default_optim). Rows without a date are older."""
    written = lower(row.setting('framework'))
    year = re.search(r'\b(20\d\d)\b', written)
    month = re.search(r'\b(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec) 20\d\d', written)
    late = month is not None and month[1] in ('aug', 'sep', 'oct', 'nov', 'dec')
    return year is None or (int(year[1]), late) < (2025, True)


def optimizer_of(row, script):
    if lower(row['task']).startswith('badam'):
        raise Missing('feature: BAdam')
    usual = 'adamw-foreach' if script['transformers'] and is_before_fused_steps(row) else 'adamw'
    stated = lower(row.setting('optimizer')).replace('_', '-')
    if stated in ('adam', 'adamw'):
        return usual
    if stated not in ('', 'yes'):
        return OPTIMIZERS.get(stated, stated)
    said = re.sub('[_-]', '', row.said)
    return 'paged-adamw-8bit' if 'pagedadamw8bit' in said else \
        'adamw-8bit' if 'adam8bit' in said or 'adamw8bit' in said else \
        'adafactor' if 'adafactor' in row.said else \
        'sgd' if 'optimizer=sgd' in row.said else usual
