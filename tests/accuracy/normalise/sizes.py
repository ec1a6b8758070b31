"""Tables of published sizes of quantised models."""
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
