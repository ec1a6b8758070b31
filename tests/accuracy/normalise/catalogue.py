"""Names of cards, hosts and models that the program knows, and how people spell them."""
import csv
import io
import pathlib
import re
import subprocess
import tomllib

from .engine import Versions
from .text import lower

GIB = 2 ** 30
# Makers and brands that people put before the name of a product, or leave out.
BRANDS = ('nvidia', 'amd', 'intel', 'apple', 'google', 'aws', 'geforce', 'tesla', 'quadro',
          'instinct', 'radeon', 'rtx', 'gtx', 'rx', 'arc')


def without_brand(word):
    for brand in BRANDS:
        if word.startswith(brand) and any(c.isdigit() for c in word):
            return word[len(brand):]
    return word


def with_one_unit(word):
    """"80gb" for "80g", "80gb" and "80gib"; anything else as it is."""
    digits = len(word) - len(word.lstrip('0123456789'))
    return word[:digits] + 'gb' if digits and word[digits:] in ('g', 'gib') else word


def name_words(name):
    """The words of a name without its maker: "NVIDIA GeForce RTX 4090" is ["4090"]."""
    found = []
    for each in lower(name).translate(str.maketrans('-_()', '    ')).split(' '):
        if not each or each in BRANDS:
            continue
        if each in ('gb', 'gib') and found and found[-1].isdigit():
            found[-1] += 'gb'
        else:
            found.append(with_one_unit(without_brand(each)))
    return found


def spelling(name):
    return ''.join(sorted(name_words(name)))


def same(asked, name):
    other = name_words(name)
    return ''.join(asked) == ''.join(other) or sorted(asked) == sorted(other)


def memory_of(row):
    return row['memory_mib'] * 2 ** 20 if 'memory_mib' in row else row['memory_gib'] * GIB \
        if 'memory_gib' in row else row['memory_gb'] * 1e9


def inherit(row, rows):
    """Fills what `row` leaves to the row that it is based on; one size of memory replaces any."""
    base = row
    while 'based_on' in base:
        base = rows[base['based_on']]
        sized = any(key.startswith('memory_') for key in row)
        for key, value in base.items():
            if key not in ('aliases', 'based_on') and not (sized and key.startswith('memory_')):
                row.setdefault(key, value)


class Cards:
    """The rows of hardware/catalogue."""

    def __init__(self, folder):
        self.devices, self.hosts = [], {}
        for path in sorted(pathlib.Path(folder).glob('*.toml')):
            table = tomllib.loads(path.read_text())
            self.devices += table.get('device', [])
            self.hosts.update({row['name']: row for row in table.get('host', [])})
        by_name = {row['name']: row for row in self.devices}
        for rows in (by_name, self.hosts):
            for row in rows.values():
                inherit(row, rows)
        self.by_name = by_name

    def _named(self, asked):
        found = []
        for row in self.devices if asked else []:
            if same(asked, row['name']):
                return [row]
            if any(same(asked, alias) for alias in row.get('aliases', [])):
                found.append(row)
        return found

    def find(self, name):
        """The one row that `name` means; None where it is not known or means several."""
        if lower(name) in self.by_name:
            return self.by_name[lower(name)]
        asked = name_words(name)
        found = self._named(asked)
        if not found:
            size = next((w for w in asked if w.endswith('gb') and w[:-2].isdigit()), None)
            if size:
                without = list(asked)
                without.remove(size)
                found = self._named(without)
                gigabytes = int(size[:-2])
                if len(found) == 1 and abs(memory_of(found[0]) / GIB - gigabytes) > gigabytes / 12:
                    return None
        if not found:
            fitting = [row for row in self.devices
                       if asked and set(asked) <= set(name_words(row['name']))]
            found = [row for row in fitting
                     if not any(row['name'].startswith(o['name'] + '-') for o in fitting)]
        return found[0] if len(found) == 1 else None


# Endings of model names for a fine-tune with equal shapes, or for the precision of weights, which
# has its own column.
ENDINGS = ('instruct', 'chat', 'it', 'hf', 'base', 'awq', 'gptq', 'int4', 'int8', 'gptqint4',
           'gptqint8', 'fp8', 'fp8dynamic', 'nvfp4', 'mxfp4', 'bf16', 'fp16', 'gguf', '4bit',
           '8bit', 'bnb4bit', 'quantized.w4a16', 'fp8block', 'sft', 'finetune', 'class', '2506', '2507', '2512', '0324', '0528')


def shorter(plain):
    endings = [e for e in ENDINGS if plain.endswith(e) and len(plain) > len(e)]
    return plain[:len(plain) - max(map(len, endings))] if endings else plain


def plain_name(name):
    """A name without what spellings differ in: "Meta-Llama-3-8B" is "llama38b"."""
    owner, slash, rest = name.partition('/')
    if slash and ' ' not in name and '/' not in rest and not any(c in '0123456789' for c in owner):
        name = rest
    plain = lower(name).translate(str.maketrans('', '', '-_ '))
    return plain[4:] if plain.startswith('metallama') else plain


def table_of(binary, *command):
    listed = subprocess.run([binary, *command, '--format', 'csv'], check=True, capture_output=True, text=True)
    return list(csv.DictReader(io.StringIO(listed.stdout)))


class Models:
    """References of models: a folder of configs, then published names, then the catalogue."""

    def __init__(self, binary, names_file, folder):
        self.files, self.published, self.catalogue, self.shortened, self.checkpoints = {}, {}, {}, {}, {}
        for path in sorted(pathlib.Path(folder).iterdir()) if folder else []:
            name = path.name.removesuffix('.json')
            if path.suffix == '.json' or (path / 'config.json').exists():
                self.files[plain_name(name.partition('__')[2] or name)] = name
        for line in pathlib.Path(names_file).read_text().splitlines()[1:]:
            cells = line.split('\t')
            if len(cells) > 2:
                self.published.setdefault(plain_name(cells[0]), cells[1])
        rows = table_of(binary, 'models', 'list')
        self.versions = Versions(table_of(binary, 'runtimes'))
        self.checkpoints = {row['model']: row['checkpoint_precision'] for row in rows}
        for row in rows:
            self.catalogue.setdefault(plain_name(row['model']), row['model'])
        for row in sorted(rows, key=lambda each: len(each['model'])):  # the shortest endings first
            plain, last = plain_name(row['model'].rpartition('/')[2]), ''
            self.catalogue.setdefault(plain, row['model'])
            while plain != last:
                self.shortened.setdefault(plain, row['model'])
                last, plain = plain, shorter(plain)

    def _exact(self, plain):
        for names in (self.files, self.published, self.catalogue):
            if plain in names:
                return names[plain]
        return None

    def named(self, name):
        """The model of exactly that name; None where no config of it is known."""
        return self._exact(plain_name(name))

    def reference(self, name, precision=''):
        """None where no config is known. A checkpoint published in that precision comes first."""
        if precision:
            published = self._exact(plain_name(f'{name}-{precision}'))
            if published:
                return published
        # Whole names of the catalogue come first: a checkpoint's endings may stand for other shapes.
        for known in (self._exact, self.shortened.get):
            for plain in (plain_name(name), plain_name(name.split(' (')[0])):
                last = ''
                while plain != last:
                    if known(plain):
                        return known(plain)
                    last, plain = plain, shorter(plain)
        shaped = re.fullmatch(r'(GPT-2) [\d.]+B \((\d+)L h(\d+) (\d+) heads\)', name)
        if shaped:
            return (f'{self.reference(shaped[1])}?n_layer={shaped[2]}&n_embd={shaped[3]}'
                    f'&n_head={shaped[4]}')
        whole, cut, layers = name.partition(' truncated to ')
        if cut and layers.endswith(' layers') and layers.split(' ')[0].isdigit():
            reference = self.reference(whole)
            if reference:
                joint = '&' if '?' in reference else '?'
                return f'{reference}{joint}num_hidden_layers={layers.split(" ")[0]}'
        return None

    def checkpoint(self, reference):
        """The precision that the model is published in; empty where it is not known."""
        return self.checkpoints.get(reference.partition('?')[0], '')
