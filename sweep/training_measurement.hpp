// Published peaks of training runs as steps that can be estimated.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "model/training.hpp"
#include "sweep/accuracy.hpp"
#include "sweep/measurement_names.hpp"

namespace headroom::sweep {

/// Which figure of a training estimate a measurement is compared with.
enum class TrainingStatistic {
  allocated,  ///< most bytes of tensors at once, as torch counts them
  reserved,   ///< most bytes that torch's allocator holds
  used,       ///< as the driver shows it
  host,       ///< in host memory
};

/// Shares that an allocator holds and a driver's context, as measured or as where nothing is.
enum class Overheads { measured, unmeasured };

bool is_training(const Measurement& row);

/// Scores rows of the category "training_memory", and keeps what their steps point to.
class TrainingMeasurements {
 public:
  explicit TrainingMeasurements(const std::string& models_folder) : names_(models_folder) {}
  /// Group training_memory; `unmeasured` overheads have no row of any source in them. Throws
  /// Skipped; std::invalid_argument where the step cannot be.
  Score score(const Measurement& row, Overheads overheads = Overheads::measured);

 private:
  void read_adapters(const Measurement& row, model::TrainingScenario& s);
  const model::Weights& held(const model::Model& model, const model::Scheme& scheme);

  ModelNames names_;
  std::map<std::pair<const model::Model*, const model::Scheme*>, model::Weights> held_;
  std::map<const model::Model*, model::Weights> counted_;
  std::vector<std::unique_ptr<model::Adapter>> adapters_;
};

/// Every training score anew, by overheads that no source had a part in: each runtime's constants
/// come from one source. What policies a runtime has is not left out.
std::vector<Score> left_out_training(const std::vector<Measurement>& rows,
                                     const std::string& models_folder);

}  // namespace headroom::sweep
