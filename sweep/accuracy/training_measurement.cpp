#include "sweep/accuracy/training_measurement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "hardware/names.hpp"
#include "hardware/text.hpp"
#include "model/train/rank.hpp"
#include "sweep/accuracy/training_script.hpp"

namespace headroom::sweep {
namespace {

using model::TrainingScenario;

std::string settings_of(const Measurement& row) { return lower(row["settings"]); }

/// The whole number behind `key` ("tp=", "FSDP ", "CP "); `fallback` where there is none.
Size number_after(const std::string& text, std::string_view key, Size fallback) {
  const auto at = text.find(key);
  if (at == std::string::npos) return fallback;
  Size value = 0;
  const char* from = text.data() + at + key.size();
  const auto [end, error] = std::from_chars(from, text.data() + text.size(), value);
  return error == std::errc() ? value : fallback;
}

/// "zero2/3": 3 where all weights are trained and 2 for adapters, whose script asks for 2;
/// "zero2 (X) or none": 2 where the task is X.
int zero_of(const Measurement& row, const std::string& settings, bool adapters) {
  const std::string text = settings + ' ' + lower(row["task"]);
  const auto at = text.find("zero");
  if (at == std::string::npos) return 0;
  const Size stage = number_after(text, "zero", 0);
  const std::string rest = text.substr(std::min(at + 5, text.size()));
  if (rest.starts_with("/")) return adapters ? static_cast<int>(stage) : 3;
  if (rest.starts_with(" (") && contains(rest, ") or none")) {
    const std::string task = rest.substr(2, rest.find(')') - 2);
    return lower(row["task"]) == task ? static_cast<int>(stage) : 0;
  }
  if (stage > 3) throw Skipped(Skip::setting, "ZeRO's stage");
  return static_cast<int>(stage);
}

void read_parallelism(const Measurement& row, const std::string& settings, TrainingScenario& s) {
  model::Parallelism& p = s.parallel;
  const auto cards = static_cast<Size>(row.number("gpu_count").value_or(1));
  const auto degree = [&](std::string_view word) {  // "tp=8", "TP 8"
    return number_after(settings, fmt::format(";{}=", word),
                        number_after(settings, fmt::format(";{} ", word), 1));
  };
  p.tensor = std::max(degree("tp"), number_after(settings, "(tp=", 1));
  p.stages = degree("pp");
  p.experts = degree("ep");
  p.context = degree("cp");
  p.chunks = std::max({degree("vpp"), degree("vp"), degree("interleave")});
  if (p.stages == 1) p.chunks = 1;
  p.replicas = cards / (p.tensor * p.stages * p.context);
  if (p.cards() != cards)
    throw Skipped(Skip::setting, fmt::format("{} cards are not tp x pp x cp", cards));
  p.sequence = p.tensor > 1 && s.runtime->sequence_parallel;
  s.accumulated = 1;
  for (const std::string_view key : {"micro_batches=", "grad_accum=", "micro_num="})
    s.accumulated = std::max(s.accumulated, number_after(settings, key, 1));
  for (const std::string_view key : {";gbs=", ";global_batch="})
    if (const Size all = number_after(settings, key, 0); all > 0)
      s.accumulated = std::max<Size>(1, all / (p.replicas * s.batch));
}

/// Features whose memory no formula covers.
void refuse_features(const std::string& settings) {
  for (const std::string_view each :
       {"activation offloading", "kt-kernel", "ktransformers", "block=1 layer", "balance", "hsdp"})
    if (contains(settings, each)) throw Skipped(Skip::feature, std::string(each));
}

void read_recomputation(const std::string& settings, TrainingScenario& s) {
  using enum model::Recomputation;
  const bool off = contains(settings, "no grad ckpt") || contains(settings, "grad_ckpt=false");
  if (contains(settings, "selective ac"))
    s.recomputation = selective;
  else if (!off &&
           (contains(settings, "full ac") || contains(settings, "act_ckpt=true") ||
            contains(settings, "ckpt=true") || contains(settings, "recompute=full") ||
            contains(settings, "gradient_checkpointing") || contains(settings, "grad ckpt") ||
            contains(settings, "activation checkpointing")))
    s.recomputation = full;
}

const model::Optimizer& optimizer_of(const std::string& settings, const std::string& task) {
  if (contains(settings, "adam8bit")) return model::optimizer("adamw-8bit");
  if (contains(settings, "adafactor")) return model::optimizer("adafactor");
  if (task.starts_with("badam")) throw Skipped(Skip::feature, "BAdam");
  return model::optimizer("adamw");
}

/// In what layers multiply below 16 bit; null: they do not. Scales by row are kernels of their own.
const model::MatrixFormat* matrices_of(const std::string& precision) {
  if (contains(precision, "rowwise")) throw Skipped(Skip::precision, "matrices in " + precision);
  for (const auto& [word, format] : {std::pair{"nvfp4", "nvfp4"},
                                     {"mxfp8", "mxfp8"},
                                     {"fp8-mx", "mxfp8"},
                                     {"fp8", "fp8"},
                                     {"float8", "fp8"}})
    if (contains(precision, word)) return &model::matrix_format(format);
  return nullptr;
}

double figure(const model::TrainingEstimate& e, TrainingStatistic statistic) {
  switch (statistic) {
    case TrainingStatistic::allocated:
      return static_cast<double>(e.allocated.count());
    case TrainingStatistic::reserved:
      return static_cast<double>(e.reserved.count());
    case TrainingStatistic::used:
      return static_cast<double>(e.peak.count());
    case TrainingStatistic::host:
      return static_cast<double>(e.host.count());
  }
  return 0;
}

bool is_full(const std::string& task) {
  return task == "full finetune" || task == "full-parameter" || task == "pretrain" ||
         task == "pretrain step" || task == "pre-training performance" || task == "sft performance";
}
bool is_quantised(const std::string& task) { return task == "q-lora" || task == "qlora"; }
bool is_adapters(const std::string& task) {
  return task == "lora" || is_quantised(task) || task == "lora (multinode)" ||
         task == "lora + deepspeed zero3" || task == "lora (emb)" || task == "lora performance";
}

/// Queries and values: of fused projections, the fused one.
std::vector<std::string> queries_and_values(const model::Model& m) {
  for (const auto& [word, targets] : {std::pair<std::string_view, std::vector<std::string>>{
                                          "query_key_value", {"query_key_value"}},
                                      {"c_attn", {"c_attn"}},
                                      {"qkv_proj", {"qkv_proj"}}})
    for (const model::Module& module : m.part.modules)
      if (module.path.ends_with(word)) return targets;
  return {"q_proj", "v_proj"};
}

}  // namespace

const model::QuantisedModel& TrainingMeasurements::held(const model::Model& model,
                                                        const model::Scheme& scheme) {
  const std::pair key{&model, &scheme};
  if (const auto it = held_.find(key); it != held_.end()) return it->second;
  model::QuantisedModel weights = model::quantise(model, scheme);
  if (!weights.refusal.empty()) throw Skipped(Skip::precision, weights.refusal);
  return held_.emplace(key, std::move(weights)).first->second;
}

void TrainingMeasurements::read_adapters(const Measurement& row, TrainingScenario& s) {
  const std::string settings = settings_of(row);
  if (is_quantised(lower(row["task"])) ||
      lower(row["precision"]).find("nf4") != std::string::npos) {
    const std::string precision = lower(row["precision"]);
    std::string_view name = contains(precision, "nf4-dq") ? "nf4-double" : "nf4";
    if (contains(precision, "gptq")) name = "gptq-int4";
    s.base = &held(*s.model, model::scheme(name));
  }
  model::AdapterRequest request;
  const auto targets = row.setting("targets");
  const std::string usual(script_of(row).targets);
  if (!targets && usual == "queries-values")
    request.targets = queries_and_values(*s.model);
  else
    for (const auto target : words(targets ? *targets : usual, " |"))
      request.targets.emplace_back(target);
  request.magnitudes = contains(settings, "dora");
  Size trainable = 0;
  std::string text =
      row.setting("trainable").value_or(row.setting("trainable_params").value_or(""));
  std::erase(text, ',');
  std::from_chars(text.data(), text.data() + text.size(), trainable);
  request.rank = number_after(settings, "rank=", number_after(settings, "lora rank ", 0));
  if (request.targets.empty()) throw Skipped(Skip::setting, "targets of adapters are not stated");
  if (request.rank == 0) {
    request.rank = 1;
    const Size one = model::adapt(*s.model, request).parameters();
    if (trainable == 0 || trainable % one != 0)
      throw Skipped(Skip::setting, "the rank of adapters is not stated");
    request.rank = trainable / one;
  }
  adapters_.push_back(std::make_unique<model::Adapter>(model::adapt(*s.model, request)));
  s.adapter = adapters_.back().get();
  if (trainable > 0 && s.adapter->parameters() != trainable)
    throw Skipped(Skip::feature, fmt::format("a variant of LoRA: {} trained, LoRA has {}",
                                             trainable, s.adapter->parameters()));
}

bool is_training_time(const Measurement& row) { return row["category"] == "training_speed"; }
bool is_training(const Measurement& row) {
  return row["category"] == "training_memory" || is_training_time(row);
}

model::TrainingScenario TrainingMeasurements::step_of(const Measurement& row,
                                                      const Script& script) {
  const std::string task = lower(row["task"]), settings = settings_of(row);
  refuse_features(settings);
  const auto batch = row.number("batch"), sequence = row.number("prompt_len");
  if (!batch || !sequence) throw Skipped(Skip::setting, "batch or sequence length is not stated");
  if (script.starts == "torchtune" && !contains(settings, "checkpointing"))
    throw Skipped(Skip::setting, "optimizer and checkpointing are not stated");

  TrainingScenario s;
  s.model = &names_.model(row["model"]);
  if (!counted_.contains(s.model)) counted_.emplace(s.model, model::counted(*s.model));
  s.plain = &counted_.at(s.model);
  const bool adapters = is_adapters(task);
  int zero = zero_of(row, settings, adapters);
  const bool sharded =
      contains(settings, "fsdp") && !contains(settings, "fsdp=;") && !contains(settings, "fsdp=0");
  s.runtime = &model::training_runtime(zero > 0 ? script.shared : script.runtime);
  s.zero = std::max({zero, s.runtime->zero, sharded ? 3 : 0});
  s.batch = static_cast<Size>(*batch);
  s.sequence = static_cast<Size>(*sequence);
  read_parallelism(row, settings, s);
  if (s.zero > 0 && s.parallel.alike() == 1 && s.runtime->zero == 0 &&
      s.runtime->name != "deepspeed")
    s.zero = 0;
  const std::string precision = lower(row["precision"]);
  std::string_view recipe = s.zero > 0 ? s.runtime->shared_recipe : s.runtime->recipe;
  if (precision == "fp32") recipe = "fp32";
  if (precision == "bf16-true") recipe = "pure-16bit";
  if (adapters) recipe = "pure-16bit";
  if (!script.recipe.empty()) recipe = script.recipe;
  s.recipe = &model::recipe(recipe);
  s.matrices = matrices_of(precision);
  if (adapters) read_adapters(row, s);
  s.optimizer = &optimizer_of(settings, task);
  read_recomputation(settings, s);
  if (script.shared_checkpoints && s.zero >= 3) s.recomputation = model::Recomputation::full;
  s.loss = contains(settings, "compile") ? script.loss : std::nullopt;
  s.compiled = contains(settings, "compile");
  // bitsandbytes 0.41, autograd/_functions.py MatMul4Bit: ctx.tensors = (A, B)
  s.frozen_inputs = script.runtime == "litgpt" && s.base != nullptr;
  if (task == "lora (emb)")
    s.trained_copies = s.model->profile.outside.embedding + s.model->profile.head_elements;
  s.head_loss = s.model->profile.generative;
  // What transformers ran before fused kernels were its default.
  if (s.runtime->name == "trainer-v4") s.fused_attention = false;

  return s;
}

Score TrainingMeasurements::score(const Measurement& row, Overheads overheads) {
  if (row["grade"] == "C") throw Skipped(Skip::grade, "");
  const std::string task = lower(row["task"]);
  if (!is_full(task) && !is_adapters(task)) throw Skipped(Skip::task, row["task"]);
  if (is_training_time(row)) {
    const TimedStep step = timed(row);
    const auto pace =
        model::training_pace(step.scenario.runtime->name, step.machine.devices.front());
    return score_of(step, step.time(pace).total);
  }
  const Script& script = script_of(row);
  const TrainingStatistic statistic = statistic_of(row, script);
  TrainingScenario s = step_of(row, script);
  model::TrainingRuntime runtime = *s.runtime;
  if (overheads == Overheads::unmeasured) runtime = model::without_measurements(runtime);
  s.runtime = &runtime;
  const model::TrainingEstimate e = model::evaluate_training(s);
  const bool total = row["quantity"] == "gpu_memory_total";
  const double cards = total ? static_cast<double>(s.parallel.cards()) : 1;
  const double expected = cards * figure(e, statistic);
  const double low = static_cast<double>(e.peak_low.count()) / static_cast<double>(e.peak.count());
  const double high =
      static_cast<double>(e.peak_high.count()) / static_cast<double>(e.peak.count());
  const double plain =
      cards *
      static_cast<double>((e.weights + e.master + e.gradients + e.states + e.activations).count());
  return {.row = &row,
          .group = "training_memory",
          .runtime = std::string(runtime.name),
          .measured = measured_of(row, script),
          .expected = expected,
          .low = expected * low,
          .high = expected * high,
          .plain = plain};
}

}  // namespace headroom::sweep
