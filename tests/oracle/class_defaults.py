#!/usr/bin/env python3
"""Writes model/describe/catalogue/class_defaults.tsv: what transformers' config classes assume for keys that are absent.

usage: class_defaults.py [REPOSITORY]

A row per model_type that model/describe/architectures or the table names, and per section of these. It has the class's own
values before it derives any, as far as a shape may depend on them, and its other names for keys
(attribute_map). Run with the versions that make.py names.
"""
import glob, json, os, re, sys, warnings

warnings.filterwarnings("ignore")
import transformers
from transformers.models.auto.configuration_auto import CONFIG_MAPPING, CONFIG_MAPPING_NAMES

import variations

root = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(__file__), "..", "..")
wanted = set()
for path in glob.glob(f"{root}/model/describe/architectures/*.?pp") + glob.glob(f"{root}/model/describe/architectures/table/*.def"):
    wanted |= set(re.findall(r'"([\w\-.]+)"', open(path).read())) & set(CONFIG_MAPPING_NAMES)
table = f"{root}/model/describe/catalogue/class_defaults.tsv"
wanted |= {line.split("\t")[0] for line in open(table)} & set(CONFIG_MAPPING_NAMES)  # sections of files name further ones
queue = [CONFIG_MAPPING[t] for t in sorted(wanted)]
rows = {}
while queue:
    cls = queue.pop()
    if cls.model_type in rows or cls.model_type not in CONFIG_MAPPING_NAMES:
        continue
    values = {cls.attribute_map.get(k, k): variations.plain(v) for k, v in variations.fields_of(cls).items()}
    if cls.__dict__.get("is_encoder_decoder"):
        values["is_encoder_decoder"] = True
    for key, spec in cls.sub_configs_defaults.items():  # sections that are more than their class where they are absent
        own = {k: variations.plain(v) for k, v in spec.init_kwargs.items() if not variations.IDLE.search(k)}  # None is said, too
        if own and not spec.optional:
            values[key] = {"model_type": spec.model_type} | own
    rows[cls.model_type] = ({k: v for k, v in values.items() if v is not None and (k in cls.sub_configs_defaults or not isinstance(v, dict))},
                            dict(cls.attribute_map))
    queue += [s.config_class for s in cls.sub_configs_defaults.values() if getattr(s.config_class, "model_type", "")]
with open(table, "w") as f:
    for name, (values, names) in sorted(rows.items()):
        f.write(f"{name}\t{json.dumps(values, separators=(',', ':'))}\t{json.dumps(names, separators=(',', ':'))}\n")
print(len(rows), "rows")
