// The engine and precision of each model and machine, for questions that are about several of them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sweep/options/options.hpp"
#include "sweep/ways.hpp"

namespace headroom::sweep {

/// Engine and precisions that flags ask for.
struct AskedWay {
  const model::Engine* engine = nullptr;  ///< null: those that suit model and machine
  std::vector<std::string> precisions;    ///< empty: those that each engine is usually run with
  bool has_usual_context = false;         ///< ways are compared at usual_context()
};
/// By --runtime, --precision and --precisions; points into `engines`. Throws UsageError and
/// UnknownName.
AskedWay asked_way(const Options& options, const Engines& engines);

enum class OffloadedWays { refused, accepted };
/// Weights narrower than a plain checkpoint's: they never come first where its own have room.
enum class Narrower { if_needed, always };

/// True if the makers of all cards are known. No engine is known to have kernels for a card that is
/// given by figures alone, and nothing is chosen for it.
bool has_makers(const Machine& machine);

/// Ways in the order of `estimate`: the best first. Behind it stand others that keep everything on
/// cards, and with `offload` whatever fits: one of them may meet a target that the best misses. One
/// list for each precision that was asked for, else one. With engine and precision given nothing is
/// compared. A machine without makers takes transformers and the checkpoint's own precision.
/// `scenario`: its machine counts, its engine and weights are set here.
std::vector<std::vector<Way>> best_ways(const AskedWay& asked, const Engines& engines,
                                        const model::Model& model, model::Scenario scenario,
                                        OffloadedWays offload,
                                        Narrower narrower = Narrower::if_needed);

}  // namespace headroom::sweep
