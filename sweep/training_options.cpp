#include "sweep/training_options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sweep/adapter_options.hpp"
#include "sweep/hub.hpp"
#include "sweep/model_options.hpp"
#include "sweep/output.hpp"
#include "sweep/source.hpp"

namespace headroom::sweep {
namespace {

void refuse_inference_flags(const Options& options) {
  for (const auto* flag : {"kv-precision",
                           "prompt-tokens",
                           "output-tokens",
                           "context",
                           "no-kv-cache",
                           "gpu-budget",
                           "gpu-memory-utilization",
                           "ram-budget",
                           "disk-budget",
                           "runtime",
                           "tp",
                           "pp",
                           "ep",
                           "machine",
                           "device",
                           "count",
                           "host",
                           "gpu-memory",
                           "gpu-bandwidth",
                           "gpu-tflops",
                           "ram",
                           "ram-bandwidth",
                           "bus",
                           "card-link",
                           "disk",
                           "disk-read",
                           "factors",
                           "set"})
    if (options.given(flag))
      throw UsageError(fmt::format("--{} has no effect on --task training in this version", flag));
}

int stage_of(const Options& options) {
  constexpr std::string_view stages[] = {"0", "1", "2", "3"};
  return options.one_of("zero", stages, "0").front() - '0';
}

/// The recipe that is asked for, or what --precision and ZeRO imply.
const model::Recipe& recipe_of(const Options& options, int stage, GivenTraining& given) {
  const std::string precision = options.text("precision", "bf16");
  if (options.given("recipe")) {
    if (options.given("precision"))
      throw UsageError("--recipe says how everything is held; --precision has no effect beside it");
    return model::recipe(options.text("recipe"));
  }
  std::string name;
  if (precision == "fp32" || precision == "float32")
    name = "fp32";
  else if (precision == "bf16" || precision == "fp16" || precision == "bfloat16" ||
           precision == "float16")
    name = given.adapter ? "pure-16bit" : stage > 0 ? "fp32-master" : "autocast";
  else
    throw UsageError(fmt::format(
        "--precision: found '{}'; training computes in bf16, fp16 or fp32 (--qlora holds the base "
        "in 4 bit)",
        precision));
  const model::Recipe& row = model::recipe(name);
  given.assumed.push_back(fmt::format("recipe {}: {} (--recipe)", row.name, row.meaning));
  return row;
}

}  // namespace

void refuse_training_flags(const Options& options) {
  for (const auto* flag :
       {"grad-accum", "zero", "checkpointing", "recipe", "optimizer", "fused-loss", "liger",
        "offload-optimizer", "lora", "qlora", "lora-rank", "lora-alpha", "lora-targets", "dora"})
    if (options.given(flag))
      throw UsageError(fmt::format("--{} has no effect without --task training", flag));
}

GivenTraining training_of(const Options& options) {
  refuse_inference_flags(options);
  say_if_full_model(options);
  GivenTraining given;
  given.model =
      std::make_unique<model::Model>(resolve_model(model_given(options), Hub(hub_flags(options))));
  if (!given.model->assumed.empty())
    given.assumed.push_back(fmt::format("of the model: {}", fmt::join(given.model->assumed, ", ")));
  const model::Model& m = *given.model;
  auto adapters = adapters_of(options);
  if (!adapters && options.given("qlora")) adapters = model::AdapterRequest{};
  if (adapters) {
    given.adapter = std::make_unique<model::Adapter>(model::adapt(m, *adapters));
    given.assumed.push_back(fmt::format(
        "adapters of rank {} beside {} modules, in fp32, scaled by {} / {}", adapters->rank,
        given.adapter->modules.size(), options.whole("lora-alpha", 16), adapters->rank));
  } else if (options.given("lora-alpha")) {
    throw UsageError("--lora-alpha has no effect without --lora");
  }
  if (options.given("qlora")) {
    given.base = std::make_unique<model::Weights>(model::hold(m, model::scheme("nf4")));
    if (!given.base->refusal.empty()) throw UsageError("--qlora: " + given.base->refusal);
    given.assumed.emplace_back("frozen weights in nf4, blocks of 64");
  }
  model::TrainingScenario& s = given.scenario;
  s.model = given.model.get();
  s.base = given.base.get();
  s.adapter = given.adapter.get();
  s.zero = stage_of(options);
  s.replicas = options.whole("dp", 1);
  s.recipe = &recipe_of(options, s.zero, given);
  s.optimizer = &model::optimizer(options.text("optimizer", "adamw"));
  s.batch = options.whole("batch", 1);
  s.sequence = options.whole("seq", 2048);
  s.accumulated = options.whole("grad-accum", 1);
  constexpr std::string_view how[] = {"none", "full"};
  s.recomputation = options.one_of("checkpointing", how, "none") == "full"
                        ? model::Recomputation::full
                        : model::Recomputation::none;
  s.fused_loss = options.given("fused-loss") || options.given("liger");
  s.fused_kernels = options.given("liger");
  if (options.given("offload-optimizer")) {
    constexpr std::string_view where[] = {"cpu"};
    options.one_of("offload-optimizer", where, "cpu");
    s.optimizer_on_host = true;
  }
  if (!options.given("optimizer")) given.assumed.emplace_back("optimizer adamw (torch)");
  if (!options.given("seq")) given.assumed.emplace_back("sequences of 2048 tokens (--seq)");
  return given;
}

}  // namespace headroom::sweep
