#include "sweep/accuracy/subject_placement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <regex>

#include "hardware/names.hpp"
#include "sweep/accuracy/measurement_names.hpp"

namespace headroom::sweep {
namespace {

using model::LayerSplit;
using model::Scenario;

/// An option of a command line among the settings: "n_cpu_moe=36", "-ngl 99 --cpu-moe".
struct OffloadFlag {
  std::string name;   ///< in lower case, without leading dashes, '-' for '_'
  std::string value;  ///< what follows; empty where another flag does
};

std::vector<OffloadFlag> flags_of(const std::string& settings) {
  std::vector<OffloadFlag> flags;
  for (std::size_t begin = 0; begin < settings.size();) {
    const auto end = std::min(settings.find_first_of("; ", begin), settings.size());
    const std::string word = settings.substr(begin, end - begin);
    const bool starts = begin == 0 || settings[begin - 1] == ';';
    begin = end + 1;
    if (word.empty()) continue;
    const auto equals = word.find('=');
    const bool dashed = word.front() == '-' && word.size() > 1;
    if (!dashed && !starts) {
      if (!flags.empty() && flags.back().value.empty()) flags.back().value = word;
      continue;
    }
    std::string name = lower(word.substr(0, equals));
    name.erase(0, name.find_first_not_of('-'));
    std::ranges::replace(name, '_', '-');
    flags.push_back({name, equals == word.npos ? "" : word.substr(equals + 1)});
  }
  return flags;
}

const OffloadFlag* flag(const std::vector<OffloadFlag>& flags,
                        std::initializer_list<std::string_view> names) {
  for (const OffloadFlag& each : flags)
    for (const std::string_view name : names)
      if (each.name == name) return &each;
  return nullptr;
}

/// ZeRO-Inference's kv_offload; FlexGen's --percent: of weights, caches and activations the shares
/// on the card and on the CPU, in turn; the rest is on disk.
struct Percent {
  int weights = 100, weights_cpu = 0, caches = 100, caches_cpu = 0;
};
std::optional<Percent> percent_of(const Measurement& row) {
  Percent p;
  const std::string& text = row["settings"];
  const auto at = text.find("--percent ");
  if (at == text.npos || std::sscanf(text.c_str() + at, "--percent %d %d %d %d", &p.weights,
                                     &p.weights_cpu, &p.caches, &p.caches_cpu) != 4)
    return std::nullopt;
  return p;
}

/// Share of a layer's weights that FlexGen keeps on the card of --percent `asked`: attention has
/// four matrices of one size, the feed-forward two, and of each sort those whose middle lies within
/// the last so many percent (flex_opt.py: init_weight_list, get_choice).
double share_on_card(int asked) {
  const auto of = [&](int matrices) {
    int count = 0;
    for (int i = 0; i < matrices; ++i) count += 100 * (2 * i + 1) >= 2 * matrices * (100 - asked);
    return static_cast<double>(count) / matrices;
  };
  constexpr double attention = 1.0 / 3;  // of OPT's layers
  return attention * of(4) + (1 - attention) * of(2);
}

bool caches_in_host(const Measurement& row) {
  if (lower(row.setting("kv_offload").value_or("")) == "yes") return true;
  // FlexGen's benchmark by level: weights, caches and activations below the card (bench_suite.py).
  if (row.setting("offload_level")) return true;
  const auto percent = percent_of(row);
  if (percent && percent->caches + percent->caches_cpu < 100)
    throw Skipped(Skip::feature, "caches on disk");
  if (percent && row["settings"].find("--cpu") != std::string::npos)
    throw Skipped(Skip::feature, "attention on the CPU");
  return percent && percent->caches == 0;
}

/// The tensors that the row keeps in host memory.
model::HostTensors kept(const Scenario& s, const std::vector<OffloadFlag>& flags) {
  const Size layers = std::ssize(s.weights->layer);
  if (flag(flags, {"cpu-moe", "cmoe"})) return model::experts_on_host(*s.weights, layers);
  if (const OffloadFlag* n = flag(flags, {"n-cpu-moe", "ncmoe"}))
    if (const auto count = leading_number(n->value))
      return model::experts_on_host(*s.weights, static_cast<Size>(*count));
  const OffloadFlag* given = flag(flags, {"ot", "override-tensor"});
  if (given == nullptr) return {};
  std::string pattern = given->value;
  if (const auto equals = pattern.rfind('='); equals != pattern.npos) pattern.resize(equals);
  try {
    const std::array patterns{std::regex(pattern)};
    model::HostTensors host = model::tensors_on_host(*s.weights, patterns);
    if (host.matched > 0) return host;
  } catch (const std::regex_error&) {
    throw Skipped(Skip::setting, fmt::format("-ot '{}' is no regular expression", pattern));
  }
  throw Skipped(Skip::setting, fmt::format("-ot '{}' matches no tensor", pattern));
}

/// Of each layer's experts, what share the row has on the card.
double experts_on_card(const Measurement& row) {
  int on_card = 0, all = 0, percent = 0;
  for (const auto& [key, value] : row.settings) {
    if (key.ends_with(" experts on the card") &&
        std::sscanf(key.c_str(), "%d of %d", &on_card, &all) == 2 && all > 0)
      return std::clamp(static_cast<double>(on_card) / all, 0.0, 1.0);
    if (key == "gpu_expert_ratio" && std::sscanf(value.c_str(), "%d%%", &percent) == 1)
      return std::clamp(percent / 100.0, 0.0, 1.0);
  }
  return 0;
}

model::HostTensors scaled(model::HostTensors host, double share) {
  for (Bytes& bytes : host.bytes_before)
    bytes = Bytes(static_cast<Size>(share * bytes.real().value()));
  for (auto* sums : {&host.read_dense_before, &host.read_routed_before, &host.multiplied_before})
    for (double& sum : *sums) sum *= share;
  return host;
}

/// "13 of 28", "99", "all", "35/36 layers on GPU"; Metal took any number above 0 for the whole
/// model.
std::optional<Size> gpu_layers(const Measurement& row, const std::vector<OffloadFlag>& flags,
                               Size all) {
  int some = 0, of = 0;
  const std::string settings = lower(row["settings"]);
  if (const auto slash = settings.find(" layers on gpu"); slash != settings.npos) {
    const auto begin = settings.find_last_of(" ;", slash - 1);
    if (std::sscanf(settings.c_str() + (begin == settings.npos ? 0 : begin + 1), "%d/%d", &some,
                    &of) == 2)
      return std::min<Size>(some, all);
  }
  const OffloadFlag* given = flag(flags, {"ngl", "n-gpu-layers", "gpu-layers", "num-gpu"});
  if (given == nullptr) return std::nullopt;
  if (row["settings"].find("whole model") != std::string::npos) return all;
  const auto n = leading_number(given->value);
  return n ? std::min<Size>(all, static_cast<Size>(*n)) : all;
}

}  // namespace

std::optional<double> figure(const Measurement& row, std::initializer_list<std::string_view> keys) {
  for (const auto key : keys)
    if (const auto text = row.setting(key))
      if (const auto value = leading_number(*text)) return value;
  return std::nullopt;
}

std::unique_ptr<LayerSplit> layer_split_of(const Measurement& row, const Scenario& s) {
  if (s.machine->devices.empty()) return nullptr;
  if (s.runtime->offload.mode == model::Offload::stream && caches_in_host(row)) {
    auto split = std::make_unique<LayerSplit>();
    split->cache_on_cards = false;
    return split;
  }
  if (s.runtime->offload.mode != model::Offload::compute) return nullptr;
  const auto all = std::ssize(s.weights->layer) + 1;
  const auto flags = flags_of(row["settings"]);
  const auto layers = gpu_layers(row, flags, all);
  const OffloadFlag* micro = flag(flags, {"n-ubatch", "ubatch", "ub"});
  const OffloadFlag* mode = flag(flags, {"sm", "split-mode", "split"});
  const bool rows = mode != nullptr && lower(mode->value) == "row";
  const auto micro_batch = micro ? leading_number(micro->value) : std::nullopt;
  const bool cache_elsewhere = row.setting("no_kv_offload").value_or("0") != "0";
  model::HostTensors host = kept(s, flags);
  if (host.bytes_before.empty() && s.runtime->offload.experts_on_cpu_by_default &&
      s.weights->model->profile.routing.experts > 0)
    host = scaled(model::experts_on_host(*s.weights, all), 1 - experts_on_card(row));
  if (!layers && !cache_elsewhere && !micro_batch && !rows && host.bytes_before.empty() &&
      s.machine->devices.size() < 2)
    return nullptr;
  auto split = std::make_unique<LayerSplit>();
  split->cache_on_cards = !cache_elsewhere;
  if (rows) split->mode = model::SplitMode::row;
  if (micro_batch) split->micro_batch = static_cast<Size>(*micro_batch);
  split->gpu_layers = layers.value_or(all);
  split->on_host = std::move(host);
  return split;
}

Size batch_parts_of(const Measurement& row, const Scenario& s) {
  const std::string& text = row["settings"];
  const auto at = text.find("gbs=");
  int each = 0, parts = 0;
  if (!s.runtime->offload.batch_in_parts || at == text.npos ||
      std::sscanf(text.c_str() + at, "gbs=%dx%d", &each, &parts) != 2)
    return 1;
  return std::max(1, parts);
}

std::optional<Size> layers_on_cards(const Measurement& row, const Scenario& s) {
  if (const auto layers = figure(row, {"gpu_layers"})) return static_cast<Size>(*layers);
  if (s.runtime->offload.mode != model::Offload::stream) return std::nullopt;
  const auto percent = percent_of(row);
  if (percent && percent->weights < 100)
    return std::llround(share_on_card(percent->weights) *
                        static_cast<double>(std::ssize(s.weights->layer)));
  const std::string settings = lower(row["settings"]);
  const bool none = settings.find("lowest=cpu_offload") != settings.npos ||
                    settings.find("all weights offloaded") != settings.npos;
  return none ? std::optional<Size>(0) : std::nullopt;
}

}  // namespace headroom::sweep
