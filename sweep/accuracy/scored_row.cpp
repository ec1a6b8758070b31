#include "sweep/accuracy/scored_row.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <limits>
#include <map>

#include "hardware/names.hpp"
#include "model/answer/allocation_curve.hpp"
#include "model/infer/placement/placement.hpp"
#include "model/infer/scenario/layer_split.hpp"
#include "model/infer/serving.hpp"
#include "sweep/accuracy/auto_map.hpp"
#include "sweep/accuracy/finite_run.hpp"
#include "sweep/accuracy/subject_placement.hpp"

namespace headroom::sweep {
namespace {

using model::Scenario;
using model::Split;
using enum Statistic;

/// Bytes or seconds of one unit of the figure.
double scale_of(const Measurement& row, const EngineName& engine) {
  const std::string& unit = row["unit"];
  if (unit == "GB") return engine.gigabyte;
  if (unit == "GiB") return 1073741824.0;
  if (unit == "MB" || unit == "MiB") return 1048576.0;
  if (unit == "bytes") return 1.0;
  if (unit == "ms") return 1e-3;
  if (unit == "s" || unit == "s/token" || unit == "tokens/s") return 1.0;
  throw Skipped(Skip::statistic, fmt::format("unit '{}'", unit));
}

bool one_digit(const std::string& value) {
  const auto first = value.find_first_of("123456789");
  if (first == std::string::npos) return true;
  std::size_t digits = 0;
  for (std::size_t i = first; i < value.size() && value[i] != 'e'; ++i) digits += value[i] != '.';
  return digits < 2 && value.find('.') != std::string::npos;
}

/// Whether the figure is of all cards together.
bool on_cards(Statistic statistic) {
  return statistic == allocated_held || statistic == allocated_peak || statistic == card_used;
}

/// Bytes of all cards; endless where there are none to be short of.
double capacity(const Machine& machine) {
  double bytes = 0;
  for (const Device& device : machine.devices) bytes += device.memory.real().value();
  return bytes > 0 ? bytes : std::numeric_limits<double>::infinity();
}

bool is_of_loading(Statistic statistic) { return statistic >= load; }

/// Sources that say so have read the files just before.
bool is_warm(const Measurement& row) {
  const std::string settings = lower(row["settings"]);
  return settings.find("cache warm") != settings.npos ||
         settings.find("warm cache") != settings.npos ||
         row.setting("page_cache").value_or("") == "warm";
}

std::string time_group(const Measurement& row, const Quantity& quantity, const Scenario& s) {
  if (is_of_loading(quantity.statistic)) return "load_time";
  if (row["category"] == "offload_speed" && !row["task"].starts_with("serving"))
    return s.runtime->offload.mode == model::Offload::stream ? "offload_streamed"
                                                             : "offload_partial";
  if (row["quantity"] == "tpot") return "serving_tpot";
  if (row["quantity"] == "ttft") return "serving_ttft";
  if (row["task"].starts_with("serving")) return "serving_throughput";
  if (quantity.statistic == Statistic::prefill) return "prefill";
  if (s.machine->devices.size() <= 1) return "decode_single";
  return s.runtime->parallel.split == Split::layers ? "decode_layer_split"
                                                    : "decode_tensor_parallel";
}

Size tokens(const Measurement& row, std::string_view column, std::string_view setting,
            int fallback) {
  if (const auto value = row.number(column)) return static_cast<Size>(std::llround(*value));
  if (const auto text = row.setting(setting))
    if (const auto value = leading_number(*text)) return static_cast<Size>(*value);
  return fallback;
}

/// Serving tables of vLLM and TensorRT-LLM name the kernels and not the cache. NVIDIA's checkpoints
/// in FP8 and NVFP4 say kv_cache_quant_algo FP8, those of a model's own maker do not; where such a
/// table has short waits the caches would not have had room in 16 bit. On Hopper vLLM's are in 16
/// bit: of 64 requests of 8192 tokens to Llama-3.1-70B on two H100 half wait.
bool quantised_cache(const Measurement& row, const EngineName& engine, const Scenario& s) {
  if (!row["task"].starts_with("serving")) return false;
  const std::string gemm = lower(row.setting("gemm").value_or(""));
  const std::string precision = lower(row["precision"]);
  if (engine.runtime == "tensorrt-llm") return precision == "fp8" || precision == "fp4";
  if (engine.runtime != "vllm") return false;
  const bool own = s.weights->model->checkpoint_scheme.starts_with("fp8") ||
                   lower(row["model"]).find("fp8") != std::string::npos;
  const bool hopper = !s.machine->devices.empty() &&
                      s.machine->devices.front().compute_capability == ComputeCapability{9, 0};
  return gemm == "nvfp4" || (gemm == "fp8" && !own && !hopper);
}

const Precision& kv_precision_of(const Measurement& row, const EngineName& engine,
                                 const Scenario& s) {
  std::string name = row.setting("kv").value_or(row.setting("kv_dtype").value_or(""));
  for (const auto& [key, value] : row.settings)
    if (value.empty() && key.ends_with(" kv")) name = key.substr(0, key.size() - 3);
  const std::string& settings = row["settings"];  // FlexGen packs by groups of 64 with two scales
  if (name.empty() && (settings.find("compress-cache") != settings.npos ||
                       settings.find("compress-weight+cache") != settings.npos))
    name = "int4_g64";
  if (name.empty() && quantised_cache(row, engine, s)) name = "fp8";
  if (name.empty() || lower(name) == "f16") name = "fp16";
  if (name == "4 bit") name = "q4_0";
  try {
    return precision(name);
  } catch (const UnknownName& e) {
    throw Skipped(Skip::precision, e.what());
  }
}

/// Whether the requests of a serving table are spread over copies whose number it does not say: the
/// name of its run has more of them at once ("_c64_") than each copy, and no spread of experts over
/// the cards of all copies says how many there are.
bool spread_over_copies(const Measurement& row) {
  const std::string& name = row["notes"];
  const auto batch = row.number("batch");
  for (auto at = name.find("_c"); batch && at != name.npos; at = name.find("_c", at + 1))
    if (const double all = std::atoi(name.c_str() + at + 2); all > *batch)
      return figure(row, {"moe_ep"}).value_or(1) <= figure(row, {"tp"}).value_or(1);
  return false;
}

void refuse_features(const Measurement& row) {
  if (row["task"].starts_with("serving") && spread_over_copies(row))
    throw Skipped(Skip::setting, "over how many copies requests are spread");
  if (const auto mtp = row.setting("mtp"); mtp && *mtp != "off")
    throw Skipped(Skip::feature, "speculative decoding");
  if (lower(row.setting("framework").value_or("")).find("6 experts") != std::string::npos ||
      row.setting("experts").value_or("8") != "8")
    throw Skipped(Skip::feature, "fewer experts than the model uses");
}

/// Figures of serving are of the steady state.
Statistic under_traffic(Statistic statistic) {
  if (statistic == step) return Statistic::serving_step;
  if (statistic == Statistic::prefill) return Statistic::serving_first;
  return statistic == generation ? Statistic::serving_rate : statistic;
}

/// The most sequences at once that the machine holds, for "saturated"; 1 where not even one.
Size saturated(Scenario s) {
  constexpr Size most = 4096;  // as benchmark programs limit it
  return std::max<Size>(1, model::largest(most, [&](Size batch) {
                          s.batch = batch;
                          return place(s, 1.0).feasible();
                        }));
}

/// `machine`, of which the row says that it was measured there, or nothing.
Machine stated_machine(const Machine& machine, const Measurement& row) {
  Machine stated = machine;
  if (row["gpu_count"] == "0") stated.devices.clear();
  if (row["gpu"].empty() || stated.devices.empty()) return stated;
  const Machine written = machine_of(row);
  bool same = written.devices.size() == stated.devices.size();
  for (std::size_t i = 0; same && i < written.devices.size(); ++i)
    same = written.devices[i].name == stated.devices[i].name;
  if (!same)
    throw Skipped(Skip::device, fmt::format("measured on {} x {}, not on {}",
                                            written.devices.size(), row["gpu"], machine.name));
  return stated;
}

/// Throws Skipped where the time depends on a speed of the host that the row does not give.
void require_host_speeds(const Scenario& s, Statistic statistic) {
  const model::Plan plan = place(s, 1.0);
  if (!plan.feasible()) return;
  const auto& host = s.machine->host;
  const bool on_disk = plan.on_disk.size() > 0 || plan.head == model::Where::disk;
  if (on_disk && host.disk_read.value() <= 0) throw Skipped(Skip::setting, "the disk's speed");
  const bool on_cpu = plan.on_cpu.size() > 0 || plan.head == model::Where::cpu ||
                      plan.partly_on_host || !caches_on_cards(s);
  if (on_cpu && s.runtime->offload.mode != model::Offload::stream &&
      host.ram_bandwidth.value() <= 0)
    throw Skipped(Skip::setting, "the bandwidth of the host's memory");
  const bool prompts = statistic != step && statistic != serving_step;
  if (on_cpu && prompts && s.runtime->offload.mode != model::Offload::stream &&
      host.cpu_peak.value() <= 0)
    throw Skipped(Skip::setting, "the processor");
}

/// Throws Skipped where an engine that computes host layers leaves open how many those are.
void require_layers(const Measurement& row, const Scenario& s) {
  if (s.runtime->offload.mode != model::Offload::compute || s.layer_split != nullptr ||
      s.machine->devices.empty() || lower(row["settings"]).find("auto") != std::string::npos)
    return;
  const model::Plan plan = place(s, 1.0);
  if (plan.feasible() && plan.on_cpu.size() + plan.on_disk.size() > 0)
    throw Skipped(Skip::setting, "how many layers are on the cards");
}

/// `machine`, whose processor is not known and not asked for more than to read its memory.
Machine never_computing(Machine machine) {
  machine.host.cpu_peak = FlopsPerSecond(std::numeric_limits<double>::max());
  return machine;
}

/// The least budget at which so many layers are on cards: what a device map of that many means.
Bytes budget_for(const Scenario& s, Size layers) {
  const auto budgets = model::allocations(s, std::nullopt);
  for (const Bytes budget : budgets) {
    Scenario at = s;
    at.gpu_budget = budget;
    const model::Plan plan = place(at, 1.0);
    if (plan.feasible() && plan.computes_on_card && plan.on_cards.size() >= layers) return budget;
  }
  throw Skipped(Skip::setting, fmt::format("{} layers do not fit on these cards", layers));
}

}  // namespace

std::string short_source(std::string source) {
  if (source.starts_with("github:")) source.erase(0, 7);
  if (source.starts_with("https://")) source.erase(0, 8);
  if (source.starts_with("github.com/")) source.erase(0, 11);
  return source.substr(0, std::min(source.find_first_of("@: ("), source.size()));
}

std::string sources_of(const std::vector<const Measurement*>& rows) {
  std::map<std::string, int> counts;
  for (const Measurement* row : rows) ++counts[short_source((*row)["source"])];
  std::vector<std::pair<int, std::string>> sorted;
  for (const auto& [name, n] : counts) sorted.emplace_back(-n, name);
  std::ranges::sort(sorted);
  std::string text;
  for (const auto& [n, name] : sorted) text += (text.empty() ? "" : ", ") + name;
  return text;
}

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

Machine Subjects::machine_for(const Measurement& row, bool memory_alone) {
  if (on_) return stated_machine(*on_, row);
  try {
    return machine_of(row);
  } catch (const Skipped& unknown) {
    if (!memory_alone || unknown.reason != Skip::device) throw;
    return any_machine(static_cast<int>(row.number("gpu_count").value_or(1)));
  }
}

const model::LayerSplit* Subjects::layer_split(const Measurement& row, const Scenario& s) {
  auto split = layer_split_of(row, s);
  return split ? layer_splits_.emplace_back(std::move(split)).get() : nullptr;
}

Scenario Subjects::scenario(const Measurement& row, const EngineName& engine, bool memory_alone) {
  if (row["grade"] == "C") throw Skipped(Skip::grade, "");
  refuse_features(row);
  Scenario s;
  const auto runtime =
      std::ranges::find(runtimes_, version_of(row, engine.runtime), &model::Engine::name);
  if (runtime == runtimes_.end()) throw std::logic_error(std::string(engine.runtime));
  s.runtime = &*runtime;
  const model::Model& model = names_.model(row["model"], row["precision"]);
  if (const auto written = row.number("parameters"))
    if (const double ratio = *written / static_cast<double>(model.profile.parameters);
        ratio < 0.9 || ratio > 1.1)
      throw Skipped(Skip::model, fmt::format("'{}' has {:.3g} parameters there, {} has {:.3g}",
                                             row["model"], *written, model.name,
                                             static_cast<double>(model.profile.parameters)));
  s.weights = &weights(model, scheme_of(row, model, *s.runtime));
  if (!s.weights->refusal.empty()) throw Skipped(Skip::precision, s.weights->refusal);
  s.machine = &machine(machine_for(row, memory_alone));
  s.kv_precision = &kv_precision_of(row, engine, s);
  s.layer_split = layer_split(row, s);
  s.flash_attention = flash_attention_of(row);
  s.enforce_eager = lower(row["settings"]).find("enforce_eager") != std::string::npos;
  s.threads = threads_of(row);
  if (!row["batch"].empty() && !row.number("batch") && row["batch"] != "saturated")
    throw Skipped(Skip::setting, "batch is '" + row["batch"] + "'");
  s.batch = tokens(row, "batch", "batch", 1);
  s.batch_parts = batch_parts_of(row, s);
  const auto cards = static_cast<Size>(s.machine->devices.size());
  if (s.runtime->parallel.split == Split::tensors && cards > 0) {
    const auto pipeline = static_cast<Size>(figure(row, {"pp"}).value_or(1));
    s.pipeline_parallel = std::clamp<Size>(pipeline, 1, cards);
    s.tensor_parallel =
        static_cast<Size>(figure(row, {"tp", "tensor_parallel"})
                              .value_or(static_cast<double>(cards / s.pipeline_parallel)));
    // Over other numbers of cards the attention is spread in ways that are not described.
    const auto groups = static_cast<Size>(figure(row, {"moe_ep"}).value_or(1));
    if (groups > 1 && groups == s.tensor_parallel &&
        s.runtime->parallel.expert_spread != model::ExpertSpread::none &&
        s.weights->shards.experts % groups == 0 && s.weights->shards.experts > 0)
      s.expert_parallel = groups;
  }
  return s;
}

ScoredRow Subjects::subject(const Measurement& row) {
  if (row["category"].starts_with("training") || row["task"].starts_with("training"))
    throw Skipped(Skip::task, "training");
  ScoredRow subject{.row = &row, .scenario = {}, .group = {}};
  if (row["grade"] == "C") throw Skipped(Skip::grade, "");
  const Quantity& quantity = quantity_of(row);
  const EngineName& engine = engine_of(row);
  subject.statistic = quantity.statistic;
  subject.index = quantity.index;
  if (is_of_loading(subject.statistic) && is_warm(row))
    subject.statistic = subject.statistic == load ? load_warm : load_weights_warm;
  if (subject.statistic == card_used && engine.allocator) subject.statistic = allocated_peak;
  const auto value = row.number("value");
  if (!value || *value <= 0)
    throw Skipped(Skip::statistic, fmt::format("value '{}'", row["value"]));
  if (!is_memory(quantity.statistic) && one_digit(row["value"]))
    throw Skipped(Skip::digits, row["value"]);
  const bool used = quantity.statistic < Statistic::card_weights;
  Scenario& s = subject.scenario = scenario(row, engine, used);
  const bool no_tokens =
      quantity.statistic == Statistic::weights || is_of_loading(quantity.statistic);
  const Size prompt = tokens(row, "prompt_len", "prompt_len", engine.prompt_tokens);
  const Size output = tokens(row, "output_len", "max_new_tokens", engine.output_tokens);
  if (!no_tokens && quantity.statistic != card_weights && quantity.statistic != host_weights) {
    if (row["prompt_len"].empty() && engine.prompt_tokens == 0)
      throw Skipped(Skip::setting, "the prompt's tokens");
    if (quantity.statistic == generation && output == 0)
      throw Skipped(Skip::setting, "the output's tokens");
  }
  s.prompt_tokens = std::max<Size>(prompt, 1);
  s.output_tokens = std::max<Size>(output, 1);
  if (is_memory(subject.statistic) && engine.cache_of_output && !s.machine->devices.empty()) {
    s.context = std::max(s.prompt_tokens + 1, s.output_tokens);
    s.output_tokens = s.context - s.prompt_tokens;
  }
  if (const auto context = figure(row, {"ctx", "n_ctx"})) s.context = static_cast<Size>(*context);
  if (s.context < s.prompt_tokens + s.output_tokens) s.context = 0;
  if (row["batch"] == "saturated") s.batch = saturated(s);
  if (const auto layers = layers_on_cards(row, s)) s.gpu_budget = budget_for(s, *layers);
  const double scaled = *value * scale_of(row, engine);
  if (on_cards(subject.statistic) && scaled > capacity(*s.machine))
    throw Skipped(Skip::capacity, fmt::format("{:.4g} GiB on {} cards", scaled / 1073741824.0,
                                              s.machine->devices.size()));
  subject.measured = is_memory(subject.statistic) ? scaled : seconds(quantity, scaled, s);
  if (row["task"].starts_with("serving")) subject.statistic = under_traffic(subject.statistic);
  if (subject.statistic == Statistic::serving_rate)
    subject.requests = requests_of_run(row, s.batch).value_or(0);
  subject.group = is_memory(subject.statistic) ? "inference_memory" : time_group(row, quantity, s);
  if (is_memory(subject.statistic) && engine.runtime.starts_with("transformers") &&
      s.machine->devices.size() > 1)
    if (auto map = auto_map(s)) {
      assignments_.push_back(std::make_shared<const model::Assignment>(std::move(*map)));
      s.assignment = assignments_.back().get();
    }
  if (!is_memory(subject.statistic) && !is_of_loading(subject.statistic)) {
    require_host_speeds(s, subject.statistic);
    require_layers(row, s);
    if (s.machine->host.cpu_peak.value() <= 0) s.machine = &machine(never_computing(*s.machine));
  }
  const bool warm = subject.statistic == load_warm || subject.statistic == load_weights_warm;
  if (warm && s.machine->devices.empty() &&
      s.runtime->offload.host_weights == model::HostWeights::mapped)
    throw Skipped(Skip::statistic, "files are mapped, and no weight is read");
  const bool reads = is_of_loading(subject.statistic) && !warm;
  if (reads && s.machine->host.disk_read.value() <= 0)
    throw Skipped(Skip::setting, "the disk's speed");
  return subject;
}

Scenario Subjects::labelled(const Measurement& row) {
  if (row["kind"] != "inference") throw Skipped(Skip::task, row["kind"]);
  if (row["grade"] == "C") throw Skipped(Skip::grade, "");
  const EngineName& engine = engine_of(row);
  Scenario s = scenario(row, engine, false);
  if (const auto share = figure(row, {"utilisation"}); share && !s.machine->devices.empty())
    s.gpu_budget =
        Bytes(static_cast<Size>(*share * s.machine->devices.front().memory.real().value()));
  const Size context = tokens(row, "context", "n_ctx", 0);
  s.output_tokens = std::max<Size>(tokens(row, "output_len", "output_len", 0), 1);
  s.prompt_tokens = tokens(row, "prompt_len", "input_len", 0);
  if (context > 0) {
    s.context = context;
    if (s.prompt_tokens == 0) s.prompt_tokens = context - s.output_tokens;
  }
  if (s.prompt_tokens == 0) s.prompt_tokens = engine.prompt_tokens;
  if (s.context == 0 && engine.output_tokens > 0) s.output_tokens = engine.output_tokens;
  s.prompt_tokens = std::max<Size>(s.prompt_tokens, 1);
  if (s.context > 0 && s.context < s.prompt_tokens + s.output_tokens) s.context = 0;
  return s;
}

}  // namespace headroom::sweep
