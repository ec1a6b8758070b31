"""Speculative decoding as sources write it, as the flag --speculate of `estimate`."""
import re

from .text import Missing, lower

# Figures that hardly depend on how many tokens a pass proposes.
WITHOUT_COUNT = ('prefill_speed', 'prefill_time', 'ttft', 'logged_weights', 'vram_used', 'start_time',
                 'model_load_time', 'weights_load_time')


def speculation_of(row):
    """"mtp=3", "draft=mtp 3", "mtp=on": the checkpoint's own modules. Another draft has a config of
    its own, which no source of a row prints."""
    tokens, draft = lower(row.setting('mtp', 'off')), lower(row.setting('draft'))
    named = re.fullmatch(r'mtp(?: (\d+))?', draft)
    if named:
        tokens = named[1] or 'on'
    elif draft:
        raise Missing(f"speculate: no config of the draft '{row.setting('draft')}'")
    if tokens in ('off', '0'):
        return {}
    if tokens.isdigit():
        return {'speculate': f'mtp:{tokens}'}
    if row['outcome'] or row['quantity'] in WITHOUT_COUNT:
        return {'speculate': 'mtp:1'}
    raise Missing('speculate: how many tokens a pass proposes is not stated')
