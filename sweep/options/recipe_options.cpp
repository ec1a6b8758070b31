#include "sweep/options/recipe_options.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "hardware/names.hpp"
#include "model/train/time.hpp"
#include "sweep/options/flags.hpp"

namespace headroom::sweep {

const model::MatrixFormat* matrices_of(const Options& options) {
  const std::string precision = options.text("precision", "bf16");
  const auto known =
      std::ranges::find(model::matrix_formats(), precision, &model::MatrixFormat::name);
  return known != model::matrix_formats().end() ? &*known : nullptr;
}

std::string base_precision(const Options& options) {
  options.exclusive({"qlora", "base-precision"});
  if (options.given("qlora")) return "nf4";
  const std::string name = lower(options.text("base-precision", ""));
  if (name.empty()) return {};
  const model::Scheme* scheme = model::find_scheme(name);
  if (scheme == nullptr || scheme->family != model::SchemeFamily::bitsandbytes)
    throw UsageError(fmt::format(
        "--base-precision: found '{}', expected nf4, nf4-double, fp4, fp4-double or int8", name));
  return std::string(scheme->name);
}

namespace {

/// True for fp32, false for 16 bit. Throws UsageError for a precision of another kind.
bool asks_for_fp32(const std::string& precision) {
  if (precision == "fp32" || precision == "float32") return true;
  if (precision == "bf16" || precision == "fp16" || precision == "bfloat16" ||
      precision == "float16")
    return false;
  throw UsageError(fmt::format(
      "--precision: found '{}'; training computes in bf16, fp16 or fp32, matrices of layers in "
      "fp8, fp8-block, mxfp8 or nvfp4 too (--qlora and --base-precision hold frozen weights in 4 "
      "or 8 bit)",
      precision));
}

/// A file that asks for no other type: transformers loads weights in the checkpoint's (dtype
/// "auto", transformers 5 modeling_utils.py; TRL 1.16 sft_trainer.py says so too).
const model::Recipe& recipe_as_stored(const model::TrainingScenario& s, GivenTraining& given) {
  const std::string& stored = s.model->checkpoint_scheme;
  const bool wide = stored == "fp32";
  given.precision = wide ? "fp32" : stored == "fp16" ? "fp16" : "bf16";
  given.assumed.push_back(fmt::format(
      "weights, gradients and states in {}, as the checkpoint: the file asks for no mixed "
      "precision (--recipe fp32 where the script loads weights so)",
      given.precision));
  return model::recipe(wide ? "fp32" : "pure-16bit");
}

}  // namespace

const model::Recipe& recipe_of(const Options& options, const model::TrainingScenario& s,
                               GivenTraining& given, bool as_stored) {
  options.exclusive({"recipe", "mixed-precision"});
  const std::string precision = options.text("precision", "bf16");
  const bool fp32 = s.matrices == nullptr && asks_for_fp32(precision);
  if (options.given("recipe") || options.given("mixed-precision")) {
    const std::string name = options.text("recipe", "autocast");
    if (name == "lora" || name == "qlora")
      throw UsageError(fmt::format("--recipe {}: an adapter is no recipe; type --{}", name, name));
    const model::Recipe& asked = model::recipe(name);
    if (options.given("precision") && fp32 != asked.computes_in_fp32())
      throw UsageError(fmt::format("--precision {}: the recipe {} computes in {}; leave one out",
                                   precision, asked.name,
                                   asked.computes_in_fp32() ? "fp32" : "16 bit"));
    return asked;
  }
  if (as_stored && !options.given("precision") && given.adapter == nullptr)
    return recipe_as_stored(s, given);
  const model::Recipe& row =
      fp32 ? model::recipe("fp32") : model::usual_recipe(*s.runtime, s.zero, model::trained_by(s));
  const std::string meaning =
      row.over_quantised
          ? std::string(
                "PEFT raises what is not quantised to fp32; TRL since 0.27, axolotl and "
                "LLaMA-Factory do not: pure-16bit")
      : given.adapter ? fmt::format("frozen weights in {}", row.weight == 4 ? "fp32" : "16 bit")
                      : std::string(row.meaning);
  given.assumed.push_back(fmt::format("recipe {}: {} (--recipe)", row.name, meaning));
  return row;
}

/// The type of 16-bit products. fp16 has memory as bf16: torch's GradScaler and DeepSpeed's loss
/// scaling keep a few numbers (torch/amp/grad_scaler.py, DeepSpeed runtime/fp16/loss_scaler.py).
void read_type(const Options& options, GivenTraining& given) {
  if (!given.machine) return;
  model::TrainingScenario& s = given.scenario;
  const auto& cards = given.machine->devices;
  const auto without = std::ranges::find_if_not(cards, &Device::multiplies_bf16);
  if (without == cards.end() || model::multiplies_in_fp32(s, *without)) return;
  if (options.given("precision")) {
    s.bf16 = given.precision != "fp16" && given.precision != "float16";
    return;
  }
  given.precision = "fp16";
  given.assumed.push_back(
      fmt::format("16 bit is fp16: {} has no units for bf16 (--precision)", without->name));
}

}  // namespace headroom::sweep
