// An estimate in words: every term with its formula, its numbers and its source.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/answer/advice.hpp"
#include "model/answer/term.hpp"
#include "model/infer/estimate.hpp"
#include "model/infer/placement/placement.hpp"

namespace headroom::model {

/// "gpu", "cpu" or "disk".
std::string_view device_kind(Where where);

/// Memory of one device.
struct DeviceUse {
  std::string name;  ///< "gpu 0: a100-sxm-40gb", "cpu", "disk"
  Where where = Where::card;
  Bytes capacity, budget;  ///< cards that share host memory leave the rest
  Bytes reserved{};        ///< memory that the engine takes at start
  Bytes weights, kv_cache, activations, overhead, total;
  Size first_layer = -1, last_layer = -1;  ///< numbers of decoder layers; -1: none
  Size card = -1;                          ///< its number; -1: no card
  std::string layers{};  ///< "0-12, 14"; "3-60 (experts)"; "vision 0-31"; empty: none
};
struct Explanation {
  Estimate estimate;
  std::vector<std::string> assumptions, warnings;
  std::vector<std::string> notes;  ///< the engine's own log line, for example
  std::vector<DeviceUse> devices;
  std::vector<Term> terms;
  std::vector<Advice> advice;  ///< changes that help; empty when none is needed
};
/// Advice works out the model in other precisions: it takes far longer than all else.
enum class WithAdvice { yes, no };
/// Uses the arithmetic of `evaluate` and keeps every term.
Explanation explain(const Scenario& scenario, WithAdvice with_advice = WithAdvice::yes);

}  // namespace headroom::model
