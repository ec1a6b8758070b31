"""Prose rows into canonical rows, whose columns are the flags of a scenario."""
import csv
import re

from .engine import (engine_of, family_of, flash_attention_of, gpu_batches_of, is_text_only, kv_precision_of, scheme_of,
                     threads_of, version_of, refuse_unknown_cache)
from .machine import boxes_of, cards_of, host_of, refuse_unknown_sizes
from .placement import placement_of
from .quantity import CACHE, REQUESTS_OF, figure_of, group_of
from .sizes import dynamic_file, loaded_size, size_of
from .speculation import speculation_of
from .strict import refuse_unread
from .text import Missing, Row, leading_int, lower, number, number_text
from .training import training_of

COLUMNS = (
    'id', 'kind', 'group', 'model', 'runtime', 'precision', 'weights_gib', 'parameters', 'kv_precision', 'machine', 'card_gib',
    'nodes', 'network_gbs', 'host', 'ram_gib', 'ram_gbs', 'ram_gbs_stated', 'cpu_gflops', 'cores',
    'sockets', 'disk_read_gbs', 'batch', 'prompt_tokens', 'output_tokens', 'context', 'requests', 'tp', 'pp',
    'ep', 'dp', 'cp', 'threads', 'flash_attn', 'enforce_eager', 'gpu_memory_utilization', 'offload', 'gpu_layers',
    'weights_on_card', 'experts_on_card', 'cpu_moe', 'n_cpu_moe', 'override_tensor', 'ubatch', 'max_num_seqs', 'gpu_budget', 'cpu_offload_gb', 'tensor_split', 'text_only', 'split_mode', 'no_kv_offload', 'gpu_batches', 'speculate', 'seq', 'zero',
    'recipe', 'matrices', 'optimizer', 'recompute', 'compile', 'liger', 'offload_optimizer', 'offload_params', 'zero3_init', 'loss', 'attention', 'interleave', 'micro_batches',
    'adapters', 'targets', 'rank', 'trainable', 'modules_to_save', 'frozen_inputs', 'figure',
    'form', 'value', 'unit', 'rounding', 'outcome', 'grade', 'source', 'missing')

# Bytes that are used; sizes of weights by place depend on the card.
USED = ('allocated_peak', 'allocated_held', 'card_used', 'all_but_cache', 'card_cache', 'weights')
USED_BY_A_STEP = ('allocated', 'reserved', 'used', 'host')


def refuse_features(row):
    if '6 experts' in lower(row.setting('framework')) or row.setting('experts', '8') != '8':
        raise Missing('feature: fewer experts than the model uses')
    if 'cudnn' in row.said and row['quantity'] == 'decode_speed':
        raise Missing('feature: cuDNN attention, which plans its kernels anew for each length')
    if 'eager attention' in row.said and 'transformers' in row.said:
        raise Missing('feature: eager attention, where the engine has a faster one')
    batch, parts = row.number('batch'), row['notes'].split('_c')[1:]
    spread = (row.figure('moe_ep') or 1) <= (row.figure('tp') or 1)
    if row['task'].startswith('serving') and batch and spread and \
            any(leading_int(part) > batch for part in parts):
        raise Missing('dp: over how many copies requests are spread')


def parallel_of(row, runtime, cards):
    """vLLM's expert parallelism shares whole experts among all cards of a stage."""
    found = {flag: int(row.figure(*keys) or 0) or '' for flag, keys in
             (('tp', ('tp', 'tensor_parallel')), ('pp', ('pp',)), ('ep', ('moe_ep', 'ep')), ('dp', ('dp',)))}
    if 'enable_dp_attention' in row.settings or 'attn_cp' in row.settings:
        raise Missing('dp: the attention is divided otherwise than the experts')
    if 'dp' in row.settings and not found['tp']:
        found['tp'] = cards // (found['dp'] * (found['pp'] or 1))
    if row.settings.get('expert_parallel') in ('', 'yes'):
        if not runtime.startswith('vllm'):
            raise Missing('ep: how many cards share out experts is not stated')
        found['ep'] = cards // (found['pp'] or 1)
    # Runs that fitted or did not, and room for a cache, say what share was asked for. A peak says
    # what was used.
    asked = row['outcome'] or row['quantity'] in ('cache_memory_left', 'concurrency', 'logged_tokens', 'memory_left')
    share = row.figure('utilisation', 'mem_fraction_static') if asked else None
    return found | {'gpu_memory_utilization': '' if share is None else share}


def tokens_of(row, engine, found):
    """Prompt, output and context. Missing values are those of the engine's own script."""
    prompt = row.tokens('prompt_len', 'prompt_len', int(engine['prompt_tokens']))
    output = row.tokens('output_len', 'max_new_tokens', int(engine['output_tokens']))
    figure = found['figure']
    if not figure.startswith(('weights', 'load', 'card_weights', 'host_weights')):
        if not row['prompt_len'] and engine['runtime'] == 'sglang' and figure in CACHE:
            found |= {'prompt_tokens': 1, 'output_tokens': 1, 'context': 'model'}
            return
        if not row['prompt_len'] and engine['prompt_tokens'] == '0':
            raise Missing("prompt_tokens: the prompt's length is not stated")
        if figure in ('generation', 'serving_rate') and output == 0:
            raise Missing("output_tokens: the output's length is not stated")
    found['prompt_tokens'], found['output_tokens'] = max(prompt, 1), max(output, 1)
    if figure in USED[:-1] and engine['cache_of_output'] and found['machine'] != 'cpu':
        found['context'] = max(found['prompt_tokens'] + 1, found['output_tokens'])
        found['output_tokens'] = found['context'] - found['prompt_tokens']
    context = row.figure('ctx', 'n_ctx')
    if context is not None:
        found['context'] = int(context)
    if found.get('context', 0) < found['prompt_tokens'] + found['output_tokens']:
        found.pop('context', None)


def thousands(text):
    """"64K" tokens are 65536; 0 where there is no number."""
    found = re.fullmatch(r'(\d+)([kK]?)', text)
    return int(found[1]) * (1024 if found[2] else 1) if found else 0


def tokens_of_label(row, engine, found):
    context = row.tokens('context', 'n_ctx', 0)
    # --context-length of SGLang limits requests, and no prompt of that length is in memory (model_runner.py)
    limits = engine['runtime'] == 'sglang' and not row['prompt_len'] and 'input_len' not in row.settings
    output = max(row.tokens('output_len', 'output_len', 0), 1)
    context = max(context, int(row.figure('cache_tokens') or 0))
    prompt = row.tokens('prompt_len', 'input_len', thousands(row.setting('prompt')))
    prompt = context - output if context > 0 and prompt == 0 and not limits else prompt
    prompt = prompt or int(engine['prompt_tokens'])
    if context == 0 and engine['output_tokens'] != '0':
        output = int(engine['output_tokens'])
    prompt = max(prompt, 1)
    found |= {'prompt_tokens': prompt, 'output_tokens': output}
    if engine['runtime'] == 'vllm' and prompt == 1 and row['outcome'] != 'max':
        found['context'] = 'model'  # a start reserves --max-model-len, by default the model's length
    if context >= prompt + output:
        found['context'] = context


def cards_in(machine):
    return 0 if machine == 'cpu' else sum(int(part.split('x')[0]) for part in machine.split(' + '))


def machine_for(row, cards, found):
    """Bytes used do not depend on the card, nor labels of training on more than its memory: any stands for it."""
    try:
        return cards_of(row, cards)
    except Missing as missing:
        any_card = USED + USED_BY_A_STEP + ('cache_token', 'cache_token:1', 'loaded')
        is_label = row['kind'] == 'training' and row['outcome']
        own = {'card_gib': row['gpu_memory_gb']} if is_label and 'not named' in row['gpu'] else {}
        if not str(missing).startswith('card:') or not (own.get('card_gib') or found.get('figure') in any_card):
            raise
        return own | {'machine': f"{min(max(int(row.number('gpu_count') or 1), 1), 1024)}x any"}


def refuse_parts(row):
    """A row's own note may say that the part that was read lacks the engine's share of a card, or the length."""
    unknown = r'\b[\w ]*\b(?:cut off|not (?:stated|in the (?:excerpt|part (?:that was )?read)))'
    ends = r'ends? before (?:the |any )?'
    if re.search(r'\b(?:share|settings|command|flags)' + unknown, row['notes']) or \
            re.search(ends + 'share', row['notes']):
        raise Missing("gpu_memory_utilization: the share of the card is not stated")
    if not row['context'] and re.search(r'\blength' + unknown, row['notes']):
        raise Missing('context: the length that is reserved is not stated')
    if row['outcome'] != 'fits' and re.search(r'\b(?:size|memory) of the cards?' + unknown, row['notes']):
        raise Missing('card_gib: the memory of the card is not stated')


def budget_of(row):
    """ExLlama's gpu_split: GiB of each card for weights and caches."""
    parts = [number(each) for each in row.setting('gpu_split').split(',') if each]
    if len(set(parts)) > 1 or None in parts:
        raise Missing('gpu_budget: cards with different parts')
    return f'{number_text(parts[0])}GiB' if parts else ''


def sequences_of(row):
    """The sequences that a server keeps a cache for, each with the row's context."""
    slots = row.figure('num_parallel', 'parallel')
    batch = row.tokens('batch', 'batch', int(slots or 1))
    if slots and slots != batch:
        raise Missing('batch: another number of sequences than the caches of the server')
    return batch


def refuse_desktops(row):
    """A run that fits beside a desktop fits without it. A failure may be the desktop's."""
    beside = 'display' in row.settings or lower(row.setting('os')) == 'windows'
    if beside and row['outcome'] != 'fits':
        raise Missing('gpu_budget: what the desktop takes of the card is not stated')


def chooses_layers(row):
    """ollama leaves in host memory what does not fit, unless a row says how much is on the card."""
    chosen = {'ngl', 'num_gpu', 'gpu_layers', 'placement'} & row.settings.keys()
    return row.said.startswith('framework=ollama') and 'metal' not in row.said and not chosen


def label_of(row, engine):
    """A run that fitted, ran out of memory, or the most that fitted."""
    refuse_parts(row)
    refuse_desktops(row)
    found = {'gpu_budget': budget_of(row)}
    if 'cpu_offload_gb' in row.settings:
        found['cpu_offload_gb'] = row.figure('cpu_offload_gb') or ''
        if not found['cpu_offload_gb']:
            raise Missing('cpu_offload_gb: how much is not stated')
    if engine['host_experts'] or 'offload_level' in row.settings or chooses_layers(row):
        found['offload'] = 'yes'
        if (row.number('cpu_ram_gb') or 0) <= 0:
            raise Missing("ram_gib: the host's memory is not stated")
    if re.search(r'(?<![\w-])-ot\b', row['settings']) and 'ot' not in row.settings:
        raise Missing('override_tensor: the pattern of -ot is not stated')
    if row['outcome'] == 'max':
        if row['quantity'] not in ('max_batch', 'max_context', 'kv_cache_tokens'):
            raise Missing(f"quantity: '{row['quantity']}' is none that an estimate gives")
        if row.number('value') is None:
            raise Missing(f"value: '{row['value']}'")
        found |= {'figure': row['quantity'], 'value': row['value']}
    return found


def inference_of(row, found, catalogue):
    cards, models = catalogue
    refuse_features(row)
    found |= speculation_of(row, models)
    engine = engine_of(row)
    if not row['outcome']:
        found |= figure_of(row, engine)
    found['runtime'] = runtime = version_of(row, engine['runtime'], models.versions)
    # TensorRT-LLM's tables are of checkpoints that ModelOpt wrote, not of those of a model's makers.
    makers = engine['runtime'] != 'tensorrt-llm' or '/' in row['model']
    reference = found['model'] = models.reference(row['model'], row['precision'] if makers else '')
    if not reference:
        raise Missing(f"model: no config of '{row['model']}'")
    checkpoint = models.checkpoint(reference)
    found['precision'] = scheme_of(row, runtime, checkpoint)
    if family_of(runtime) == 'llama.cpp':
        found |= dynamic_file(row)
    if row['outcome'] in ('oom', 'max'):
        refuse_unknown_sizes(row, cards)
    found |= host_of(row) | machine_for(row, cards, found)
    first = found['machine'].partition(' + ')[0].partition('x ')[2]
    capability = cards.by_name.get(first, {}).get('compute_capability', '')
    found['kv_precision'] = kv_precision_of(row, engine['runtime'], checkpoint, capability)
    found['text_only'] = 'yes' if is_text_only(row, engine) else ''
    if row['outcome']:
        refuse_unknown_cache(row, runtime, found)
        found |= label_of(row, engine)
        if family_of(runtime) == 'vllm':
            found |= loaded_size(row, found)
    else:
        found['group'] = group_of(row, found['figure'])
    if row['batch'] and row.number('batch') is None and row['batch'] != 'saturated':
        raise Missing(f"batch: '{row['batch']}' is no number")
    saturated = row['batch'] == 'saturated'
    found['batch'] = 'saturated' if saturated else sequences_of(row) if row['outcome'] else \
        row.tokens('batch', 'batch', 1)
    count = cards_in(found['machine'])
    found |= parallel_of(row, runtime, count) | placement_of(row, runtime, count)
    found |= {'flash_attn': flash_attention_of(row), 'threads': threads_of(row),
              'enforce_eager': 'yes' if 'enforce_eager' in row.said else '',
              'gpu_batches': gpu_batches_of(row, engine['runtime'])}
    (tokens_of_label if row['outcome'] else tokens_of)(row, engine, found)
    if found.get('figure') in REQUESTS_OF:
        found['requests'] = REQUESTS_OF[found['figure']](row)


def kind_of(row):
    if row['quant']:
        return 'size'
    training = row['category'].startswith('training') or row['task'].startswith('training')
    return 'training' if training or row['kind'].startswith('training') else 'inference'


def of_one_copy(row):
    """Copies of a server behind one address share its cards and requests: the row of one of them."""
    copies = int(row.figure('replicas') or 1)
    for column in ('gpu_count', 'batch') if copies > 1 else ():
        if row.number(column):
            if row.number(column) % copies:
                raise Missing(f'{column}: {copies} copies do not share {row[column]} evenly')
            row.fields[column] = str(int(row.number(column)) // copies)
    if copies > 1 and row['unit'].startswith(('tokens', 'requests')):
        row.fields['value'] = str(row.number('value') / copies)


def canonical(fields, catalogue):
    """One canonical row: what could be read, and in `missing` the first thing that could not."""
    row, (cards, models) = Row(fields), catalogue
    found = {'id': row['id'], 'kind': kind_of(row), 'outcome': row['outcome'],
             'grade': row['grade'], 'source': row['source']}
    try:
        if row['grade'] == 'C':
            raise Missing('grade: C, the set-up is incomplete')
        of_one_copy(row)
        if row['outcome']:
            refuse_unread(row, found['kind'])
        if found['kind'] == 'size':
            size_of(row, found, models)
        elif found['kind'] == 'inference':
            inference_of(row, found, catalogue)
        else:
            found['model'] = models.reference(row['model']) or ''
            if not found['model']:
                raise Missing(f"model: no config of '{row['model']}'")
            found |= training_of(row)
            found |= boxes_of(row, cards) if found.get('figure') == 'step' else \
                machine_for(row, cards, found)
    except Missing as missing:
        found['missing'] = str(missing)
    return found


def text_of(value):
    return '' if value is None else number_text(value) if isinstance(value, float) else str(value)


def normalise(lines, out, catalogue):
    """Writes the canonical row of each record of `lines`, which iterates over a CSV text."""
    writer = csv.writer(out, lineterminator='\n')
    writer.writerow(COLUMNS)
    for fields in csv.DictReader(lines):
        found = canonical(fields, catalogue)
        writer.writerow([text_of(found.get(column)) for column in COLUMNS])
