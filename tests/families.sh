#!/bin/bash
# Adding an architecture touches one file of model/describe/architectures and rows of one table. A module
# that predicts further tokens is one row more, of model/describe/multi_token_prediction.cpp.
# Checks that for the ten latest described families of transformers.
#
#   tests/families.sh SOURCE     checks the project
#   tests/families.sh --self     checks that the count can fail
#
# A mention is a string literal that starts with the family's model_type or with its classes' prefix.
# Not counted: tests, generated tables of transformers' config classes (model/describe/catalogue),
# comments, and model/checkpoint/gguf/architectures.cpp, which maps llama.cpp's own names.
set -euo pipefail

# model_type, prefix of the classes, and the day of "contributed to Hugging Face Transformers on" in
# transformers' docs/source/en/model_doc/<model_type>.md (read 2026-11-23).
families="
embedding_gemma2         EmbeddingGemma2  2026-09-14
hy_v4                    HYV4             2026-09-02
gte                      Gte              2026-09-01
moss_transcribe_diarize  MossTranscribe   2026-08-27
qwen4_exp                Qwen4Exp         2026-08-26
kimi_linear              KimiLinear       2026-08-24
step3p7                  Step3p7          2026-08-16
cohere_compass           CohereCompass    2026-08-10
dots3_note               Dots3Note        2026-08-09
fun_asr                  FunAsr           2026-07-28
"

# mentions MODEL_TYPE PREFIX: the files below hardware, model, report and sweep that mention it, once for
# each line.
mentions() {
  grep -rnE --include='*.cpp' --include='*.hpp' --include='*.def' "\"($1|$2)[A-Za-z0-9_]*\"" hardware model report sweep |
    grep -vE '^[^:]*:[0-9]+: *//' | cut -d: -f1 | grep -v '^model/checkpoint/gguf/architectures.cpp$' | sort
}

# judged: reads files, one a line; says what is wrong with them.
judged() {
  awk '/^model\/describe\/multi_token_prediction.cpp$/ { ++predictors; next }
       seen[$0]++ { next }
       /^model\/describe\/architectures\/table\// { ++tables; next }
       /^model\/describe\/architectures\/[a-z0-9_]+\.cpp$/ { ++files; next }
       { print "is mentioned in " $0; wrong = 1 }
       END { if (files != 1) print "is described in " files + 0 " files, not in one"
             if (tables != 1) print "has rows in " tables + 0 " tables, not in one"
             if (predictors > 1) print "has " predictors " rows of predictors, more than one" }'
}

if [ "${1:-}" = --self ]; then
  file=model/describe/architectures/a.cpp table=model/describe/architectures/table/sparse.def
  [ -z "$(printf '%s\n' $file $table | judged)" ] || { echo "one file and one table: refused"; exit 1; }
  [ -n "$(printf '%s\n' $file model/train/time.cpp $table | judged)" ] || { echo "a reader: passed"; exit 1; }
  [ -n "$(printf '%s\n' $file ${file/a.cpp/b.cpp} $table | judged)" ] || { echo "two files: passed"; exit 1; }
  [ -n "$(printf '%s\n' $file | judged)" ] || { echo "no row: passed"; exit 1; }
  predictor=model/describe/multi_token_prediction.cpp
  [ -z "$(printf '%s\n' $file $table $table $predictor | judged)" ] || { echo "a predictor: refused"; exit 1; }
  [ -n "$(printf '%s\n' $file $table $predictor $predictor | judged)" ] || { echo "two predictors: passed"; exit 1; }
  [ -n "$(printf '%s\n' $file $predictor | judged)" ] || { echo "a predictor alone: passed"; exit 1; }
  exit 0
fi

cd "$1"
failed=0
while read -r model_type prefix _; do
  [ -n "$model_type" ] || continue
  wrong=$(mentions "$model_type" "$prefix" | judged)
  if [ -n "$wrong" ]; then
    printf '%s\n' "$wrong" | sed "s/^/$model_type /"
    failed=1
  fi
done <<< "$families"
exit $failed
