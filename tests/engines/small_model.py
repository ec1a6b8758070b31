"""usage: small_model.py MODEL_TYPE JSON FOLDER   writes a model with random weights and a tokenizer of two words"""
import json
import sys

import torch
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import AutoConfig, AutoModelForCausalLM, PreTrainedTokenizerFast

model_type, changes, folder = sys.argv[1:]
torch.manual_seed(0)
config = AutoConfig.for_model(model_type, **json.loads(changes))
AutoModelForCausalLM.from_config(config, dtype=torch.bfloat16).save_pretrained(folder)
words = Tokenizer(models.WordLevel({"Hello": 0, "[UNK]": 1}, unk_token="[UNK]"))
words.pre_tokenizer = pre_tokenizers.Whitespace()
PreTrainedTokenizerFast(tokenizer_object=words, unk_token="[UNK]").save_pretrained(folder)
