#include "sweep/accuracy/training_measurement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "hardware/names.hpp"
#include "hardware/text.hpp"
#include "model/train/outcome.hpp"
#include "model/train/rank.hpp"
#include "sweep/accuracy/row_machine.hpp"

namespace headroom::sweep {
namespace {

using model::TrainingScenario;

/// A column as a whole number; `fallback` where it is empty.
Size whole(const Measurement& row, std::string_view column, Size fallback) {
  const auto value = row.number(column);
  return value ? static_cast<Size>(*value) : fallback;
}

void read_parallelism(const Measurement& row, TrainingScenario& s) {
  s.parallel = {.replicas = whole(row, "dp", 1),
                .tensor = whole(row, "tp", 1),
                .stages = whole(row, "pp", 1),
                .chunks = whole(row, "interleave", 1),
                .experts = whole(row, "ep", 1),
                .context = whole(row, "cp", 1)};
  s.parallel.sequence = s.parallel.tensor > 1 && s.runtime->sequence_parallel;
  s.accumulated = whole(row, "micro_batches", 1);
}

model::Recomputation recomputation_of(const std::string& word) {
  const auto& names = model::recomputation_names;
  const auto found = std::ranges::find(names, word.empty() ? "none" : std::string_view(word));
  if (found == names.end()) throw Skipped(Skip::setting, fmt::format("recompute '{}'", word));
  return static_cast<model::Recomputation>(found - names.begin());
}

/// None said: torch's kernel, which transformers and other runtimes take by themselves.
model::AttentionKernel attention_of(const std::string& word) {
  if (word.empty()) return model::AttentionKernel::sdpa;
  const auto found = std::ranges::find(model::attention_names, std::string_view(word));
  if (found == model::attention_names.end())
    throw Skipped(Skip::setting, fmt::format("attention '{}'", word));
  return static_cast<model::AttentionKernel>(found - model::attention_names.begin());
}

double figure(const model::TrainingEstimate& e, const std::string& name) {
  if (name == "allocated") return static_cast<double>(e.allocated.count());
  if (name == "reserved") return static_cast<double>(e.reserved.count());
  if (name == "used") return static_cast<double>(e.peak.count());
  if (name == "host") return static_cast<double>(e.host.count());
  throw Skipped(Skip::statistic, fmt::format("figure '{}'", name));
}

/// Queries and values: of fused projections, the fused one.
std::vector<std::string> queries_and_values(const model::Model& m) {
  for (const std::string_view fused : {"query_key_value", "c_attn", "qkv_proj"})
    for (const model::Module& module : m.part.modules)
      if (module.path.ends_with(fused)) return {std::string(fused)};
  return {"q_proj", "v_proj"};
}

/// "q_proj v_proj", or "queries-values" by what the model calls them.
std::vector<std::string> targets_of(const Measurement& row, const model::Model& m) {
  if (row["targets"] == "queries-values") return queries_and_values(m);
  std::vector<std::string> targets;
  for (const auto target : words(row["targets"])) targets.emplace_back(target);
  return targets;
}

}  // namespace

const model::QuantisedModel& TrainingMeasurements::held(const model::Model& model,
                                                        const std::string& name) try {
  const model::Scheme& scheme = model::scheme(name);
  const std::pair key{&model, &scheme};
  if (const auto it = held_.find(key); it != held_.end()) return it->second;
  model::QuantisedModel weights = model::quantise(model, scheme);
  if (!weights.refusal.empty()) throw Skipped(Skip::precision, weights.refusal);
  weights.raised = std::make_shared<const model::QuantisedModel>(model::raised(weights));
  return held_.emplace(key, std::move(weights)).first->second;
} catch (const UnknownName& e) {
  throw Skipped(Skip::precision, e.what());
}

void TrainingMeasurements::read_adapters(const Measurement& row, TrainingScenario& s) {
  if (!row["precision"].empty()) s.base = &held(*s.model, row["precision"]);
  model::AdapterRequest request;
  request.targets = targets_of(row, *s.model);
  request.magnitudes = row["adapters"] == "dora";
  request.rank = whole(row, "rank", 0);
  const Size trainable = whole(row, "trainable", 0);
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

bool is_training(const Measurement& row) { return row["kind"] == "training"; }
bool is_training_time(const Measurement& row) {
  return is_training(row) && row["figure"] == "step";
}

model::TrainingScenario TrainingMeasurements::step_of(const Measurement& row) try {
  require_complete(row);
  TrainingScenario s;
  s.model = &models_.model(row["model"]);
  if (!counted_.contains(s.model)) counted_.emplace(s.model, model::counted(*s.model));
  s.plain = &counted_.at(s.model);
  s.runtime = &model::training_runtime(row["runtime"]);
  s.batch = whole(row, "batch", 1);
  s.sequence = whole(row, "seq", 1);
  read_parallelism(row, s);
  s.zero = std::max(static_cast<int>(whole(row, "zero", 0)), s.runtime->zero);
  // State sharded over one card is not sharded.
  if (s.parallel.alike() == 1 && s.runtime->zero == 0 && s.runtime->name != "deepspeed") s.zero = 0;
  const std::string& recipe = row["recipe"];
  s.recipe = &model::recipe(!recipe.empty() ? std::string_view(recipe)
                            : s.zero > 0    ? s.runtime->shared_recipe
                                            : s.runtime->recipe);
  if (!row["matrices"].empty()) s.matrices = &model::matrix_format(row["matrices"]);
  if (!row["adapters"].empty()) read_adapters(row, s);
  s.optimizer = &model::optimizer(row["optimizer"].empty() ? "adamw" : row["optimizer"]);
  s.recomputation = recomputation_of(row["recompute"]);
  s.compiled = row.says("compile");
  if (row["loss"] == "compiled") s.loss = model::LossKind::compiled;
  s.frozen_inputs = row.says("frozen_inputs");
  if (row["modules_to_save"] == "embedding and head")
    s.trained_copies = s.model->profile.outside.embedding + s.model->profile.head_elements;
  s.optimizer_on_host = !row["offload_optimizer"].empty();
  s.parameters_on_host = !row["offload_params"].empty();
  s.on_disk = row["offload_optimizer"] == "nvme";
  s.loads_whole = row["zero3_init"] == "no";
  s.fused_kernels = s.fused_loss = row.says("liger");  // as --liger
  s.head_loss = s.model->profile.generative;
  s.attention = attention_of(row["attention"]);
  // The run happened: torch's kernel ran what flash-attn has none for (axolotl 0.19
  // gemma4_hybrid_attn_impl).
  if (s.attention == model::AttentionKernel::flash_attention &&
      !model::attention_support(*s.model).without_flash.empty())
    s.attention = model::AttentionKernel::sdpa;
  return s;
} catch (const UnknownName& e) {
  throw Skipped(Skip::runtime, e.what());
}

Score TrainingMeasurements::score(const Measurement& row, Overheads overheads) {
  if (!is_training_time(row)) return score_of_memory(row, overheads);
  const TimedStep step = timed(row);
  const auto pace =
      model::training_pace(step.scenario.runtime->paced_as(), step.machine.devices.front());
  return score_of(step, step.time(pace).total().value());
}

Label TrainingMeasurements::label(const Measurement& row) {
  const TrainingScenario s = step_of(row);
  const Machine machine = machine_of(row);
  const model::TrainingEstimate memory = model::evaluate_training(s);
  const model::Estimate e = model::outcome_of(s, memory, machine);
  if (e.reason == model::Reason::no_gpu || e.reason == model::Reason::not_enough_gpus)
    throw Skipped(Skip::device, std::string(name_of(e.reason)));
  return {.row = &row,
          .group = "training_verdict",
          .runtime = std::string(s.runtime->name),
          .fitted = row["outcome"] != "oom",
          .expected = e.verdict < model::Verdict::does_not_fit,
          .sure = e.sure != model::Confidence::marginal,
          .load = memory.peak.real() / model::smallest_card(machine).real()};
}

Score TrainingMeasurements::score_of_memory(const Measurement& row, Overheads overheads) {
  TrainingScenario s = step_of(row);
  model::TrainingRuntime runtime = *s.runtime;
  if (overheads == Overheads::unmeasured) runtime = model::without_measurements(runtime);
  s.runtime = &runtime;
  const auto value = row.number("value");
  if (!value || *value <= 0) throw Skipped(Skip::statistic, "no value");
  const model::TrainingEstimate e = model::evaluate_training(s);
  const double cards = row["form"] == "of_all_cards" ? static_cast<double>(s.parallel.cards()) : 1;
  const double expected = cards * figure(e, row["figure"]);
  const double sure =
      row["figure"] == "host" ? 0 : std::min(expected, cards * real_count(e.certain()));
  const double plain =
      cards *
      static_cast<double>((e.weights + e.master + e.gradients + e.states + e.activations).count());
  return {.row = &row,
          .group = "training_memory",
          .runtime = std::string(runtime.name),
          .measured = *value,
          .expected = expected,
          .low = sure + (expected - sure) * runtime.spread.low,
          .high = sure + (expected - sure) * runtime.spread.high,
          .plain = plain};
}

}  // namespace headroom::sweep
