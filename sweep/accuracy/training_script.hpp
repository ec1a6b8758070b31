// The scripts behind published peaks of training: what each runs, and what its figures mean.
#pragma once

#include <optional>
#include <string_view>

#include "model/train/runtime.hpp"
#include "sweep/accuracy/training_measurement.hpp"

namespace headroom::sweep {

/// What a source's script runs, and what its figures mean.
struct Script {
  std::string_view starts;   ///< of the setting "framework", in lower case
  std::string_view runtime;  ///< of one card, of several
  std::string_view shared;
  std::string_view recipe;  ///< of full training; empty: the runtime's
  double gigabyte;
  TrainingStatistic statistic;      ///< of a quantity that does not say it
  std::string_view targets;         ///< of adapters where the row does not say; apart by spaces
  bool shared_checkpoints = false;  ///< it checkpoints where weights are shared out
  std::string_view source{};        ///< part of the source, where its version decides
  std::optional<model::LossKind> loss{};
};

/// Throws Skipped: the framework is not stated, or not one of these.
const Script& script_of(const Measurement& row);
/// Throws Skipped for a figure that no estimate gives.
TrainingStatistic statistic_of(const Measurement& row, const Script& script);
/// In bytes. Throws Skipped for a unit that is none.
double measured_of(const Measurement& row, const Script& script);

}  // namespace headroom::sweep
