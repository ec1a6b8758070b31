// Training points in reports: the most informative point for each training method of a model on a
// machine, with the parts of its peak.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/infer/estimate.hpp"
#include "report/read.hpp"
#include "report/reports.hpp"

namespace headroom::report {

/// The point of a machine, runtime, model and method that fits with most tokens a second. Without
/// times it is the point with most tokens a step. If none fits, it is the one nearest to fitting.
struct TrainingLine {
  Size point = 0;
  std::string machine, runtime, model, method;  ///< method: "qlora 64, all-linear"
  Size gpu_memory = 0;                          ///< bytes of the smallest card; 0: unknown
  model::Estimate estimate;
  Size points = 0, fitting = 0;  ///< points of the run with these four names
};
/// In the order of the spec; empty where nothing is trained.
std::vector<TrainingLine> training_lines(const Source& source);

/// Parts of a peak, in the order in which bars stack them.
inline constexpr std::array<std::string_view, 10> peak_parts = {
    "weights",         "master weights", "gradients", "optimizer", "activations",
    "logits and loss", "working",        "exchanged", "stepping",  "overhead"};
/// Bytes of each at the moment of the peak: they add up to it.
std::array<Bytes, peak_parts.size()> parts_of(const model::Estimate& estimate);

/// "sequence 4096, batch 4, ZeRO 3, 8 GPUs": axes that vary over the run, but for names.
std::string varied_words(const Source& source, const TrainingLine& line);
std::string training_verdict(const TrainingLine& line);

/// The content of training.md below its heading, which is also a part of the page.
Document training_document(const Source& source, const std::vector<TrainingLine>& lines);

}  // namespace headroom::report
