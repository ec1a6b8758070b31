// Parts that the scripts of several engines share.
#pragma once

#include <string>
#include <string_view>

#include "model/infer/placement/placement.hpp"
#include "sweep/launch/launch.hpp"

namespace headroom::sweep {

/// `text` as a comment of one line, with its line end, in a shell, Python or YAML. Names in it may
/// be anything.
std::string comment(std::string_view text);

/// "#!/bin/sh" and what is expected, as comments.
std::string heading(const LaunchPoint& point);

/// The boxes that the cards of a point are in. Throws std::invalid_argument where the cards do not
/// divide evenly.
Boxes boxes_of(const LaunchPoint& point);

/// Lines of a script that is started once in each box: what it must be told by variables of the
/// environment. Empty for one box.
std::string boxes_note(const Boxes& boxes);

/// A command with one option a line, under the names that the engine's version has
/// (ServingPolicy::options).
class EngineCommand {
 public:
  EngineCommand(const model::Engine& engine, std::string start)
      : engine_(engine), text_(std::move(start)) {}
  /// `value`: a word of a shell; empty: the option has none. Throws std::invalid_argument where the
  /// engine has no such option.
  void flag(std::string_view name, std::string_view value = {});
  /// The engine's option for the tokens of a prefill pass, if the scenario states them. The option
  /// is of so many replicas together.
  void chunk(const model::Scenario& scenario, Size replicas = 1);
  std::string text() const { return text_ + '\n'; }

 private:
  const model::Engine& engine_;
  std::string text_;
};

/// The type as published files write it, which `--hf-repo` looks for: "Q4_K_M", "MXFP4", "F16".
/// Files of gpt-oss are called -mxfp4 or -MXFP4 (ggml-org, lmstudio-community), though llama.cpp
/// calls the type MXFP4_MOE.
std::string gguf_type(const model::Scheme& scheme);
/// The file name that a model in a scheme usually has: "Qwen3-32B-q4_K_M.gguf".
std::string gguf_name(const model::QuantisedModel& weights);
/// The file to load, as one word of a shell: the one that was given, else of the usual name.
std::string gguf_file(const model::QuantisedModel& weights);
/// Comment lines of a script: where that file comes from. Empty where it was given.
std::string gguf_note(const model::QuantisedModel& weights);
/// "org/name-GGUF:Q4_K_M" if the model was given as a repository of GGUF files; empty: it was not.
std::string gguf_repository(const model::QuantisedModel& weights);

/// Tokens of context to start an engine with: the prompt's where nothing is written. A decoder
/// behind an encoder has no more than its positions.
Size served_context(const model::Scenario& scenario);

/// Placeholder for the file of adapter `i`, from 0 on. The user puts the real path there.
std::string adapter_file(Size i);

/// Layers on cards as llama.cpp's -ngl counts them: the output is one more.
Size offloaded_layers(const model::Scenario& scenario, const model::Plan& plan);

/// True if the output is one of them. An option may keep it in host memory all the same.
bool counts_output(const model::Scenario& scenario, const model::Plan& plan);

/// How the engine splits the model over cards, as estimated.
model::Plan split_of(const LaunchPoint& point);

/// The type that a checkpoint computes in, and of caches in 16 bit: "bfloat16".
std::string_view torch_type(const model::Scheme& scheme);

/// Bytes that the engine may use on each card.
RealBytes budget_of_card(const model::Scenario& scenario);

}  // namespace headroom::sweep
