"""Engines and their versions, precisions and caches as sources write them."""
import csv
import pathlib
import re

from .llama_cpp_version import llama_cpp_version, with_blas
from .sglang_version import sglang_version
from .text import Missing, leading_int, leading_number, lower, month_of, numbers_after
from .vllm_version import vllm_version


def read_engines():
    path = pathlib.Path(__file__).parent / 'engines.tsv'
    with path.open() as lines:
        return list(csv.DictReader(lines, delimiter='\t'))


ENGINES = read_engines()


def engine_of(row):
    """The row of engines.tsv with the longest beginning that fits."""
    written = lower(row.setting('framework') if 'framework' in row.settings
                    else row.setting('loader'))
    if not written:
        raise Missing('runtime: the engine is not stated')
    fitting = [each for each in ENGINES if written.startswith(each['starts'])]
    if not fitting:
        raise Missing(f"runtime: engine '{written}' is not described")
    found = max(fitting, key=lambda each: len(each['starts']))
    if found['starts'] == 'text-generation-webui':
        # Its loader follows from the format of the weights.
        precision = lower(row['precision'])
        found = found | {'runtime': 'autoawq' if precision.startswith('awq') else
                         'exllama' if precision.startswith('exl2') else 'llama.cpp'}
    return found


def numbers_of(text):
    return tuple(int(each) for each in text.lstrip('bv').split('.'))


class Versions:
    """Rows of the program by version, from its own list."""

    def __init__(self, rows):
        self.rows = []  # name, least version, greatest version; None: no limit
        for row in rows:
            found = re.fullmatch(r'(?:([bv]?[\d.]+)(?= |$))?(?: on| ?to ([bv]?[\d.]+))?', row['version'])
            if found:
                first, last = found[1], found[2]
                if first and row['version'] == first:
                    last = first
                self.rows.append((row['runtime'], first and numbers_of(first), last and numbers_of(last)))

    def row_of(self, series, version):
        """The row for a version, a tuple of numbers; the newest for a newer one."""
        for name, first, last in self.rows:
            if name != series and not name.startswith(series + '-'):
                continue
            if (not first or version >= first[:len(version)]) and (not last or version[:len(last)] <= last):
                return name
        return series


def is_text_only(row, engine):
    """Towers that are files of their own, or parts of their own, are loaded only if a row says so."""
    alone = 'text_only' in row.settings or row.setting('language_model_only') == 'yes'
    return alone or bool(engine['towers'] and 'mmproj' not in row.settings)


def transformers_version(row, versions):
    for found in re.finditer(r'transformers (?=\s*([+-]?\d+)\.([+-]?\d+))', row.said):
        return versions.row_of('transformers', (int(found[1]), int(found[2])))
    # PyTorch 2.0 is of 2023, 2.1 to 2.3 were current until July 2024. Without any version a table
    # is older than version 5, of 2026.
    at = row.said.find('torch 2.')
    minor = leading_int(row.said[at + 8:]) if at >= 0 else 9
    return 'transformers-' + ('4.35' if minor < 1 else '4.47' if minor < 4 else '4.57')


# Year and month in which transformers 4.36, 4.45 and 4.48 were uploaded to PyPI: rows of the program begin there.
TRANSFORMERS_MONTHS = ((2025, 1, (4, 48)), (2024, 9, (4, 45)), (2023, 12, (4, 36)))


def of_autoawq(row, versions):
    """AutoAWQ 0.2 examples/benchmark.py: --pretrained runs weights that are not quantised in transformers' own model."""
    if lower(row['precision']) not in ('fp16', 'bf16', 'fp32'):
        return 'autoawq-gemv' if lower(row['precision']).endswith(' gemv') else 'autoawq'
    date = month_of(row.said)
    for year, month, version in TRANSFORMERS_MONTHS:
        if date and date >= (year, month):
            return versions.row_of('transformers', version)
    return transformers_version(row, versions)


DIVIDING = {'llama.cpp': 'tensor', 'ik_llama.cpp': 'graph', 'exllamav3': 'tensor'}


def version_of(row, runtime, versions):
    """The name of the engine's row for the version that the settings name."""
    word = DIVIDING.get(runtime)
    if word and (leading_int(row.setting('tp')) > 1 or word in (row.setting('sm'), row.setting('split_mode'))):
        return f'{runtime}-{word}'
    if runtime == 'llama.cpp':
        return llama_cpp_version(row, versions)
    if runtime == 'ik_llama.cpp' and with_blas(row):
        return 'ik_llama.cpp-blas'
    if runtime == 'vllm':
        return vllm_version(row, versions)
    if runtime == 'autoawq':
        return of_autoawq(row, versions)
    if runtime == 'exllama' and 'exllama v1' in row.said:
        return 'exllama-1'
    if runtime == 'sglang':
        return sglang_version(row, versions)
    return transformers_version(row, versions) if runtime == 'transformers' else runtime


WORDS = {'gptq 4bit': 'gptq-int4', 'gptq 4bit g128': 'gptq-int4', 'gptq 4bit g32': 'gptq-int4-32g',
         'gptq 4bit no group': 'gptq-int4-nogroup', 'gptq int4': 'gptq-int4',
         'int4 gptq': 'gptq-int4', 'int8 gptq': 'gptq-int8', 'gptq int8': 'gptq-int8',
         'autoround int4': 'gptq-int4', 'int4-autoround': 'gptq-int4', 'awq 4bit g128': 'awq-int4', 'awq int4': 'awq-int4', 'awq-int4': 'awq-int4',
         'bnb 4bit': 'nf4-double', '4bit bnb': 'nf4-double', 'bnb.nf4': 'nf4', 'bnb.nf4-dq': 'nf4-double', 'q4km': 'q4_K_M',
         'int8 weight-only': 'w8a8-int8', 'int4 g32': 'int4-32g', 'int4-group': 'int4-64g',
         'bf16/fp16': 'bf16', 'f16': 'fp16'}
# Meaning of a word by engine: FlexGen packs groups of 64, MLC of 32; TensorRT-LLM's tables are of
# checkpoints of ModelOpt; finegrained_fp8.py is transformers' fp8.
WORDS_BY_ENGINE = {('int4', 'flexgen'): 'int4-64g', ('int4', 'zero-inference'): 'int4-64g',
                   ('fp4', 'tensorrt-llm'): 'nvfp4', ('fp8', 'transformers'): 'fp8-block',
                   ('4bit', 'mlx-lm'): 'mlx-4bit', ('4bit mlx', 'mlx-lm'): 'mlx-4bit',
                   ('q4', 'mlx-lm'): 'mlx-4bit', ('q5', 'mlx-lm'): 'mlx-5bit',
                   ('4bit', 'mlc-llm'): 'int4-32g', ('4bit', 'llama.cpp'): 'q4_K_M',
                   ('4-bit', 'llama.cpp'): 'q4_0', ('4bit', 'exllama'): 'gptq-int4'}
WITHOUT_EFFECT = ('.gguf', ' act-order', ' act', ' gemm', ' gemv', ' (default)')
# llama.cpp's only file type with MXFP4 is MXFP4_MOE.
GGUF = {'fp16': 'gguf-f16', 'bf16': 'gguf-bf16', 'fp32': 'gguf-f32', 'mxfp4': 'mxfp4-moe'}


def family_of(runtime):
    """The engine that a version or build belongs to."""
    for family, members in (('llama.cpp', ('llama.cpp', 'ik_llama.cpp')),
                            ('ktransformers', ('ktransformers', 'kt-kernel'))):
        if runtime.startswith(members):
            return family
    return re.sub(r'-\d.*', '', runtime)


def by_kernels(row, checkpoint, name):
    """Serving tables say how matrices are multiplied. A checkpoint held so already says more."""
    gemm = row.setting('gemm')
    if name == 'not stated' and row.settings.get('gemm') == '' and '/' in row['model']:
        return checkpoint
    if name == 'fp8' and (gemm == 'fp8_block' or checkpoint.startswith('fp8')):
        return checkpoint if checkpoint.startswith('fp8') else 'fp8-block'
    if name == 'nvfp4' or name == 'fp4' and gemm == 'nvfp4':
        return checkpoint if checkpoint.startswith('nvfp4') else 'nvfp4'
    return 'int4-32g' if name == 'int4' and gemm == 'int4_wo' else name


def scheme_of(row, runtime, checkpoint):
    """The format of the weights, by the program's names."""
    name = lower(row['precision'])
    if ' (' in name and not name.endswith('default)'):
        name = name[:name.find(' (')]
    for each in WITHOUT_EFFECT:
        name = name.removesuffix(each)
    if re.match(r'(auto|native)\b', name):
        named = re.search('-(fp8|nvfp4)$', lower(row['model']))
        plain = checkpoint in ('', 'bf16', 'fp16')  # shapes of the repository without that ending
        return named[1] if named and plain else checkpoint or 'auto'
    name = by_kernels(row, checkpoint, name)
    family = family_of(runtime)
    name = WORDS.get(name) or WORDS_BY_ENGINE.get((name, family), name)
    if not name or name == 'not stated':
        raise Missing('precision: not stated')
    # A checkpoint in groups of 4 bits, whose attention is not.
    if re.fullmatch(r'int4( experts, rest (bf16|bfloat16))?', name) and checkpoint.startswith('int4'):
        return checkpoint
    return GGUF.get(name, name) if family in ('llama.cpp', 'ktransformers') else name


def quantised_cache(row, runtime, checkpoint, compute_capability):
    """Serving tables of vLLM and TensorRT-LLM name the kernels and not the cache. NVIDIA's
    checkpoints in FP8 and NVFP4 say kv_cache_quant_algo FP8, those of a model's own maker do not.
    On Hopper vLLM's are in 16 bit: of 64 requests of 8192 tokens to Llama-3.1-70B on two H100 half
    wait."""
    if not row['task'].startswith('serving'):
        return False
    if runtime == 'tensorrt-llm':
        return lower(row['precision']) in ('fp8', 'fp4')
    gemm = lower(row.setting('gemm'))
    own = checkpoint.startswith('fp8') or 'fp8' in lower(row['model'])
    return runtime == 'vllm' and (gemm == 'nvfp4' or (gemm == 'fp8' and not own
                                                      and compute_capability != '9.0'))


def cache_name(name):
    """The program's name of a source's format of keys, of values or of both."""
    return {'f16': 'fp16', '4 bit': 'q4_0'}.get(lower(name), lower(name))


def separate_caches(row, name):
    """(K, V) where the source says both: "q8_0 (K) and q4_0 (V)", "q8_0/q4_0", "ctk=q8_0;ctv=q4_0".
    llama.cpp leaves the part that is not given in 16 bit."""
    both = re.fullmatch(r'(\S+) \(k\) and (\S+) \(v\)|([^\s/]+)/([^\s/]+)', lower(name))
    if both:
        return both[1] or both[3], both[2] or both[4]
    keys, values = (row.setting(key) for key in ('ctk', 'ctv'))
    return (keys or 'f16', values or 'f16') if keys or values else None


def kv_precision_of(row, runtime, checkpoint, compute_capability):
    name = row.settings.get('kv', row.setting('kv_dtype') or row.setting('kv_cache_dtype'))
    for key, value in row.settings.items():
        if not value and key.endswith(' kv'):
            name = key[:-3]
    # FlexGen packs by groups of 64 with two scales.
    if not name and any(word in row['settings']
                        for word in ('compress-cache', 'compress-weight+cache')):
        return 'int4_g64'
    if not name and quantised_cache(row, runtime, checkpoint, compute_capability):
        return 'fp8'
    # "auto": the source is silent, and the engine decides.
    caches = separate_caches(row, name)
    if caches:
        keys, values = (cache_name(each) for each in caches)
        return keys if keys == values else f'{keys}/{values}'
    return cache_name(name) or 'auto'


def refuse_unknown_cache(row, runtime, found):
    """Raises Missing where an NVFP4 checkpoint is not named. Those of ModelOpt say in their config
    whether the cache is in FP8 (kv_cache_quant_algo), which halves it."""
    asked = family_of(runtime) in ('vllm', 'sglang') and found['kv_precision'] == 'auto'
    if asked and found['precision'] == 'nvfp4' and 'fp4' not in lower(row['model']):
        raise Missing('kv_precision: the NVFP4 checkpoint is not named, and may set FP8')


def flash_attention_of(row):
    """"fa=1", "fa", "no flash attention": on, off, or empty for the engine's own choice."""
    if 'fa' in row.settings:
        return 'off' if row.setting('fa') in ('0', 'off') else 'on'
    off = any(word in row.said for word in (';no fa', 'no flash attention', 'flash_attention=off'))
    return 'off' if off else ''


def threads_of(row):
    """"threads=16", "16 threads"."""
    for key, value in row.settings.items():
        number = leading_number(value) if key == 'threads' else \
            leading_number(key) if key.endswith(' threads') else None
        if number is not None:
            return int(number)
    return ''


def gpu_batches_of(row, runtime):
    """FlexGen's "gbs=32x4": parts of the batch that go through each layer in turn."""
    found = numbers_after(row['settings'], r'gbs=(\d+)x(\d+)') if runtime == 'flexgen' else None
    return max(1, found[1]) if found else ''
