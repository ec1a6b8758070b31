#include "model/train/recipe.hpp"

#include <string>
#include <vector>

#include "hardware/names.hpp"

namespace headroom::model {
namespace {

constexpr Recipe recipe_rows[] = {
    {"pure-16bit", "weights, gradients and states in 16 bit", 2, 2, 0, Held::bf16, false,
     "torch.optim keeps states in the parameter's type (torch 2.15)"},
    {"autocast", "weights, gradients and states in fp32, matrices in bf16", 4, 4, 0, Held::fp32,
     true, "torch.amp.autocast; transformers TrainingArguments bf16=True over fp32 weights"},
    {"fp32-master", "weights and gradients in 16 bit, an fp32 copy that is stepped on", 2, 2, 4,
     Held::bf16, false, "Rajbhandari et al., arXiv:1910.02054, section 3.1: 2 + 2 + 12 with Adam"},
    {"fp32-gradients", "as fp32-master, with gradients gathered in fp32", 2, 4, 4, Held::bf16,
     false, "Megatron-LM, accumulate_allreduce_grads_in_fp32: 2 + 4 + 12 with Adam"},
    {"sharded-fp32", "weights, gradients and states in fp32, gathered and computed with in bf16", 4,
     4, 0, Held::bf16, false,
     "torch.distributed.fsdp, MixedPrecision(param_dtype=bfloat16, reduce_dtype=float32)"},
    {"fp32", "everything in fp32", 4, 4, 0, Held::fp32, false, "torch's default type"},
    {"raised", "a quantised base, with everything else and what layers pass on in fp32", 4, 4, 0,
     Held::fp32, true, "PEFT 0.21 utils/other.py prepare_model_for_kbit_training", true, true},
    {"raised-fp32", "as raised, without mixed precision outside quantised layers", 4, 4, 0,
     Held::fp32, false, "PEFT 0.21 utils/other.py; transformers TrainingArguments bf16=False", true,
     true},
    {"raised-norms", "a quantised base, with norms and what layers pass on in fp32", 2, 2, 0,
     Held::fp32, true, "TRL before 0.27 with bf16 (models/utils.py peft_module_casting_to_bf16)",
     true},
};

}  // namespace

std::span<const Recipe> recipes() { return recipe_rows; }

const Recipe& recipe(std::string_view name) {
  std::vector<std::string> known;
  for (const Recipe& row : recipe_rows) {
    if (row.name == lower(name)) return row;
    known.emplace_back(row.name);
  }
  throw unknown_name("recipe", name, known);
}

}  // namespace headroom::model
