"""Tables of published sizes of quantised models, and files of mixes that no rule describes."""
import csv
import pathlib
import re

from .text import Missing, lower

UNITS = {'bytes': 1, 'GB': 1e9, 'GiB': 2 ** 30, 'MB': 1e6, 'MiB': 2 ** 20}
# Recipes as files are named, where that is not a name of the program's scheme.
RECIPES = {'fp8-e4m3 block 128x128': 'fp8-block', 'nf4 double-quant': 'nf4-double',
           'fp8-dynamic (per-channel weight scale)': 'fp8-channel', 'nvfp4 (modelopt)': 'nvfp4'}


def schemes_of(row):
    """The schemes that a recipe can mean, apart by spaces: two where the row does not say whether
    an importance matrix was used. The program leaves out those that it does not have."""
    name = lower(row['quant'])
    if row['format'] in ('ggml-v3', 'mlx'):
        raise Missing(f"precision: files in {row['format']}")
    if row['format'] == 'gguf':
        name = name.split(' - ')[0]
        name = f'gguf-{name}' if name in ('f16', 'bf16', 'f32') else name
    else:
        name = name.removesuffix('-actorder')
        name = RECIPES.get(name, name)
    notes = lower(row['notes'])
    without = 'no imatrix' in notes
    if not name or ' ' in name:
        raise Missing(f"precision: '{row['quant']}'")
    if without:
        return name
    return f'{name}-imatrix|{name}' if 'imatrix' in notes else f'{name} {name}-imatrix'


def file_stem(model):
    """The model's name as tables of files have it: without owner, the ending of repositories and of tuned models."""
    name = lower(model.partition(' (')[0]).rpartition('/')[2].removesuffix('-gguf')
    return name.removesuffix('-instruct').removesuffix('-it')


def read_files():
    path = pathlib.Path(__file__).parent / 'gguf_sizes.tsv'
    with path.open() as lines:
        return {(file_stem(row['model']), row['mix']): row for row in csv.DictReader(lines, delimiter='\t')}


FILES = read_files()
# The plain mix that a dynamic one starts from. Which tensors it holds in more bits differs by model.
PLAIN = {'q2_k_xl': 'q2_K', 'q3_k_xl': 'q3_K_M', 'q4_k_xl': 'q4_K_M', 'q5_k_xl': 'q5_K_M',
         'q6_k_xl': 'q6_K', 'q8_k_xl': 'q8_0'}


# Formats that only ik_llama.cpp has. Files that are called after them are mixes by their makers.
OWN_FORMATS = re.compile(r'iq\d_k\w*|\w+_r\d+')


IN_HOST = {'ot', 'override_tensor', 'n_cpu_moe', 'ncmoe', 'cpu_moe', 'cmoe'}


def printed_gib(row):
    """The size of the file that the row prints; None where it prints none, or one for each place."""
    if IN_HOST & row.settings.keys():
        return None
    for key, unit in (('model_gib', 1), ('model_mib', 1 / 1024), ('model_bytes', 1 / 2 ** 30)):
        if re.fullmatch(r'[\d.]+', row.setting(key)):
            return float(row.setting(key)) * unit
    return None


def dynamic_file(row):
    """The plain mix of "UD-Q4_K_XL", "UD-IQ3_XXS", "IQ4_K_R4" or "IQ4_XS (pure)", and the size of the
    file that this row or another source prints. Nothing for a plain mix, or for a format without a size.
    llama-quantize --pure has every matrix in one format, so its files are smaller than the mix."""
    name = lower(row['precision'])
    if pure := re.fullmatch(r'(\w+) \(pure\b.*\)', name):
        gib = printed_gib(row)
        if not gib:
            raise Missing(f"precision: the size of a file in '{row['precision']}' is not stated")
        return {'precision': pure[1], 'weights_gib': gib, 'parameters': ''}
    mix = name.removeprefix('ud-')
    if mix not in PLAIN and mix == name and not OWN_FORMATS.fullmatch(mix):
        return {}
    known = FILES.get((file_stem(row['model']), mix), {'gib': '', 'parameters': ''})
    gib = printed_gib(row) or known['gib']
    if not gib and mix == name and mix not in PLAIN:
        return {}
    if not gib:
        raise Missing(f"precision: the size of a file in '{row['precision']}' is not stated")
    return {'precision': PLAIN.get(mix, mix), 'weights_gib': float(gib),
            'parameters': known['parameters']}


def loaded_size(row, found):
    """A maker of 4-bit checkpoints chooses which layers stay in 16 bit. A label that prints what one card loads has
    that size, as the program has the sizes of a checkpoint's tensors."""
    gib = printed_gib(row) if re.search(r'int4|nvfp4', found['precision']) else None
    return {'weights_gib': gib} if gib and found['machine'].startswith('1x ') and row.setting('tp') == '1' else {}


def rounding_of(printed):
    """Half a unit of the last printed digit."""
    return 0.5 * 10.0 ** -len(printed.partition('.')[2])


def size_of(row, found, models):
    found['precision'] = schemes_of(row)
    found['form'] = row['format']
    found['model'] = models.reference(row['model']) or ''
    if not found['model']:
        raise Missing(f"model: no config of '{row['model']}'")
    value, unit = row.number('value'), row['unit']
    if value is None or value <= 0 or (unit not in UNITS and unit != 'bpw'):
        raise Missing(f"value: '{row['value']}' in '{unit}'")
    found |= {'figure': row['quantity'], 'value': value, 'unit': unit,
              'rounding': 0.0 if unit == 'bytes' else rounding_of(row['value'])}
    if unit in UNITS:
        found |= {'value': value * UNITS[unit], 'unit': 'bytes',
                  'rounding': found['rounding'] * UNITS[unit]}
