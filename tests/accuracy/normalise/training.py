"""Steps of training as sources write them."""
import csv
import pathlib
import re

from .frozen import recipe_of_frozen
from .optimizer import optimizer_of
from .text import Missing, leading_int, lower, number


def read_scripts():
    path = pathlib.Path(__file__).parent / 'scripts.tsv'
    with path.open() as lines:
        return list(csv.DictReader(lines, delimiter='\t'))


SCRIPTS = read_scripts()
FULL = ('full finetune', 'full-parameter', 'pretrain', 'pretrain step', 'pre-training performance',
        'sft performance')
QUANTISED = ('q-lora', 'qlora')
ADAPTERS = QUANTISED + ('lora', 'lora (multinode)', 'lora + deepspeed zero3', 'lora (emb)',
                        'lora performance')
FIGURES = {'peak_allocated_per_gpu': 'allocated', 'max_gpu_memory': 'allocated',
           'peak_memory_active': 'allocated', 'max_memory_reserved': 'reserved',
           'peak_reserved_training': 'reserved', 'gpu_memory_nvml': 'used', 'cpu_memory': 'host',
           'peak_memory_per_gpu': '', 'gpu_memory_per_gpu': '', 'gpu_memory': '',
           'gpu_memory_total': ''}
# Features whose memory or time no formula covers.
UNDESCRIBED = ('activation offloading', 'kt-kernel', 'ktransformers', 'block=1 layer', 'balance',
               'hsdp', 'nn.dataparallel')
# As above, for times only: in settings and notes, and in notes alone.
UNDESCRIBED_TIME = ('cpu offload', 'act_cpu_offload=true')
VARYING = ('variable-length', 'average tokens', 'avg tokens')
FORMATS = (('nvfp4', 'nvfp4'), ('mxfp8', 'mxfp8'), ('fp8-mx', 'mxfp8'), ('fp8', 'fp8'),
           ('float8', 'fp8'))


def script_of(row):
    written = lower(row.setting('framework'))
    if not written:
        raise Missing('runtime: the framework is not stated')
    fitting = [each for each in SCRIPTS if written.startswith(each['starts'])]
    if not fitting:
        raise Missing(f"runtime: framework '{written}' is not described")
    return max(fitting, key=lambda each: len(each['starts']))


def after(text, key, otherwise):
    found = re.search(re.escape(key) + r'(\d+)', text)
    at = text.find(key)
    return int(found[1]) if found and found.start() == at else otherwise


def zero_of(row, adapters):
    """"zero2/3": 3 where all weights are trained, 2 for adapters, whose script asks for 2;
    "zero2 (X) or none": 2 where the task is X."""
    task = lower(row['task'])
    text = f'{row.said} {task}'
    at = text.find('zero')
    if at < 0:
        return 0
    stage, rest = after(text, 'zero', 0), text[at + 5:]
    if rest.startswith('/'):
        return stage if adapters else 3
    if rest.startswith(' (') and ') or none' in rest:
        return stage if task == rest[2:rest.find(')')] else 0
    if stage > 3:
        raise Missing("zero: the stage is not stated")
    return stage


def parallelism_of(row, batch):
    def degree(word):  # "tp=8", "TP 8"
        return after(row.said, f';{word}=', after(row.said, f';{word} ', 1))
    cards = int(row.number('gpu_count') or 1)
    tensor = max(degree('tp'), after(row.said, '(tp=', 1))
    stages, context = degree('pp'), max(degree('cp'), degree('ring_attention'))
    replicas = cards // (tensor * stages * context)
    if replicas * tensor * stages * context != cards:
        raise Missing(f'tp: {cards} cards are not tp x pp x cp')
    chunks = max(degree('vpp'), degree('vp'), degree('interleave')) if stages > 1 else 1
    accumulated = max(after(row.said, key, 1)
                      for key in ('micro_batches=', 'grad_accum=', 'micro_num='))
    for key in (';gbs=', ';global_batch='):
        sequences = after(row.said, key, 0)
        if sequences > 0:
            accumulated = max(1, sequences // (replicas * batch))
    return {'tp': tensor, 'pp': stages, 'cp': context, 'ep': degree('ep'), 'dp': replicas,
            'interleave': chunks, 'micro_batches': accumulated}


def recomputation_of(said, usual):
    """The activations that backward computes anew; `usual`: where the row does not say."""
    if 'selective ac' in said:
        return 'selective'
    if re.search('gradient_checkpointing=(unsloth|offload)', said):
        return 'offloaded'
    off = any(word in said for word in ('no grad ckpt', 'grad_ckpt=false', 'no gradient_checkpointing',
                                        'gradient_checkpointing=no', 'gradient_checkpointing=off'))
    full = ('full ac', 'act_ckpt=true', 'ckpt=true', 'recompute=full', 'gradient_checkpointing',
            'grad ckpt', 'activation checkpointing')
    return 'none' if off else usual or ('full' if any(word in said for word in full) else 'none')


def matrices_of(precision):
    """The type below 16 bit in which layers multiply. Scales by row are kernels of their own."""
    if 'rowwise' in precision:
        raise Missing(f'precision: matrices in {precision}')
    return next((name for word, name in FORMATS if word in precision), '')


def adapters_of(row, script):
    precision, task = lower(row['precision']), task_of(row)
    base = ''
    if task in QUANTISED or 'nf4' in precision:
        base = 'gptq-int4' if 'gptq' in precision else \
            'nf4-double' if 'nf4-dq' in precision else 'nf4'
    targets = row.settings.get('targets') or row.setting('lora_target') or script['targets']
    targets = 'all-linear' if targets == 'all' else targets
    trainable = leading_int(row.settings.get('trainable', row.setting('trainable_params'))
                            .replace(',', ''))
    rank = after(row.said, 'rank=', after(row.said, 'lora rank ', 0))
    targets = ' '.join(re.split(r'[| ,]+', targets.replace('all linear', 'all-linear')))
    if not targets.split():
        raise Missing('targets: those of adapters are not stated')
    if rank == 0 and trainable == 0:
        raise Missing('rank: that of adapters is not stated')
    return {'precision': base, 'adapters': 'dora' if 'dora' in row.said else 'lora',
            'targets': targets, 'rank': rank or '',
            'trainable': trainable or '',
            # bitsandbytes 0.41, autograd/_functions.py MatMul4Bit: ctx.tensors = (A, B)
            'frozen_inputs': 'yes' if script['frozen_inputs'] and base else '',
            'modules_to_save': 'embedding and head' if task == 'lora (emb)' else
            row.setting('modules_to_save')}


def value_of(row, script):
    value = number(row['value'])
    if value is None or value <= 0:
        raise Missing(f"value: '{row['value']}'")
    quantity, unit = row['quantity'], row['unit']
    if row['category'] == 'training_speed':
        if quantity == 'throughput_per_gpu' and unit == 'tokens/s/GPU':
            return {'figure': 'step', 'form': 'rate_per_card', 'value': value, 'unit': 'tokens/s'}
        if quantity == 'throughput' and unit == 'tokens/s':
            return {'figure': 'step', 'form': 'rate', 'value': value, 'unit': 'tokens/s'}
        if quantity in ('samples_per_s', 'throughput') and unit == 'samples/s':
            return {'figure': 'step', 'form': 'rate', 'value': value, 'unit': 'sequences/s'}
        if unit in ('s', 's/it', 'ms'):
            return {'figure': 'step', 'form': 'amount', 'unit': 's',
                    'value': value / 1000 if unit == 'ms' else value}
        raise Missing(f"quantity: '{quantity}' in '{unit}'")
    scales = {'GB': float(script['gigabyte']), 'GiB': 2 ** 30, 'MiB': 2 ** 20, 'bytes': 1}
    if quantity not in FIGURES:
        raise Missing(f"quantity: '{quantity}' is none that an estimate gives")
    if unit not in scales:
        raise Missing(f"unit: '{unit}'")
    return {'figure': FIGURES[quantity] or script['figure'], 'unit': 'bytes',
            'form': 'of_all_cards' if quantity == 'gpu_memory_total' else 'amount',
            'value': value * scales[unit]}


def refuse_times(row):
    notes = lower(row['notes'])
    if any(word in notes for word in VARYING):
        raise Missing('seq: sequences of a length that varies')
    if 'power limited' in notes:
        raise Missing('machine: cards below the power of their data sheets')
    for feature in UNDESCRIBED_TIME:
        if feature in row.said + notes:
            raise Missing(f'feature: {feature}')


def attention_of(row, script):
    """flash-attn where a row says so of transformers' models. transformers' is_torch_sdpa_available
    asks for torch 2.1.1."""
    if 'attention=eager' in row.said:
        return 'eager'
    said = row.said.replace('no flash', '').replace('flash_attention=no', '')
    if script['transformers'] and re.search(r'flash[-_ ]?att(ention|n)|[;+( ]fa[23]\b', said):
        return 'flash_attention_2'
    torch = re.match(r'(\d+)\.(\d+)\.?(\d*)', row.setting('torch'))
    old = torch and tuple(int(part or 0) for part in torch.groups()) < (2, 1, 1)
    unasked = 'flash' not in row.said and 'xformers' not in row.said
    return 'eager' if old and unasked and script['transformers'] else script['attention']


def task_of(row):
    """The task, or of a label "method=lora", "full" and "lora_rank=8"."""
    task = lower(row['task'] or row.setting('method'))
    if not task and 'full' in row.settings:
        task = 'full'
    if not task and 'lora_rank' in row.settings:
        task = 'qlora' if '4bit' in lower(row['precision']) else 'lora'
    return 'full finetune' if task == 'full' else task


def is_sharded(row):
    return 'fsdp' in row.said and not any(each in row.said
                                          for each in ('fsdp=;', 'fsdp=0', 'no fsdp'))


def runtime_of(script, zero, sharded):
    if zero > 0:
        return script['sharded_runtime']
    return script['fsdp_runtime'] or script['runtime'] if sharded else script['runtime']


def offload_of(row):
    """FSDP's CPUOffload, and DeepSpeed's shipped files named after offload, move both."""
    moved = {key: 'cpu' if row.setting(key) == 'yes' else ''
             for key in ('cpu_offload', 'offload_optimizer')}
    return {'offload_optimizer': moved['cpu_offload'] or moved['offload_optimizer'],
            'offload_params': moved['cpu_offload']}


def refuse_labels(row, script):
    """Raises Missing for a label that does not say how its cards share the work."""
    if 'shorter' in row['notes']:
        raise Missing('seq: sequences are shorter than their limit')
    if 'in chunks' in row['notes'] and 'liger' not in row.settings:
        raise Missing('loss: in chunks of a size that no column has')
    kept = lower(row.setting('gradient_checkpointing'))
    if not kept.startswith(('yes', 'true', 'no', 'false', 'off', 'on', 'unsloth')) and kept:
        raise Missing(f"feature: gradient checkpointing '{kept}'")
    if row['outcome'] == 'max':
        raise Missing(f"quantity: '{row['quantity']}' of a training run is none that an estimate gives")
    if 'deepspeed file' in lower(row['notes']) and 'zero' not in row.said:
        raise Missing('zero: the stage is not stated')
    if re.search('(checkpointing|recompute)[^;]* not (re)?stated', row['notes']):
        raise Missing('recompute: whether activations are recomputed is not stated')
    degrees = any(f';{each}=' in row.said for each in ('tp', 'pp', 'cp'))
    if script['runtime'].startswith('megatron') and not degrees:
        raise Missing('tp: the degrees of parallelism are not stated')
    if 'sequence_parallel=yes' in row.said and not script['runtime'].startswith('megatron'):
        raise Missing('cp: how many cards share a sequence is not stated')
    shared = degrees or any(each in row.said
                            for each in ('zero', 'fsdp', ';dp=', 'ring_attention='))
    if (row.number('gpu_count') or 1) > 1 and not shared:
        raise Missing('dp: how cards share the work is not stated')


def training_of(row):
    """Columns of a step of training, beside its model and its machine."""
    task, precision = task_of(row), lower(row['precision'])
    if task not in FULL + ADAPTERS:
        raise Missing(f"task: '{task}' is not estimated")
    for feature in UNDESCRIBED:
        if feature in row.said:
            raise Missing(f'feature: {feature}')
    script = script_of(row)
    batch, sequence = row.number('batch'), row.number('prompt_len') or row.number('context')
    if not batch or not sequence:
        raise Missing('batch: it or the length of sequences is not stated')
    if row['outcome']:
        refuse_labels(row, script)
    if script['starts'] == 'torchtune' and 'checkpointing' not in row.said:
        raise Missing('recompute: optimizer and checkpointing are not stated')
    if row['category'] == 'training_speed':
        refuse_times(row)
    adapters = task in ADAPTERS
    zero = zero_of(row, adapters)
    sharded = is_sharded(row)
    recipe = 'fp32' if precision == 'fp32' else \
        'pure-16bit' if precision == 'bf16-true' else ''
    found = {'runtime': runtime_of(script, zero, sharded),
             'batch': int(batch), 'seq': int(sequence),
             'zero': max(zero, 3 if sharded else 0), 'recipe': script['recipe'] or recipe,
             'matrices': matrices_of(precision), 'optimizer': optimizer_of(row, script),
             'recompute': recomputation_of(row.said, script['recompute']),
             'compile': 'yes' if 'compile' in row.said else '',
             'zero3_init': 'no' if row.setting('zero3_init_flag') == 'false' else '',
             'liger': 'yes' if 'liger' in row.settings else ''} | offload_of(row)
    found |= parallelism_of(row, int(batch))
    shared = found['dp'] * found['cp'] > 1
    if script['shared_checkpoints'] and found['zero'] >= 3 and shared:
        found['recompute'] = 'full'
    found |= {'loss': script['compiled_loss'] if found['compile'] else '',
              'attention': attention_of(row, script)}
    if adapters:
        found |= adapters_of(row, script)
        found['recipe'] = script['recipe'] or recipe_of_frozen(
            row, script, found['precision'], zero > 0 or sharded)
    return found if row['outcome'] else found | value_of(row, script)
