// Ready configurations for a point: what to start, with the figures of the estimate filled in.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/answer/explain.hpp"
#include "model/infer/estimate.hpp"
#include "model/infer/memory/served_adapters.hpp"
#include "sweep/options/scenario_options.hpp"

namespace headroom::sweep {

/// A point with its estimate, as the writers of files need it.
struct LaunchPoint {
  const model::Scenario& scenario;
  const model::Explanation& explained;
  /// Options of the split as they were given, under the engine's own names: {"split-mode", "row"}.
  std::vector<std::pair<std::string, std::string>> split;
  const model::ServedAdapters* adapters = nullptr;  ///< among the scenario's weights; null: none
  const model::Model& model() const { return *scenario.weights->model; }
  const model::Scheme& scheme() const { return *scenario.weights->scheme; }
  const model::Estimate& estimate() const { return explained.estimate; }
  /// "38.9 tokens/s", or "450 output tokens/s for 64 at once": the figure of `estimate`. A model
  /// that writes nothing has "5.76 ms for 1 prompt of 512 tokens".
  std::string rate_words() const;
};

/// One kind of configuration.
struct LaunchKind {
  std::string_view name;     ///< "transformers", as --kind
  std::string_view file;     ///< file name in a folder of all: "load.py"
  std::string_view runtime;  ///< series or family of engines that it starts; empty: any
  std::string_view meaning;
  /// True if it supports adapters, a draft model and images.
  bool extras;
  /// The file's text. Throws std::invalid_argument with the reason where the point cannot be
  /// started so.
  std::string (*write)(const LaunchPoint& point);
  std::string_view precision{};  ///< the weights load in it; empty: in the point's
};
std::span<const LaunchKind> launch_kinds();
/// The kind made for an engine: for its series, else for its family; null: none.
const LaunchKind* kind_of(const model::Engine& runtime);
/// Throws UnknownName with the nearest.
const LaunchKind& launch_kind(std::string_view name);

std::string transformers_script(const LaunchPoint& point);
std::string transformers_8bit_script(const LaunchPoint& point);
std::string llama_cpp_script(const LaunchPoint& point);
std::string ollama_script(const LaunchPoint& point);
std::string lm_studio_script(const LaunchPoint& point);
std::string mlx_script(const LaunchPoint& point);
std::string vllm_script(const LaunchPoint& point);
std::string sglang_script(const LaunchPoint& point);
std::string tensorrt_llm_script(const LaunchPoint& point);
std::string tabby_api_script(const LaunchPoint& point);
std::string ktransformers_script(const LaunchPoint& point);
std::string kt_kernel_script(const LaunchPoint& point);
std::string deepspeed_inference(const LaunchPoint& point);
std::string deepspeed_zero3(const LaunchPoint& point);
std::string slurm_script(const LaunchPoint& point);
std::string measure_script(const LaunchPoint& point);

/// A step of a test plan, and the command that writes its file.
struct PlannedTest {
  LaunchPoint point;
  std::string command;  ///< "headroom launch …"
};
/// Models from small to large on one machine, in Markdown: what to start, and what each card is to
/// show.
std::string test_plan(std::span<const PlannedTest> tests);

/// `text` as a string of Python.
std::string python_quoted(std::string_view text);

/// Command that starts the point with its engine's own file: "sh vllm.sh"; empty: the engine has no
/// kind. Throws std::invalid_argument with the reason where the file cannot be written.
std::string start_command(const LaunchPoint& point);

}  // namespace headroom::sweep
