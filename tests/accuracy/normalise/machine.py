"""Cards, processors, memory and disks as sources write them."""
import csv
import math
import pathlib
import re

from .catalogue import GIB, memory_of, spelling
from .text import (Missing, leading_number, lower, number_before, number_behind, number_text,
                   numbers_after)

# Form of a card for sources that do not state it.
USUAL_FORMS = {'a100': 'a100-sxm-80gb', 'a100 80gb': 'a100-sxm-80gb', 'a100 40gb': 'a100-sxm-40gb',
               'h100': 'h100-sxm-80gb', 'v100': 'v100-sxm-32gb',
               'rtx 4060 ti': 'rtx-4060-ti-16gb', 'rtx 5060 ti': 'rtx-5060-ti-16gb'}


def is_feature(word):
    """"HBM2e", "2.4TB/s", "500W": what a card has, no part of its name."""
    unit = word.lstrip('0123456789.')
    return word.startswith(('hbm', 'gddr')) or (unit != word and unit in ('tb/s', 'gb/s', 'w'))


def plain_card(text):
    """A card's name without remarks, features and sizes; and the size in GiB, or None."""
    text = text.replace('\u2011', '-').replace('_', ' ')
    remark = ''.join(' ' + each for each in re.findall(r'\(([^)]*)\)?', text))
    text = re.sub(r'\([^)]*\)?', '', text)
    named, gib, plain = len(text), None, []
    every = lower(text + remark).split(' ')
    start = 0
    for word, following in zip(every, every[1:] + ['']):
        size, unit = leading_number(word), word.lstrip('0123456789.')
        alone = not unit and following in ('gib', 'gb')
        if size is not None and (alone or unit in ('gb', 'g', 'gib')):
            gib = size
        elif (start < named and word and word not in ('gpu', 'gib', 'gb')
              and not word.endswith('-core') and not is_feature(word)):
            plain.append(word)
        start += len(word) + 1
    return ' '.join(plain), gib


def of_some_size(cards, name, gib):
    """Rows called NAME-16gb, NAME-32gb: the stated size, else the largest, since a run that is
    reported has fitted."""
    name = name.replace(' ', '-').removeprefix('apple-')
    found = None
    for row in cards.devices:
        if not re.fullmatch(re.escape(name) + r'-\d*gb', row['name']):
            continue
        size = memory_of(row) / GIB
        if gib is not None and abs(size - gib) < 0.1 * size:
            return row
        if found is None or memory_of(row) > memory_of(found):
            found = row
    return found


def card_of(cards, text, stated):
    """The catalogue's row, and the memory in GiB where the row's own is not the catalogue's."""
    plain, gib = plain_card(text)
    gib = gib if stated is None else stated

    def find(name):
        for written, device in USUAL_FORMS.items():
            if spelling(written) == spelling(name):
                return cards.by_name[device]
        return cards.find(name)

    found = None
    if gib is not None:
        size = math.floor(gib + 0.5)
        found = find(f'{plain} {size}gb') or find(f'{plain} sxm {size}gb')
    found = found or find(plain) or of_some_size(cards, plain, gib)
    # A box that is called after its cards: "DGX-H100".
    if found is None and 'dgx-' in plain:
        return card_of(cards, plain.partition('dgx-')[2], stated)
    if found is None:
        raise Missing(f"card: '{text}' is not in the catalogue")
    catalogued = memory_of(found) / GIB
    # A figure with decimals is a driver's. A whole one is a nominal size, and counts where it is
    # not the catalogue's: cards with exchanged memory.
    own = gib is not None and (gib != math.floor(gib) or abs(catalogued - gib) > gib / 12)
    return found, gib if own else None


def refuse_unknown_sizes(row, cards):
    """A failure on a card that is made in several sizes says nothing, if the size is not stated."""
    if row.number('gpu_memory_gb') or row.figure('gpu_memory_gb'):
        return
    for text in row['gpu'].split(' + '):
        plain, gib = plain_card(text)
        name = re.escape(plain.replace(' ', '-'))
        sizes = {round(memory_of(each) / GIB) for each in cards.devices
                 if re.fullmatch(f'(nvidia-|apple-)?{name}(-sxm|-pcie)?-[0-9]+gb', each['name'])}
        if gib is None and len(sizes) > 1:
            raise Missing(f"card_gib: '{text}' has several sizes")


def cards_of(row, cards):
    """The columns `machine`, `card_gib` and `nodes`."""
    text, count = row['gpu'], row.number('gpu_count')
    if row['gpu_count'] and count is None:
        raise Missing(f"gpu_count: '{row['gpu_count']}' is no number")
    if text in ('', '-') or lower(text).startswith('none'):
        if count:
            raise Missing('card: none is named')
        return {'machine': 'cpu'}
    stated = row.number('gpu_memory_gb') or row.figure('gpu_memory_gb')
    every = [card_of(cards, each, stated) for each in text.split(' + ')]
    number = int(count if count is not None else 1)
    if not 1 <= number <= 1024:
        raise Missing(f"gpu_count: {row['gpu_count']}")
    every = [every[i % len(every)] for i in range(max(number, len(every)))]
    parts = []
    for card, gib in every:
        if parts and parts[-1][1:] == [card['name'], gib]:
            parts[-1][0] += 1
        else:
            parts.append([1, card['name'], gib])
    found = {'machine': ' + '.join(f'{n}x {name}' for n, name, _ in parts)}
    if any(gib is not None for _, _, gib in parts):
        found['card_gib'] = ' + '.join('' if gib is None else number_text(gib)
                                       for _, _, gib in parts)
    nodes = re.search(r'(\d+) nodes', row.said)
    usual = cards.hosts.get(every[0][0].get('host', ''), {})
    if nodes and int(nodes[1]) > 1 and len(every) % int(nodes[1]) == 0 and \
            usual.get('network_gbs', 0) > 0:
        found['nodes'] = int(nodes[1])
    return found


def network_of(said):
    """GB/s of a box's network: "4x100Gb RoCE", "1600 Gbps node-node interconnect"."""
    several = numbers_after(said, r'(\d+)x(\d+)gb roce')
    whole = numbers_after(said, r'(\d+) gbps')
    return several[0] * several[1] / 8 if several else whole[0] / 8 if whole else ''


def boxes_of(row, cards):
    """Cards of a training step, and how they are spread over boxes."""
    found = cards_of(row, cards)
    nodes = numbers_after(row.said, r'nodes=(\d+)')
    if nodes and nodes[0] > 1:
        found['nodes'] = nodes[0]
    return found | {'network_gbs': network_of(row.said)}


def read_processors():
    path = pathlib.Path(__file__).parent / 'processors.tsv'
    with path.open() as lines:
        rows = list(csv.DictReader(lines, delimiter='\t'))
    return [{k: v if k == 'written' else float(v) for k, v in row.items()} for row in rows]


PROCESSORS = read_processors()


def processor_in(cpu):
    """The longest name that `cpu`, in lower case, has."""
    return max((p for p in PROCESSORS if p['written'] in cpu),
               key=lambda p: len(p['written']), default=None)


def sockets_of(cpu, settings):
    """"2x Xeon", "2 x EPYC", "dual EPYC", "dual socket", "2x32 cores"."""
    def says(*words):
        return any(word in cpu or word in settings for word in words)
    if says('single socket', 'one socket'):
        return 1
    if says('dual socket', 'dual-socket', 'two sockets', '2 sockets') or \
            cpu.startswith(('2x ', '2 x ', 'dual ')):
        return 2
    at = settings.find('2x')
    found = re.match(r'(\d+)x(\d+) cores', settings[at:]) if at >= 0 else None
    return int(found[1]) if found else 1


DDR4, DDR5 = (2133, 2400, 2666, 2933, 3200, 3600), (4800, 5200, 5600, 6000, 6400)


def rated_bandwidth(measured, processor, sockets):
    """The least rate of modules that gives as much as was measured, as bandwidth in GB/s."""
    if processor is None:
        return measured
    for rate in DDR4 if processor['mts'] < DDR5[0] else DDR5:
        rated = sockets * processor['channels'] * rate * 8 / 1000
        if rated >= measured:
            return rated
    return measured


CHANNELS = {'dual-channel': 2, 'quad-channel': 4, 'six-channel': 6, 'eight-channel': 8,
            'octa-channel': 8, 'twelve-channel': 12}


def stated_bandwidth(text, processor, sockets):
    """"measured 102 GB/s", "24x DDR5-6400", "8 channels DDR4-3200": channels * rate * 8 bytes."""
    measured = number_behind(text, 'measured ')
    if measured is not None:
        return rated_bandwidth(measured, processor, sockets)
    for unit in (' gb/s memory', ' gb/s ram', 'gb/s memory', 'gb/s ram'):
        if unit in text and number_before(text[:text.find(unit)]) is not None:
            return number_before(text[:text.find(unit)])
    ddr = text.find('ddr')
    rate = number_behind(text[ddr + 4:], '') if ddr >= 0 else None
    if rate is None or rate < 800:
        return None
    before = text[:ddr].rstrip(' ').rpartition(';')[2]
    channels = None
    for word, count in CHANNELS.items():
        channels = count if word in text else channels
    if channels is None and before.endswith('x'):
        channels = number_before(before[:-1])
    for word in ('channels', 'channel', '-channel'):
        if channels is None and word in text:
            channels = number_before(text[:text.find(word)])
    if channels is None and processor is not None:
        channels = sockets * processor['channels']
    return None if channels is None else channels * rate * 8 / 1000


# Sequential read of kinds of disks, GB/s: the rate of a four-lane bus after encoding, less a tenth,
# as in data sheets of fast disks. NVMe without a generation stands for PCIe 4.0, which hosts since
# 2020 have. The first that is found counts.
DISKS = {'pcie 5.0 nvme': 14, 'pcie gen5 nvme': 14, 'pcie 4.0 nvme': 7, 'pcie gen4 nvme': 7,
         'pcie 3.0 nvme': 3.5, 'pcie gen3 nvme': 3.5, 'nvme': 7, 'sata ssd': 0.55, 'hdd': 0.2}


def disk_in(part):
    """"NVMe SSD 29.4 GB/s", "NVMe 5600MB/s", "3x NVMe" of one part of a text, in GB/s."""
    if not any(word in part for word in ('ssd', 'nvme', 'disk', 'hdd')):
        return None
    for unit, scale in (('gb/s', 1), ('mb/s', 1000)):
        if unit in part and number_before(part[:part.find(unit)]) is not None:
            return number_before(part[:part.find(unit)]) / scale
    for kind, rate in DISKS.items():
        at = part.find(kind)
        if at >= 0:
            times = part.rfind('x ', 0, at + 2)
            disks = number_before(part[:times]) if times >= 0 else None
            return (1 if disks is None else disks) * rate
    return None


def host_of(row):
    """Columns of the host: memory, its bandwidth, the processor's peak, cores, sockets, disk."""
    cpu = lower(row['cpu'])
    processor, sockets = processor_in(cpu), sockets_of(cpu, row.said)
    bandwidth = stated_bandwidth(f'{cpu}; {row.said}', processor, sockets)
    ram = leading_number(row['ram_gb'] or row['cpu_ram_gb'])
    disks = (disk_in(part) for part in f'{row.said};{cpu}'.split(';'))
    disk = next((rate for rate in disks if rate is not None), None)
    found = {'host': row['cpu'], 'ram_gib': ram, 'ram_gbs': bandwidth, 'disk_read_gbs': disk,
             'ram_gbs_stated': 'yes' if bandwidth is not None else '', 'sockets': sockets}
    if processor is not None:
        fast = processor['performance_gflops']
        # Threads run on performance cores first: as many of them as have the peak of all.
        cores = round(processor['gflops'] / fast) if fast > 0 else processor['cores']
        found |= {'cores': sockets * int(cores), 'cpu_gflops': sockets * processor['gflops']}
        if bandwidth is None:
            found['ram_gbs'] = sockets * (processor['channels'] * processor['mts'] * 8 / 1000)
    return found
