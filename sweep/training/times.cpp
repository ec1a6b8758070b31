// Measured times of training steps: what a published figure says of a step's seconds.
#include <fmt/format.h>

#include <regex>

#include "hardware/catalogue.hpp"
#include "hardware/names.hpp"
#include "hardware/text.hpp"
#include "sweep/accuracy/training_script.hpp"
#include "sweep/training/fit.hpp"

namespace headroom::sweep {
namespace {

/// Figures of steps that no estimate covers, or whose length is not known.
void refuse(const Measurement& row, const std::string& settings) {
  for (const std::string_view each : {"variable-length", "average tokens", "avg tokens"})
    if (contains(lower(row["notes"]), each))
      throw Skipped(Skip::setting, "sequences of a length that varies");
  if (contains(lower(row["notes"]), "power limited"))
    throw Skipped(Skip::setting, "cards below the power of their data sheets");
  for (const std::string_view each : {"cpu offload", "act_cpu_offload=true"})
    if (contains(settings, each)) throw Skipped(Skip::feature, std::string(each));
}

/// Seconds of a step of `tokens` tokens and `sequences` sequences, of all cards together.
double seconds_of(const Measurement& row, double cards, double tokens, double sequences) {
  const auto value = row.number("value");
  if (!value || *value <= 0) throw Skipped(Skip::statistic, "no value");
  const std::string &quantity = row["quantity"], &unit = row["unit"];
  if (quantity == "throughput_per_gpu" && unit == "tokens/s/GPU") return tokens / (*value * cards);
  if (quantity == "throughput" && unit == "tokens/s") return tokens / *value;
  if ((quantity == "samples_per_s" || quantity == "throughput") && unit == "samples/s")
    return sequences / *value;
  if (unit == "s" || unit == "s/it") return *value;
  if (unit == "ms") return *value / 1000;
  throw Skipped(Skip::statistic, quantity);
}

/// Bytes a second of a box's network by its settings: "4x100Gb RoCE", "1600 Gbps node-node
/// interconnect"; 0: they say nothing.
double network_of(const std::string& settings) {
  static const std::regex interfaces(R"((\d+)x(\d+)gb roce)"), whole(R"((\d+) gbps)");
  constexpr double gbit = 1e9 / 8;
  std::smatch found;
  if (std::regex_search(settings, found, interfaces))
    return std::stod(found[1]) * std::stod(found[2]) * gbit;
  if (std::regex_search(settings, found, whole)) return std::stod(found[1]) * gbit;
  return 0;
}

/// The box that the cards usually sit in; cards of several nodes are dealt to them evenly.
Machine boxed(const Measurement& row, const std::string& settings) {
  Machine machine = machine_of(row);
  const Catalogue& catalogue = shipped_catalogue();
  const Device& card = machine.devices.front();
  const Host& usual = catalogue.host(card.host.empty() ? catalogue.default_host : card.host);
  machine.host.cards = usual.network > BytesPerSecond() ? usual.cards : 0;
  machine.host.network = usual.network;
  machine.host.ram_bandwidth = usual.ram_bandwidth;
  if (const double network = network_of(settings); network > 0)
    machine.host.network = BytesPerSecond(network);
  static const std::regex nodes(R"(nodes=(\d+))");
  std::smatch found;
  if (std::regex_search(settings, found, nodes) && found[1] != "1" && machine.host.cards > 0)
    machine.host.cards = static_cast<int>(std::max<std::size_t>(
        1, machine.devices.size() / static_cast<std::size_t>(std::stoi(found[1]))));
  return machine;
}

}  // namespace

TimedStep TrainingMeasurements::timed(const Measurement& row) {
  const std::string settings = lower(row["settings"]);
  refuse(row, settings + lower(row["notes"]));
  TimedStep step{.row = &row,
                 .scenario = step_of(row, script_of(row)),
                 .evaluator = std::make_shared<model::TrainingEvaluator>(),
                 .memory = {},
                 .machine = boxed(row, settings)};
  const model::TrainingScenario& s = step.scenario;
  step.memory = (*step.evaluator)(s);
  const auto n = [](Size size) { return static_cast<double>(size); };
  const double sequences = n(s.batch) * n(s.accumulated) * n(s.parallel.replicas);
  const double tokens = sequences * n(s.sequence), cards = n(s.parallel.cards());
  step.measured = seconds_of(row, cards, tokens, sequences);
  const double back = s.adapter != nullptr ? 1 : 2;
  step.plain = 2 * n(s.model->profile.parameters_active) * tokens * (1 + back) /
               (cards * step.machine.devices.front().peak(Arithmetic::bf16).value());
  return step;
}

Score score_of(const TimedStep& step, double expected) {
  const model::Constant interval =
      model::training_pace(step.scenario.runtime->name, step.machine.devices.front()).interval;
  return {.row = step.row,
          .group = "training_time",
          .runtime = std::string(step.scenario.runtime->name),
          .measured = step.measured,
          .expected = expected,
          .low = expected * interval.low,
          .high = expected * interval.high,
          .plain = step.plain};
}

std::vector<Score> left_out_training(const std::vector<Measurement>& rows,
                                     const std::string& models_folder) {
  TrainingMeasurements measurements(models_folder);
  std::vector<Score> scores = left_out_times(rows, models_folder, whole_sources);
  for (const Measurement& row : rows) {
    if (!is_training(row) || is_training_time(row)) continue;
    try {
      scores.push_back(measurements.score(row, Overheads::unmeasured));
    } catch (const Skipped&) {
      // Scoring says why.
    } catch (const std::invalid_argument&) {
    }
  }
  return scores;
}

}  // namespace headroom::sweep
