// Constants of times by training runtime: the embedded training_pace.tsv, which
// `headroom accuracy tests/accuracy/training_speed.csv --fit` writes.
#include <algorithm>
#include <stdexcept>
#include <vector>

#include "model/constants_file.hpp"
#include "model/training/time.hpp"

namespace headroom::model {
namespace {

std::vector<TrainingPace> read() {
  std::vector<TrainingPace> rows;
  for_lines(constants_file("training_pace.tsv"), [&](std::string_view line, int) {
    // runtime, constant, value, low, high, measurements, source
    const auto f = fields_of<7>(line);
    if (rows.empty() || rows.back().runtime != f[0]) rows.push_back({.runtime = f[0]});
    const Constant constant{number_of(f[2]), number_of(f[3]), number_of(f[4]),
                            static_cast<int>(number_of(f[5])), f[6]};
    if (f[1] == "interval") {
      rows.back().interval = constant;
      return;
    }
    const auto which = std::ranges::find(pace_names, f[1]);
    if (which == std::end(pace_names))
      throw std::logic_error("training_pace.tsv: no constant " + std::string(f[1]));
    rows.back().*pace_constants[which - std::begin(pace_names)] = constant;
  });
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
