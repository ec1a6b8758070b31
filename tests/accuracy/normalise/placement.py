"""Options of a command line among the settings that say what is left off the cards."""
import re

from .text import Missing, leading_number, lower, numbers_after


def flags_of(settings):
    """"n_cpu_moe=36", "-ngl 99 --cpu-moe": names in lower case without leading dashes."""
    flags, start = [], 0
    for found in re.finditer(r'[^; ]+', settings):
        word, start = found.group(), found.start()
        dashed = word.startswith('-') and len(word) > 1
        if not dashed and start > 0 and settings[start - 1] != ';':
            if flags and not flags[-1][1]:
                flags[-1] = (flags[-1][0], word)
            continue
        name, _, value = word.partition('=')
        flags.append((lower(name).lstrip('-').replace('_', '-'), value))
    return flags


def flag(flags, *names):
    return next((value for name, value in flags if name in names), None)


def gpu_layers(row, flags):
    """"13 of 28", "99", "all", "35/36 layers on GPU"; Metal took any number above 0 for all."""
    found = numbers_after(row.said, r'(?:^|[ ;])(\d+)/(\d+) layers on gpu')
    if found:
        return found[0]
    given = flag(flags, 'ngl', 'n-gpu-layers', 'gpu-layers', 'num-gpu')
    if given is None:
        return ''
    count = leading_number(given)
    return 'all' if 'whole model' in row['settings'] or count is None else int(count)


def experts_on_card(row):
    """The share of each layer's experts that the row has on the card."""
    for key, value in row.settings.items():
        some = numbers_after(key, r'^(\d+) of (\d+) experts on the card$')
        percent = numbers_after(value, r'^(\d+)%') if key == 'gpu_expert_ratio' else None
        if some and some[1] > 0:
            return min(some[0] / some[1], 1.0)
        if percent:
            return min(percent[0] / 100, 1.0)
    return ''


def percents_of(row):
    """FlexGen's --percent: shares of weights and caches on the card and on the CPU, in turn."""
    return numbers_after(row['settings'], r'--percent (\d+) (\d+) (\d+) (\d+)')


def caches_in_host(row):
    if lower(row.setting('kv_offload')) == 'yes' or 'offload_level' in row.settings:
        return True
    percent = percents_of(row)
    if percent and percent[2] + percent[3] < 100:
        raise Missing('feature: caches on disk')
    if percent and '--cpu' in row['settings']:
        raise Missing('feature: attention on the CPU')
    return bool(percent) and percent[2] == 0


# Engines that copy the weights that do not fit to the card, and those that compute them there.
STREAMING = ('transformers', 'zero-inference', 'flexgen', 'deepspeed-inference')
COMPUTING = ('llama.cpp', 'ik_llama.cpp', 'ktransformers', 'kt-kernel')


def placement_of(row, runtime, cards):
    """`cards`: how many the row has. If it says something of placement but no number of layers on
    the cards, all are there."""
    flags, found = flags_of(row['settings']), {}
    if runtime.startswith(STREAMING):
        percent = percents_of(row)
        if caches_in_host(row):
            found['no_kv_offload'] = 'yes'
        if 'gpu_layers' in row.settings:
            found['gpu_layers'] = int(row.figure('gpu_layers') or 0)
        elif percent and percent[0] < 100:
            found['weights_on_card'] = f'{percent[0]}%'
        elif 'lowest=cpu_offload' in row.said or 'all weights offloaded' in row.said:
            found['gpu_layers'] = 0
    if runtime.startswith(('vllm', 'sglang')):
        passed = row.figure('max_num_batched_tokens', 'chunked_prefill_size')
        found['ubatch'] = '' if passed is None else int(passed)
        most = row.figure('max_num_seqs', 'max_running_requests')
        found['max_num_seqs'] = '' if most is None else int(most)
    if runtime.startswith(COMPUTING):
        micro = leading_number(flag(flags, 'n-ubatch', 'ubatch', 'ub') or '')
        found['tensor_split'] = flag(flags, 'ts', 'tensor-split') or ''
        if runtime in ('llama.cpp-tensor', 'ik_llama.cpp-graph'):
            return found | {'ubatch': '' if micro is None else int(micro)}
        mode = flag(flags, 'sm', 'split-mode', 'split')
        found |= {'gpu_layers': gpu_layers(row, flags), 'experts_on_card': experts_on_card(row),
                  'ubatch': '' if micro is None else int(micro),
                  'split_mode': 'row' if lower(mode or '') == 'row' else '',
                  'no_kv_offload': 'yes' if row.setting('no_kv_offload') not in ('0', '') else ''}
        if flag(flags, 'cpu-moe', 'cmoe') is not None:
            found['cpu_moe'] = 'yes'
        count = leading_number(flag(flags, 'n-cpu-moe', 'ncmoe') or '')
        if count:  # 0 leaves no layer's experts on the CPU
            found['n_cpu_moe'] = int(count)
        found['override_tensor'] = pattern = flag(flags, 'ot', 'override-tensor') or ''
        if pattern and '=' not in pattern:
            raise Missing(f"override_tensor: '{pattern}' is no pattern")
        if found['gpu_layers'] == '':
            said = any(value not in ('', None) for value in found.values())
            found['gpu_layers'] = 'all' if cards > 1 or said else \
                'auto' if 'auto' in row.said else ''
    return found
