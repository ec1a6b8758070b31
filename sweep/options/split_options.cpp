#include "sweep/options/split_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "hardware/quantity_text.hpp"
#include "hardware/text.hpp"
#include "model/infer/estimate.hpp"

namespace headroom::sweep {
namespace {

using model::LayerSplit;
using model::SplitMode;

/// The pattern by which llama.cpp finds tensors of experts (common/common.h LLM_FFN_EXPS_REGEX).
constexpr std::string_view experts = R"(\.ffn_(up|down|gate|gate_up)_(ch|)exps)";

Size count(std::string_view flag, std::string_view text, std::string_view expected) {
  if (const auto value = whole_number(text)) return *value;
  throw UsageError(fmt::format("--{}: found '{}', expected {}", flag, text, expected));
}

std::vector<std::string> parts_of(std::string_view text, std::string_view separators) {
  std::vector<std::string> parts;
  for (std::size_t at = 0; at <= text.size();) {
    const auto end = std::min(text.find_first_of(separators, at), text.size());
    parts.emplace_back(text.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

void read_cards(const Options& options, Size cards, LayerSplit& split) {
  static constexpr std::string_view modes[] = {"layer", "row", "none"};
  const auto mode = options.one_of("split-mode", modes, "layer");
  split.mode = mode == "row" ? SplitMode::row : mode == "none" ? SplitMode::none : SplitMode::layer;
  for (const auto flag : {"tensor-split", "split-mode", "main-gpu"})
    if (options.given(flag) && cards < 2)
      throw UsageError(
          fmt::format("--{} has no effect on a machine with {}", flag, counted(cards, "card")));
  if (options.given("main-gpu")) {
    if (split.mode != SplitMode::none)
      throw UsageError("--main-gpu has no effect without --split-mode none");
    split.main_card = count("main-gpu", options.text("main-gpu"), "the number of a card, from 0");
    if (split.main_card >= cards)
      throw UsageError(fmt::format("--main-gpu: found {}, the machine has cards 0 to {}",
                                   split.main_card, cards - 1));
  }
  if (!options.given("tensor-split")) return;
  if (split.mode == SplitMode::none)
    throw UsageError("--tensor-split has no effect with --split-mode none");
  const auto texts = parts_of(options.text("tensor-split"), ",/");
  if (static_cast<Size>(texts.size()) > cards)
    throw UsageError(fmt::format("--tensor-split: found {} shares, the machine has {} cards",
                                 texts.size(), cards));
  float sum = 0;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    char* end = nullptr;
    const float share = std::strtof(texts[i].c_str(), &end);
    if (texts[i].empty() || *end != '\0' || !(share >= 0) || !std::isfinite(share))
      throw UsageError(
          fmt::format("--tensor-split: found '{}', expected shares like 3,1", texts[i]));
    split.shares[i] = share;
    sum += share;
  }
  if (sum == 0) throw UsageError("--tensor-split: all shares are 0");
}

/// "CPU", or a card as llama.cpp's back ends name it: "CUDA1", "ROCm0", "Vulkan0".
Size place_of(const std::string& name, const std::string& rule, Size cards) {
  if (name == "CPU") return model::TensorRule::host;
  for (const std::string_view back_end : {"CUDA", "ROCm", "HIP", "Vulkan", "SYCL", "MTL"}) {
    if (!name.starts_with(back_end)) continue;
    const std::string digits = name.substr(back_end.size());
    const auto card = whole_number(digits);
    if (!card) break;
    if (*card >= cards)
      throw UsageError(fmt::format("--override-tensor: found '{}', the machine has {}", rule,
                                   counted(cards, "card")));
    return *card;
  }
  throw UsageError(
      fmt::format("--override-tensor: found '{}', expected REGEX=CPU or REGEX=CUDA0", rule));
}

/// The rules of tensors that do not stay with their layer: --override-tensor first, then experts.
std::vector<model::TensorRule> rules_of(const Options& options, const model::Model& model,
                                        Size cards) {
  options.exclusive({"cpu-moe", "n-cpu-moe"});
  std::vector<model::TensorRule> rules;
  for (const auto flag : {"cpu-moe", "n-cpu-moe"})
    if (options.given(flag) && model.profile.routing.experts == 0)
      throw UsageError(fmt::format("--{} has no effect: {} has no experts", flag, model.name));
  for (const auto& given : options.texts("override-tensor"))
    for (const auto& part : parts_of(given, ",")) {
      const auto equals = part.rfind('=');
      const bool complete = equals != std::string::npos && equals > 0;
      rules.push_back(
          {part.substr(0, equals), place_of(complete ? part.substr(equals + 1) : "", part, cards)});
    }
  if (options.given("cpu-moe")) rules.push_back({.pattern = std::string(experts)});
  const Size layers = options.whole("n-cpu-moe", 0);
  for (Size i = 0; i < std::min(layers, std::ssize(model.profile.layers)); ++i)
    rules.push_back({.pattern = fmt::format(R"(blk\.{}{})", i, experts)});
  return rules;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> given_splits(const Options& options) {
  std::vector<std::pair<std::string, std::string>> given;
  for (const auto& flag : parts_of(HEADROOM_SPLIT_FLAGS, " ")) {
    if (!options.given(flag)) continue;
    if (flag == "override-tensor")
      for (const auto& text : options.texts(flag)) given.emplace_back(flag, text);
    else
      given.emplace_back(flag, options.text(flag));
  }
  return given;
}

void refuse_splits(const Options& options) {
  for (const auto& flag : parts_of(HEADROOM_SPLIT_FLAGS, " "))
    if (options.given(flag))
      throw UsageError(fmt::format("--{} has no effect without a machine", flag));
}

namespace {

/// True for a flag that asks of an engine which divides every matrix what it does anyway: its mode,
/// all layers on cards, equal shares. Throws UsageError for shares that differ.
bool is_its_own_way(const Options& options, const model::Scenario& s, std::string_view flag) {
  const std::string_view mode = s.runtime->parallel.split_mode;
  if (mode.empty()) return false;
  const std::string text = options.text(flag);
  if (flag == "split-mode") return text == mode;
  if (flag == "gpu-layers") {
    const auto layers = whole_number(text);
    return text == "all" || text == "auto" || (layers && *layers > std::ssize(s.weights->layer));
  }
  if (flag != "tensor-split") return false;
  const auto shares = parts_of(text, ",/");
  const bool equal =
      std::ranges::all_of(shares, [&](const auto& each) { return each == shares.front(); });
  if (!equal || std::ssize(shares) != std::ssize(s.machine->devices))
    throw UsageError(fmt::format(
        "--tensor-split {}: --split-mode {} is described with an equal share for each of the {} "
        "cards; leave it out, or take --split-mode layer",
        text, mode, s.machine->devices.size()));
  return true;
}

}  // namespace

std::unique_ptr<LayerSplit> layer_split_of(const Options& options, const model::Scenario& s) {
  bool given = false;
  for (const auto& flag : parts_of(HEADROOM_SPLIT_FLAGS, " ")) {
    if (flag == "cpu-offload-gb" || !options.given(flag)) continue;
    if (is_its_own_way(options, s, flag)) continue;
    given = true;
    // ZeRO-Inference's kv_offload, FlexGen's --percent … 0 100.
    const bool pinned = s.runtime->offload.mode == model::Offload::stream &&
                        s.runtime->offload.host_weights == model::HostWeights::copied;
    if (s.runtime->offload.mode != model::Offload::compute && !(pinned && flag == "no-kv-offload"))
      throw UsageError(
          fmt::format("--{} is an option of llama.cpp; the runtime is {}", flag, s.runtime->name));
    if (s.machine->devices.empty())
      throw UsageError(fmt::format("--{} has no effect without a GPU", flag));
  }
  if (!given || !s.weights->refusal.empty() || s.machine->devices.empty()) return nullptr;
  auto split = std::make_unique<LayerSplit>();
  if (const auto text = options.text("gpu-layers", "auto"); text == "all")
    split->gpu_layers = std::ssize(s.weights->layer) + 1;
  else if (text != "auto")
    split->gpu_layers = count("gpu-layers", text, "a number of layers, all or auto");
  const Size cards = std::ssize(s.machine->devices);
  read_cards(options, cards, *split);
  split->cache_on_cards = !options.given("no-kv-offload");
  const auto rules = rules_of(options, *s.weights->model, cards);
  if (rules.empty()) return split;
  if (split->mode == SplitMode::row)
    throw UsageError("--split-mode row together with tensors elsewhere is not described");
  const bool to_cards = std::ranges::any_of(
      rules, [](const model::TensorRule& rule) { return rule.card != model::TensorRule::host; });
  if (to_cards && split->gpu_layers < model::counted_layers(*s.weights->model).size())
    throw UsageError("--override-tensor to a card needs all layers on cards: --gpu-layers all");
  try {
    split->on_host = model::tensors_by_rules(*s.weights, rules);
  } catch (const std::invalid_argument& e) {
    throw UsageError(fmt::format("--override-tensor: {}", e.what()));
  }
  if (split->on_host.matched == 0)
    throw UsageError(
        fmt::format("--override-tensor matches no tensor of {}; their names are like "
                    "blk.0.ffn_up.weight",
                    s.weights->model->name));
  return split;
}

Bytes cpu_offload_of(const Options& options, const model::Scenario& s) {
  if (!options.given("cpu-offload-gb")) return Bytes(0);
  if (!s.runtime->offload.supports_cpu_offload)
    throw UsageError(
        fmt::format("--cpu-offload-gb is an option of vllm; the runtime is {}", s.runtime->name));
  const std::string text = options.text("cpu-offload-gb");
  char* end = nullptr;
  const double gib = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0' || !(gib > 0) || gib > 1e6)
    throw UsageError(fmt::format(
        "--cpu-offload-gb: found '{}', expected GiB of each card's weights, above 0", text));
  return Bytes(std::llround(gib * GiB));
}

}  // namespace headroom::sweep
