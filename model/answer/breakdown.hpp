// Parts of the times of an estimate: bytes read, FLOPs and bytes moved by each kind of layer on
// each device, with rates and bound.
#pragma once

#include <string>
#include <vector>

#include "model/answer/time_spans.hpp"
#include "model/infer/estimate.hpp"

namespace headroom::model {

enum class Bound : std::uint8_t { memory, compute, link, overhead };
std::string_view name_of(Bound bound);

/// Layers that are alike on one device, an end of the model there, or a wait.
struct PassPart {
  std::string what;   ///< "32 layers: 0-31", "58 layers' experts: 3-60", "output", "all-reduces"
  std::string where;  ///< "gpu 0", "gpu 0-7", "cpu", "host bus", "disk", "link"
  // Bytes and FLOPs of one pass, of each of the cards where they share matrices.
  double weight_bytes = 0;     ///< read, those of experts that are touched included
  double expert_bytes = 0;     ///< part of weight_bytes
  double cache_bytes = 0;      ///< keys and values read
  double state_bytes = 0;      ///< recurrent state read and written
  double kv_repeat_bytes = 0;  ///< keys and values copied before attention
  double moved_bytes = 0;      ///< over bus, disk or link: weights, caches, activations
  double flops = 0;
  // Time by each resource alone at its rate.
  double memory_s = 0, compute_s = 0, link_s = 0, overhead_s = 0;
  double seconds = 0;           ///< time of the pass: parts add up to it
  Bound bound = Bound::memory;  ///< the limit of the device's part
  std::string rates;            ///< "0.79 of 1008 GB/s; 0.55 of 165.2 TFLOPS (rtx-4090)"
};

/// One of the two times that a user sees.
struct PassBreakdown {
  std::string name;               ///< "ttft", "tpot"
  double seconds = 0;             ///< as evaluate has it
  std::vector<PassPart> parts{};  ///< by layer and device; they add up to `seconds`
  std::vector<Span> spans{};      ///< by operation; they add up to `seconds` too
  double of(Bound bound) const;   ///< seconds of the parts that it bounds
};

/// For a scenario that fits: the first token, and the time per output token if it generates tokens.
/// With a draft model, a step's parts are divided by the tokens it gives. Weights are read once for
/// each chunk of a prompt. Activations that stay on a device are not counted. On-chip caches hold
/// most of them, and the fitted shares of bandwidth include the rest. Empty for a scenario that
/// does not fit or is refused.
std::vector<PassBreakdown> breakdown(const Scenario& scenario);

}  // namespace headroom::model
