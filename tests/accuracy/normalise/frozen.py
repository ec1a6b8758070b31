"""The types of frozen weights beside those of 4 bit, as the programs of rows hold them."""
import re

from .text import lower

# Programs that do not call PEFT's prepare_model_for_kbit_training (ms-swift 4.6), or take its types
# back (axolotl 0.19 loaders/model.py, _convert_embedding_modules_dtype).
WITHOUT = ('axolotl', 'ms-swift')
# Their norms alone stay in fp32: TRL with bf16 before 0.27 of January 2026 (models/utils.py
# peft_module_casting_to_bf16) and the script of QLoRA (qlora.py get_accelerate_model).
NORMS = ('trl', 'peft/trl')
LAST_YEAR_OF_NORMS = 2025


def recipe_of_frozen(row, script, base, shared):
    """`base`: the format of what is quantised, if anything. DeepSpeed and FSDP have one type."""
    prepares = script['runtime'] in ('torch', 'trainer', 'trainer-v4') and base.startswith('nf4')
    written = lower(row.setting('framework'))
    if not prepares or shared or script['starts'] in WITHOUT or row.setting('prepared_base') == 'no':
        return 'pure-16bit'
    if 'qlora.py' in written:
        return 'raised-norms'
    if script['starts'] in NORMS:
        year = re.search(r'20\d\d', written)
        if year and int(year[0]) > LAST_YEAR_OF_NORMS:
            return 'pure-16bit'
        return 'raised' if 'fp16' in row.said else 'raised-norms'
    return 'raised'
