// Seconds of passes that were worked out before: scenarios that differ in sizes have many in
// common.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "model/infer/timeline/pass.hpp"

namespace headroom::model {

/// Sums of a pass's timeline.
struct PassSeconds {
  Seconds total, least;
};

/// Passes of scenarios that share all but sizes and budgets, under the last plan. A new pass
/// replaces one with the same place in the table.
class KnownPasses {
 public:
  /// All that a pass's time depends on besides the plan.
  struct Key {
    Size batch = 0;
    Size chunk = 0;  ///< prefill_chunk of the scenario
    Pass pass{};

    bool operator==(const Key&) const = default;
  };

  /// The seconds of `key`; `made()` works them out where they are not known.
  template <class F>
  PassSeconds of(const Key& key, const Plan& plan, Bytes gpu_budget, F&& made) {
    if (all_.empty() || gpu_budget != gpu_budget_ || !(plan == plan_)) {
      all_.assign(places, {});
      plan_ = plan;
      gpu_budget_ = gpu_budget;
    }
    Known& known = all_[place_of(key)];
    if (!(known.key == key)) known = {key, made()};
    return known.seconds;
  }
  /// The plan of these passes; without passes the default one.
  const Plan& plan() const { return plan_; }

 private:
  static constexpr std::size_t places = 256;
  struct Known {
    Key key{};  ///< batch 0: none yet
    PassSeconds seconds{};
  };

  static std::size_t place_of(const Key& key) {
    const auto of = [](Size n) { return static_cast<std::uint64_t>(n); };
    std::uint64_t mixed = std::bit_cast<std::uint64_t>(key.pass.tokens) >> 32;
    for (const Size n : {key.batch, key.pass.prompt, key.pass.cached.self})
      mixed = (mixed ^ of(n)) * 0x9e3779b97f4a7c15U;
    return static_cast<std::size_t>(mixed >> 56);
  }

  std::vector<Known> all_;
  Plan plan_;
  Bytes gpu_budget_;
};

}  // namespace headroom::model
