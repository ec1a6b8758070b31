"""Reading of numbers and settings in fields that people wrote."""
import re

NUMBER = re.compile(r'[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?')
MONTHS = ('jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec')


def month_of(text):
    """(year, month) of the first "2026-08" or "aug 2026"."""
    digits = re.search(r'\b(20\d\d)-(\d\d)\b', text)
    if digits:
        return int(digits[1]), int(digits[2])
    words = re.search(r'\b(%s)\w* (20\d\d)\b' % '|'.join(MONTHS), text)
    return (int(words[2]), MONTHS.index(words[1]) + 1) if words else None


def number(text):
    """The field as a number; None where it is empty or holds anything else."""
    found = NUMBER.fullmatch(text)
    return float(text) if found and not text.startswith('+') else None


def leading_number(text):
    """The number that `text` starts with, if only a unit or words without digits follow."""
    found = NUMBER.match(text)
    if not found or text.startswith('+') or re.search(r'\d', text[found.end():]):
        return None
    return float(found.group())


def number_text(value):
    """The shortest text that reads as the same number."""
    return repr(value).removesuffix('.0') if abs(value) < 1e16 else f'{value:.17g}'


def leading_int(text):
    """The whole number that `text` starts with, spaces left out; 0 where there is none."""
    found = re.match(r'\s*([+-]?\d+)', text)
    return int(found.group(1)) if found else 0


def number_before(text):
    """The number that ends where `text` does, spaces and hyphens left out."""
    found = re.search(r'([\d.]+)[ -]*$', text)
    return leading_number(found.group(1)) if found else None


def number_behind(text, word):
    """The number that stands behind `word`."""
    at = text.find(word)
    found = re.match(r'[ -]*([\d.]+)', text[at + len(word):]) if at >= 0 else None
    return leading_number(found.group(1)) if found else None


def numbers_after(text, pattern):
    """Whole numbers in the groups of `pattern`, where it first matches; None where it does not."""
    found = re.search(pattern, text)
    return [int(each) for each in found.groups()] if found else None


def lower(text):
    """ASCII lower case, as the program compares names."""
    return ''.join(c.lower() if c < '\x80' else c for c in text)


def settings_of(text):
    """The settings "key=value;word;…": a word alone has an empty value; the last of a key counts."""
    found = {}
    for each in text.split(';'):
        key, _, value = each.partition('=')
        if key.strip():
            found[key.strip()] = value.strip()
    return dict(sorted(found.items()))


class Missing(Exception):
    """A row lacks what an estimate needs, or says what cannot be read."""


class Row:
    """One record as its source wrote it."""

    def __init__(self, fields):
        self.fields = {key: (value or '').strip() for key, value in fields.items() if key}
        self.settings = settings_of(self['settings'])
        self.said = lower(self['settings'])

    def __getitem__(self, column):
        return self.fields.get(column, '')

    def setting(self, key, otherwise=''):
        return self.settings.get(key, otherwise)

    def number(self, column):
        return number(self[column])

    def figure(self, *keys):
        """The number of the first of these settings that starts with one."""
        for key in keys:
            if key in self.settings:
                value = leading_number(self.settings[key])
                if value is not None:
                    return value
        return None

    def tokens(self, column, setting, otherwise):
        value = self.number(column)
        if value is not None:
            return round(value)
        value = self.figure(setting)
        return otherwise if value is None else int(value)
