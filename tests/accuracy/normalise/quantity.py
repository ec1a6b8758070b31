"""Which figure of an estimate a published quantity is, and its value in one unit."""
import re

from .text import Missing, number

# Quantity -> the program's figure, and how it is published. `amount`: the figure itself;
# `rate_of_prompt`, `rate_of_output`, `rate_of_both`: tokens of all sequences per second;
# `per_output`: seconds per output token; `per_sequence`: that figure over the concurrent sequences.
QUANTITIES = {
    'max_memory_allocated_total': ('allocated_peak', 'amount'),
    'max_gpu_memory': ('allocated_peak', 'amount'),
    'gpu_memory_total': ('allocated_peak', 'amount'),
    # No trace of the prompt's activations is in these tables: not a peak.
    'gpu_memory': ('allocated_held', 'amount'),
    'vram_used': ('card_used', 'amount'),
    'memory_beside_cache': ('all_but_cache', 'amount'),
    # Figures of one sequence of the longest length that an engine was started for.
    'sequence_cache_memory': ('card_cache', 'amount'),
    # Figures that an engine logs of its cache at start. prompt_len is one less than its longest
    # request.
    'token_cache_memory': ('cache_token', 'amount'),
    'cache_memory_left': ('cache_left', 'amount'),
    'concurrency': ('concurrency', 'amount'),
    'logged_tokens': ('cache_tokens', 'amount'),
    # Free memory of a card when a server is ready.
    'memory_left': ('card_left', 'amount'),
    'logged_weights': ('loaded', 'amount'),
    'weights_size': ('weights', 'amount'),
    'gpu0_weights_memory': ('card_weights:0', 'amount'),
    'gpu1_weights_memory': ('card_weights:1', 'amount'),
    'cpu_weights_memory': ('host_weights', 'amount'),
    'ram_used': ('host_used', 'amount'),
    'dram_used': ('host_used', 'amount'),
    'decode_speed': ('step', 'rate_of_output'),
    'decode_speed_end_to_end': ('generation', 'rate_of_output'),
    'tokens_per_s_generated_incl_prefill': ('generation', 'rate_of_output'),
    'tokens_per_s_prompt_plus_generated': ('generation', 'rate_of_both'),
    'gen_throughput_incl_prefill': ('generation', 'rate_of_output'),
    'gen_throughput': ('generation', 'rate_of_output'),
    'output_throughput_total': ('generation', 'rate_of_output'),
    'output_throughput': ('generation', 'rate_of_output'),
    'time_per_token': ('generation', 'per_output'),
    'time_per_token_per_sequence': ('generation', 'per_sequence'),
    'tpot': ('step', 'amount'),
    'ttft': ('prefill', 'amount'),
    'prefill_speed': ('prefill', 'rate_of_prompt'),
    'prefill_time': ('prefill', 'amount'),
    # From the start of the program until it answers.
    'start_time': ('load', 'amount'),
    'model_load_time': ('load_weights', 'amount'),
    'weights_load_time': ('load_weights', 'amount')}

MEMORY = ('allocated_peak', 'allocated_held', 'card_used', 'all_but_cache', 'card_cache',
          'weights', 'card_weights:0', 'card_weights:1', 'host_weights', 'host_used',
          'cache_token', 'cache_left', 'cache_tokens', 'card_left', 'concurrency', 'loaded')
CACHE = ('cache_token', 'cache_left', 'cache_tokens', 'card_left', 'concurrency')
UNITS = {'GiB': (2 ** 30, 'bytes'), 'MB': (2 ** 20, 'bytes'), 'MiB': (2 ** 20, 'bytes'),
         'bytes': (1, 'bytes'), 'ms': (1e-3, 's'), 's': (1, 's'), 's/token': (1, 's'),
         'requests': (1, 'requests'), 'tokens': (1, 'tokens'), 'tokens/s': (1, 'tokens/s')}
SERVED = {'step': 'serving_step', 'prefill': 'serving_first', 'generation': 'serving_rate'}


#: A card's memory is then less than what the process uses.
IN_HOST_MEMORY = re.compile(r'\bput (some|part|the rest)\b.* in (shared|host|system) memory')


def one_digit(value):
    digits = value.partition('e')[0].lstrip('0.')
    return '.' in value and len(digits.replace('.', '')) < 2


def is_warm(row):
    """Sources that say so have read the files just before."""
    return 'cache warm' in row.said or 'warm cache' in row.said or \
        row.setting('page_cache') == 'warm'


def figure_of(row, engine):
    """Columns of the measured value."""
    if row['quantity'] not in QUANTITIES:
        raise Missing(f"quantity: '{row['quantity']}' is none that an estimate gives")
    statistic, form = QUANTITIES[row['quantity']]
    value = number(row['value'])
    if value is None or value <= 0:
        raise Missing(f"value: '{row['value']}'")
    if statistic not in MEMORY and one_digit(row['value']):
        raise Missing(f"value: '{row['value']}' has one significant digit")
    if row['unit'] != 'GB' and row['unit'] not in UNITS:
        raise Missing(f"unit: '{row['unit']}'")
    if statistic == 'cache_tokens' and engine['runtime'] != 'sglang':
        raise Missing('quantity: tokens of a log that may count each of them in every layer')
    scale, unit = UNITS.get(row['unit'], (float(engine['gigabyte']), 'bytes'))
    if statistic in ('load', 'load_weights') and is_warm(row):
        statistic += '_warm'
    if statistic == 'card_used' and IN_HOST_MEMORY.search(row['notes']):
        raise Missing('quantity: the driver put a part of it in host memory')
    if statistic == 'card_used' and engine['memory_by'] == 'allocator':
        statistic = 'allocated_peak'
    if statistic in CACHE and row.setting('prefix_caching') == 'off':
        statistic += ':1'  # one page of recurrent state for each sequence
    if row['task'].startswith('serving'):
        statistic = SERVED.get(statistic, statistic)
    return {'figure': statistic, 'form': form, 'value': value * scale, 'unit': unit}


def group_of(row, figure):
    """Subject of the row besides its figure: serving, or offload. Empty: its figure says it."""
    if figure in MEMORY or figure.startswith(('load', *CACHE)):
        return ''
    if row['category'] == 'offload_speed' and not row['task'].startswith('serving'):
        return 'offload'
    if row['quantity'] in ('tpot', 'ttft'):
        return f"serving_{row['quantity']}"
    return 'serving_throughput' if row['task'].startswith('serving') else ''


def requests_of_run(row):
    """Requests of a run that ends: prompts of ShareGPT sent at once. "all": as many as the batch;
    empty: a steady state."""
    text = f"{row['settings']};{row['notes']}"
    if 'ShareGPT' not in text:
        return ''
    if 'all prompts at once' in text:
        return 'all'
    for words in (' ShareGPT prompts', ' prompts'):
        found = re.search(r'(\d+)$', text[:max(text.find(words), 0)])
        if found:
            return int(found[1])
    return ''


def requests_of_first_tokens(row):
    """Requests of a run whose mean time to the first token is published, at least as many as run
    at once. "steady": a median, which the few that start together do not move. Empty: not
    stated."""
    text = f"{row['settings']};{row['notes']}"
    together = row.number('batch') or 1
    found = re.search(r'\b(\d+) (?:ShareGPT )?(?:prompts|requests)\b', text)
    every = int(row.figure('num_prompts') or (found[1] if found else 0))
    every //= int(row.figure('replicas') or 1)
    median = row['stat'] == 'median' or 'medians' in text
    if median and (not every or every > 2 * together):
        return 'steady'
    return every if every >= together else ''


REQUESTS_OF = {'serving_rate': requests_of_run, 'serving_first': requests_of_first_tokens}
