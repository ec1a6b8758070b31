#!/bin/bash
# Fails when code outside the folders that describe and load models reads the name of a module or
# class. LayerSpec and TensorClass (model/describe) say what a layer is.
#
#   tests/names.sh SOURCE     checks the project
#   tests/names.sh --self     checks that the rule can fail
#
# A name is a string literal that
#   - ends as classes of models do ("LlamaDecoderLayer", "GemmaRMSNorm"), or
#   - is one word of the vocabulary of model/describe (readers of layers, blocks) with an underscore in it ("q_proj", "c_attn"), alone or
#     between dots ("model.norm.q_proj.weight").
# Words without an underscore ("norm", "experts") are ordinary English and are not judged.
set -euo pipefail

rooms="hardware model/engine model/infer model/train model/answer report sweep"
classes='[A-Z][A-Za-z0-9_]*(Layer|Block|Attention|MLP|Norm|Linear|ForCausalLM|LMHeadModel|ForConditionalGeneration|Router|Experts|MaskedLM|Conv1D)'
# Words that mean something else outside, each with its reason.
other_words="AutoModelForCausalLM AdaNorm attention_dropout embed_dropout resid_dropout feed_forward"
#            a loader's name      optimizer a config's keys                              a measured factor

# Folders whose names come from elsewhere: an engine's own registry of classes, and the adapter
# targets of measured rows.
other_folders='^(model/engine|sweep/accuracy)/'

# literals FOLDER...: "file:line literal" of each string literal that is no include and no comment.
literals() {
  grep -rnE --include='*.cpp' --include='*.hpp' '"' "$@" | grep -vE '^[^:]*:[0-9]+: *(//|#include)' |
    awk '{ at = index($0, ":"); rest = substr($0, at + 1); line = substr(rest, 1, index(rest, ":") - 1)
           file = substr($0, 1, at - 1); text = substr(rest, index(rest, ":") + 1)
           while (match(text, /"([^"\\]|\\.)*"/)) {
             print file ":" line " " substr(text, RSTART + 1, RLENGTH - 2)
             text = substr(text, RSTART + RLENGTH)
           } }'
}

# Names that the readers of layers use, and names that the blocks give modules and tensors.
vocabulary() {
  {
    literals model/describe/layers model/describe/layer_spec.cpp model/describe/tensor_class.cpp | cut -d' ' -f2-
    grep -hoE '\b(in|linear|rms_norm|layer_norm|module|tensor|embedding|buffer|router|conv1d)\("[^"]*"' \
      model/describe/blocks/*.cpp | cut -d'"' -f2
  } | tr '.' '\n' | grep -E '^[A-Za-z0-9]+(_[A-Za-z0-9]+)+$' | sort -u
}

# judged: reads "file:line literal", prints those that are names.
judged() {
  awk -v classes="^$classes\$" -v other="$other_words" '
    NR == FNR { known[$0]; next }
    { literal = substr($0, index($0, " ") + 1) }
    index(" " other " ", " " literal " ") { next }
    literal ~ classes { print; next }
    { n = split(literal, words, "."); for (i = 1; i <= n; ++i) if (words[i] in known) { print; break } }' \
    <(vocabulary) -
}

if [ "${1:-}" = --self ]; then
  cd "$(dirname "$0")/.."
  found=$(printf '%s\n' 'a.cpp:1 LlamaDecoderLayer' 'a.cpp:2 model.layers.q_proj.weight' 'a.cpp:3 c_attn' \
    'a.cpp:4 norm' 'a.cpp:5 AdaNorm' 'a.cpp:6 weights of experts' | judged | cut -d' ' -f1 | tr '\n' ' ')
  [ "$found" = "a.cpp:1 a.cpp:2 a.cpp:3 " ] || { echo "the rule found: $found"; exit 1; }
  exit 0
fi

cd "$1"
wrong=$(literals $rooms | grep -vE "$other_folders" | judged)
if [ -n "$wrong" ]; then
  echo "names of modules or classes outside model/describe and model/checkpoint:"
  echo "$wrong"
  exit 1
fi
