// Measurements whose constants are known.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sweep/accuracy/measured_file.hpp"
#include "sweep/accuracy/model_names.hpp"
#include "sweep/accuracy/prediction.hpp"

namespace headroom::sweep {

constexpr auto ada = static_cast<std::size_t>(model::CardClass::ada);
constexpr auto four = static_cast<std::size_t>(model::Width::four);

/// An engine whose four-bit kernels on GDDR cards are slower than any shipped row's.
inline void slower(model::Engine& r) {
  r.kernels.efficiency[ada][four].decode_bandwidth.value = 0.6;
  r.kernels.efficiency[ada][four].byte_compute.value = 0.3;
}

/// Rows of llama-bench on one card, with speeds under constants that are changed by `change`.
class Synthetic {
 public:
  Synthetic(const std::vector<std::string>& models, void (*change)(model::Engine&))
      : subjects_("") {
    for (const auto& model : models)
      for (const int tokens : {64, 128, 512}) {
        add(model, "step", tokens);
        add(model, "prefill", tokens);
      }
    for (auto& row : rows_) all_.push_back(subjects_.subject(*row));
    std::vector<model::Engine> changed;
    for (const ScoredRow& each : all_) changed.push_back(*each.scenario.runtime);
    for (std::size_t i = 0; i < all_.size(); ++i) {
      change(changed[i]);
      ScoredRow other = all_[i];
      other.scenario.runtime = &changed[i];
      std::string why;
      all_[i].measured = predict(other, why).value();
    }
  }
  std::vector<ScoredRow>& subjects() { return all_; }

 private:
  void add(const std::string& model, const std::string& figure, int tokens) {
    rows_.push_back(std::make_unique<Measurement>(
        measurement_of({{"id", std::to_string(rows_.size())},
                        {"model", model_reference(model)},
                        {"runtime", "llama.cpp"},
                        {"precision", "q4_0"},
                        {"machine", "1x rtx-4090"},
                        {"batch", "1"},
                        {"prompt_tokens", std::to_string(tokens)},
                        {"output_tokens", "64"},
                        {"gpu_layers", "99"},
                        {"flash_attn", "on"},
                        {"figure", figure},
                        {"form", figure == "step" ? "rate_of_output" : "rate_of_prompt"},
                        {"unit", "tokens/s"},
                        {"value", "12.34"}})));
  }
  Subjects subjects_;
  std::vector<std::unique_ptr<Measurement>> rows_;
  std::vector<ScoredRow> all_;
};

}  // namespace headroom::sweep
