// Constants of times by training runtime: the embedded training_pace.tsv, which
// `headroom accuracy tests/accuracy/training_speed.csv --fit` writes.
#include <algorithm>
#include <array>
#include <charconv>
#include <stdexcept>
#include <vector>

#include "hardware/embedded.hpp"
#include "model/training_time.hpp"

namespace headroom::model {
namespace {

/// runtime, constant, value, low, high, measurements, source.
using Fields = std::array<std::string_view, 7>;

Fields fields_of(std::string_view line) {
  Fields all{};
  for (std::string_view& field : all) {
    const auto end = std::min(line.find('\t'), line.size());
    field = line.substr(0, end);
    line.remove_prefix(std::min(end + 1, line.size()));
  }
  return all;
}

double number(std::string_view text) {
  double value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

std::string_view file() {
  for (const EmbeddedFile& each : embedded_models())
    if (each.name == "training_pace.tsv") return each.bytes;
  throw std::logic_error("no training_pace.tsv is embedded");
}

std::vector<TrainingPace> read() {
  std::vector<TrainingPace> rows;
  std::string_view rest = file();
  rest.remove_prefix(std::min(rest.find('\n') + 1, rest.size()));
  while (!rest.empty()) {
    const auto end = std::min(rest.find('\n'), rest.size());
    const Fields f = fields_of(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (rows.empty() || rows.back().runtime != f[0]) rows.push_back({.runtime = f[0]});
    const Constant constant{number(f[2]), number(f[3]), number(f[4]),
                            static_cast<int>(number(f[5])), f[6]};
    if (f[1] == "interval") {
      rows.back().interval = constant;
      continue;
    }
    const auto which = std::ranges::find(pace_names, f[1]);
    if (which == std::end(pace_names))
      throw std::logic_error("training_pace.tsv: no constant " + std::string(f[1]));
    rows.back().*pace_constants[which - std::begin(pace_names)] = constant;
  }
  return rows;
}

}  // namespace

std::span<const TrainingPace> training_paces() {
  static const std::vector<TrainingPace> rows = read();
  return rows;
}

const TrainingPace& training_pace(std::string_view runtime) {
  const auto all = training_paces();
  const auto found = std::ranges::find(all, runtime, &TrainingPace::runtime);
  return found != all.end() ? *found : all.front();
}

}  // namespace headroom::model
