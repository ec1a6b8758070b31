#include "sweep/accuracy/scored_row.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "hardware/names.hpp"
#include "model/answer/allocation_curve.hpp"
#include "model/engine/default_cache.hpp"
#include "model/engine/loaded_scheme.hpp"
#include "model/infer/memory/static_share.hpp"
#include "model/infer/placement/placement.hpp"
#include "model/infer/serving.hpp"
#include "sweep/accuracy/auto_map.hpp"
#include "sweep/accuracy/cache_figures.hpp"
#include "sweep/accuracy/finite_run.hpp"
#include "sweep/accuracy/published_sizes.hpp"
#include "sweep/accuracy/row_machine.hpp"
#include "sweep/accuracy/row_placement.hpp"
#include "sweep/accuracy/row_requirements.hpp"
#include "sweep/options/split_options.hpp"
#include "sweep/spec/budget.hpp"

namespace headroom::sweep {
namespace {

using model::Scenario;
using model::Split;
using enum Statistic;

std::string group_of(const Measurement& row, Statistic statistic, const Scenario& s) {
  if (statistic == cache_token) return "cache_per_token";
  if (statistic == cache_left) return "cache_left";
  if (statistic == card_left) return "card_left";
  if (statistic == cache_tokens) return "cache_tokens";
  if (statistic == concurrency) return "cache_concurrency";
  if (statistic == loaded) return "logged_weights";
  if (is_memory(statistic)) return "inference_memory";
  if (is_of_loading(statistic)) return "load_time";
  const bool first = statistic == Statistic::prefill || statistic == Statistic::serving_first;
  if (s.draft != nullptr && !first) return "speculative";
  if (row["group"] == "offload")
    return s.runtime->offload.mode == model::Offload::stream ? "offload_streamed"
                                                             : "offload_partial";
  if (!row["group"].empty()) return row["group"];
  if (statistic == Statistic::prefill) return "prefill";
  if (s.machine->devices.size() <= 1) return "decode_single";
  return s.runtime->parallel.split == Split::layers ? "decode_layer_split"
                                                    : "decode_tensor_parallel";
}

/// The result of a flag's reader. Throws Skipped for what it refuses.
template <class Read>
auto read_flag(Read&& read) {
  try {
    return read();
  } catch (const UsageError& e) {
    throw Skipped(Skip::setting, e.what());
  }
}
Size whole(const Options& options, std::string_view flag, Size fallback) {
  return read_flag([&] { return options.whole(flag, fallback); });
}

/// The most concurrent sequences that fit on the machine, for "saturated"; 1 if not even one fits.
Size saturated(Scenario s) {
  constexpr Size most = 4096;  // as benchmark programs limit it
  return std::max<Size>(1, model::largest(most, [&](Size batch) {
                          s.batch = batch;
                          return place(s, 1.0).feasible();
                        }));
}

/// A processor that is not known and not asked for more than to read its memory.
Machine never_computing(Machine machine) {
  machine.host.cpu_peak = FlopsPerSecond(std::numeric_limits<double>::max());
  return machine;
}

/// The least budget at which so many layers are on cards: what a device map of that many means.
Bytes budget_for(const Scenario& s, Size layers) {
  for (const Bytes budget : model::allocations(s, std::nullopt)) {
    Scenario at = s;
    at.gpu_budget = budget;
    const model::Plan plan = place(at, 1.0);
    if (plan.feasible() && plan.computes_on_card && plan.on_cards.size() >= layers) return budget;
  }
  throw Skipped(Skip::setting, fmt::format("{} layers do not fit on these cards", layers));
}

/// Throws Skipped where the model is not of the size that a file states.
void require_parameters(const Measurement& row, const model::Model& model) {
  const auto written = row.number("parameters");
  if (!written) return;
  const auto own = static_cast<double>(model.profile.parameters);
  if (const double ratio = *written / own; ratio < 0.9 || ratio > 1.1)
    throw Skipped(Skip::model, fmt::format("'{}' has {:.3g} parameters there, {} has {:.3g}",
                                           row["model"], *written, model.name, own));
}

void set_parallel(const Options& options, Scenario& s) {
  const auto cards = static_cast<Size>(s.machine->devices.size());
  if (s.runtime->parallel.split != Split::tensors || cards == 0) return;
  s.pipeline_parallel = std::clamp<Size>(whole(options, "pp", 1), 1, cards);
  s.data_parallel = std::clamp<Size>(whole(options, "dp", 1), 1, cards / s.pipeline_parallel);
  s.tensor_parallel = whole(options, "tp", cards / (s.pipeline_parallel * s.data_parallel));
  // Over other numbers of cards the attention is spread in ways that are not described.
  const Size groups = whole(options, "ep", 1);
  if (groups > 1 && groups == s.tensor_parallel * s.data_parallel &&
      s.runtime->parallel.expert_spread != model::ExpertSpread::none &&
      s.weights->shards.experts > 0 && s.weights->shards.experts % groups == 0)
    s.expert_parallel = groups;
}

void set_tokens(const Options& options, Scenario& s) {
  s.prompt_tokens = whole(options, "prompt-tokens", 1);
  s.output_tokens = whole(options, "output-tokens", 1);
  // The engine's default: as long as the model allows.
  if (options.text("context", "") == "model") {
    s.context =
        std::max<Size>(s.weights->model->shape.positions, s.prompt_tokens + s.output_tokens);
    s.prompt_tokens = s.context - s.output_tokens;
    return;
  }
  s.context = whole(options, "context", 0);
}

/// A measured set-up ran, whatever margin the engine leaves by default.
void leave_no_margin(Scenario& s) {
  if (s.runtime->memory.leaves_margin()) s.gpu_budget = largest_card(*s.machine);
}

/// A run whose share is not stated had the engine's own. A plan takes less where that may fail.
void set_budget(const Measurement& row, Scenario& s) {
  const model::MemoryPolicy& memory = s.runtime->memory;
  if (memory.utilization < 1 && !model::has_static_pool(s)) s.gpu_share = memory.utilization;
  if (const auto share = row.number("gpu_memory_utilization")) s.gpu_share = *share;
  if (!row["gpu_budget"].empty()) s.gpu_budget = parse_budget(row["gpu_budget"]).bytes;
}

/// Null formats: what the engine takes by itself.
model::CachePrecision kv_precision_of(const Options& options) {
  try {
    return model::asked_cache(options.text("kv-precision", "auto"));
  } catch (const UnknownName& e) {
    throw Skipped(Skip::precision, e.what());
  }
}

}  // namespace

Subjects::Subjects(const std::string& models_folder)
    : Subjects(models_folder, {model::engines().begin(), model::engines().end()}) {}

const model::QuantisedModel& Subjects::weights(const model::Model& model,
                                               const model::Scheme& scheme) {
  const auto key = std::pair(&model, &scheme);
  const auto it = weights_.find(key);
  return it != weights_.end() ? it->second
                              : weights_.emplace(key, quantise(model, scheme)).first->second;
}

const Machine& Subjects::machine(Machine machine) {
  machines_.push_back(std::make_unique<Machine>(std::move(machine)));
  return *machines_.back();
}

void Subjects::set_weights(const Measurement& row, Scenario& s) {
  const auto runtime = std::ranges::find(runtimes_, row["runtime"], &model::Engine::name);
  if (runtime == runtimes_.end())
    throw Skipped(Skip::runtime, fmt::format("engine '{}'", row["runtime"]));
  s.runtime = &*runtime;
  const bool is_text =
      row.says("text_only") || s.runtime->weights.towers == model::Towers::left_out;
  const model::Model& model =
      is_text ? models_.text_model(row["model"]) : models_.model(row["model"]);
  require_parameters(row, model);
  const std::string& written = row["precision"];
  try {
    const model::Scheme& stored =
        model::scheme(written == "auto" ? model.checkpoint_scheme : written);
    s.weights = &weights(model, model::loaded_scheme(model, &stored, *s.runtime, *s.machine));
  } catch (const UnknownName& e) {
    throw Skipped(Skip::precision, fmt::format("precision '{}'", written));
  }
  if (!s.weights->refusal.empty()) throw Skipped(Skip::precision, s.weights->refusal);
  if (const auto gib = row.number("weights_gib")) {
    const auto own = static_cast<double>(model.profile.parameters);
    const double of_file = row.number("parameters").value_or(own);  // modules that are not run too
    files_.push_back(std::make_unique<model::QuantisedModel>(
        of_file_size(*s.weights, *gib * GiB * own / of_file)));
    s.weights = files_.back().get();
  }
}

/// Weights of a draft are as the engine loads its checkpoint.
void Subjects::set_draft(const Options& options, Scenario& s) {
  const auto asked = speculation_of(options);
  if (!asked) return;
  const model::QuantisedModel* proposer = nullptr;
  if (!asked->model.empty()) {
    const model::Model& draft = models_.model(asked->model);
    proposer = &weights(draft, model::loaded_scheme(draft, nullptr, *s.runtime, *s.machine));
  }
  try {
    drafts_.push_back(make_draft(*asked, s, proposer));
  } catch (const std::invalid_argument& e) {
    throw Skipped(Skip::feature, e.what());
  }
  s.draft = &drafts_.back()->draft;
  if (drafts_.back()->engine) s.runtime = drafts_.back()->engine.get();
}

Scenario Subjects::scenario(const Measurement& row, const Options& options) {
  require_complete(row);
  Scenario s;
  s.machine = &machine(on_ ? machine_of(row, *on_) : machine_of(row));
  set_weights(row, s);
  s.kv_precision = kv_precision_of(options);
  if (auto split = layer_split_of(row, options, s))
    s.layer_split = layer_splits_.emplace_back(std::move(split)).get();
  if (const std::string flash = options.text("flash-attn"); !flash.empty())
    s.flash_attention = flash == "on" ? model::Override::on : model::Override::off;
  s.enforce_eager = options.given("enforce-eager");
  s.cpu_offload = read_flag([&] { return cpu_offload_of(options, s); });
  s.threads = whole(options, "threads", 0);
  s.max_sequences = whole(options, "max-num-seqs", 0);
  s.may_ask_for_fewer = false;  // a measured engine was started as the row says
  s.chunk_tokens = static_cast<Size>(row.number("ubatch").value_or(0));
  s.batch = whole(options, "batch", 1);
  s.batch_parts = s.runtime->offload.batch_in_parts ? whole(options, "gpu-batches", 1) : 1;
  set_parallel(options, s);
  set_tokens(options, s);
  set_draft(options, s);
  leave_no_margin(s);
  return s;
}

void Subjects::set_measured(const Measurement& row, ScoredRow& subject) {
  const Quantity quantity = quantity_of(row);
  subject.statistic = quantity.statistic;
  subject.index = quantity.index;
  const auto value = row.number("value");
  if (!value || *value <= 0)
    throw Skipped(Skip::statistic, fmt::format("value '{}'", row["value"]));
  subject.group = group_of(row, subject.statistic, subject.scenario);
  if (is_memory(subject.statistic)) {
    require_capacity(subject, *value);
    subject.measured = *value;
    return;
  }
  subject.measured = seconds(quantity, *value, subject.scenario);
  if (subject.statistic == serving_first)
    subject.together = share_together(row, subject.scenario.batch);
  if (subject.statistic == serving_rate && !row["requests"].empty())
    subject.requests =
        std::max(subject.scenario.batch, static_cast<Size>(row.number("requests").value_or(0)));
}

ScoredRow Subjects::subject(const Measurement& row) {
  ScoredRow subject{.row = &row, .scenario = scenario(row, options_of(row)), .group = {}};
  Scenario& s = subject.scenario;
  if (row["batch"] == "saturated") s.batch = saturated(s);
  if (const auto layers = layers_on_cards(row, s)) s.gpu_budget = budget_for(s, *layers);
  set_measured(row, subject);
  if (is_of_start_log(subject.statistic) && subject.statistic != cache_token &&
      subject.statistic != loaded)
    set_budget(row, s);
  if (is_memory(subject.statistic) && s.runtime->name.starts_with("transformers") &&
      s.machine->devices.size() > 1)
    if (auto map = auto_map(s)) {
      assignments_.push_back(std::make_shared<const model::Assignment>(std::move(*map)));
      s.assignment = assignments_.back().get();
    }
  if (is_of_loading(subject.statistic)) {
    require_what_loading_depends_on(subject);
  } else if (!is_memory(subject.statistic)) {
    require_what_time_depends_on(subject);
    if (s.machine->host.cpu_peak.value() <= 0) s.machine = &machine(never_computing(*s.machine));
  }
  return subject;
}

Scenario Subjects::labelled(const Measurement& row) {
  const Options options = options_of(row);
  Scenario s = scenario(row, options);
  if (whole(options, "ep", 1) > 1 && s.expert_parallel == 0 && s.weights->shards.experts > 0)
    throw Skipped(Skip::feature, "experts over a part of the cards that is not described");
  set_budget(row, s);
  if (model::has_static_pool(s)) {
    // It limits requests, and reserves nothing for them but their table (model::request_table).
    if (s.max_sequences == 0) s.max_sequences = model::usual_requests;
    s.longest_request = s.context > 0 ? s.context : s.weights->model->shape.positions;
    s.context = 0;
  }
  return s;
}

}  // namespace headroom::sweep
