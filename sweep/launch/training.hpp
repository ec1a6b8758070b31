// Ready configurations for a training step: programs and their files, with the figures filled in.
#pragma once

#include <boost/json/fwd.hpp>
#include <span>
#include <string>
#include <string_view>

#include "sweep/training/answer.hpp"

namespace headroom::sweep {

/// A step with its estimate, as the writers of files need it.
struct TrainingPoint {
  const GivenTraining& given;
  const TrainingAnswer& answer;
  const model::TrainingScenario& step() const { return given.scenario; }
  const model::Model& model() const { return *given.model; }
};

/// One kind of configuration.
struct TrainingKind {
  std::string_view name;      ///< "trainer", as --kind
  std::string_view file;      ///< file name in a folder of all: "train.py"
  std::string_view runtimes;  ///< training runtimes that it starts, apart by spaces
  std::string_view meaning;
  /// The file's text. Throws std::invalid_argument with the reason where the step cannot be started
  /// so.
  std::string (*write)(const TrainingPoint& point);
};

std::string trainer_script(const TrainingPoint& point);
std::string deepspeed_training(const TrainingPoint& point);
std::string llama_factory_file(const TrainingPoint& point);
std::string axolotl_file(const TrainingPoint& point);
std::string accelerate_file(const TrainingPoint& point);

/// headroom launch --task training.
int launch_training(const Options& options);

}  // namespace headroom::sweep
