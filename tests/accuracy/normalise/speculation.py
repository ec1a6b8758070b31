"""Speculative decoding as sources write it, as the flag --speculate of `estimate`."""
import re

from .text import Missing, lower

# Figures that hardly depend on how many tokens a pass proposes.
WITHOUT_COUNT = ('prefill_speed', 'prefill_time', 'ttft', 'logged_weights', 'vram_used', 'start_time',
                 'model_load_time', 'weights_load_time')
NUMBERS = ('one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight')
# The words of sources for a head with a config of its own, and the method of --speculate.
METHODS = {'eagle3': 'eagle3', 'dflash': 'dflash', 'dflash2': 'dflash', 'dspark': 'dflash'}


def proposed_tokens(row):
    """Tokens that a pass proposes, by a setting or by words of the notes; empty: not stated."""
    written = re.search(rf"\b({'|'.join(NUMBERS)}) draft tokens?\b", lower(row['notes']))
    return row.setting('spec_draft_n_max') or (str(NUMBERS.index(written[1]) + 1) if written else '')


def head_of(row, draft, models):
    """"dflash (NAME) 7", or "dflash2 7" for the head that is published with the model's name before
    it."""
    said = re.fullmatch(rf"({'|'.join(METHODS)})(?: \((.+)\))?(?: (\d+))?", draft)
    model = row['model'].split(' (')[0].rpartition('/')[2]
    reference = models.named(said[2] or f'{model}-{said[1]}') if said else None
    if not reference:
        raise Missing(f"speculate: no config of the draft '{row.setting('draft')}'")
    tokens = said[3] or proposed_tokens(row)
    if not tokens:
        raise Missing('speculate: how many tokens a pass proposes is not stated')
    return {'speculate': f'{METHODS[said[1]]}:{reference}:{tokens}'}


def refuse_other_cache(row):
    """The cache of a draft is estimated in the format of the model's."""
    own = lower(row.setting('draft_kv_dtype'))
    if own and own != lower(row.setting('kv_dtype') or row.setting('kv')):
        raise Missing(f"kv_precision: the draft's cache is in {own}, unlike the model's")


def speculation_of(row, models):
    """"mtp=3", "draft=mtp 3", "mtp=on": the checkpoint's own modules. Another draft has a config of
    its own."""
    tokens, draft = lower(row.setting('mtp', 'off')), lower(row.setting('draft'))
    named = re.fullmatch(r'mtp(?: (\d+))?', draft)
    refuse_other_cache(row)
    words = [key for key in row.settings if key.startswith('speculative')]
    if words and not draft and row['quantity'] not in WITHOUT_COUNT:
        raise Missing(f"speculate: '{words[0]}={row.setting(words[0])}' does not say what is proposed")
    if named:
        tokens = named[1] or 'on'
    elif draft:
        return head_of(row, draft, models)
    if tokens in ('off', '0'):
        return {}
    if not tokens.isdigit():
        tokens = proposed_tokens(row)
    if tokens:
        return {'speculate': f'mtp:{tokens}'}
    if row['outcome'] or row['quantity'] in WITHOUT_COUNT:
        return {'speculate': 'mtp:1'}
    raise Missing('speculate: how many tokens a pass proposes is not stated')
