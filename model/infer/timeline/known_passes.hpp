// Seconds of passes that were worked out before: scenarios that differ in sizes have many in
// common.
#pragma once

#include <cstdint>
#include <vector>

#include "model/infer/timeline/pass.hpp"

namespace headroom::model {

/// Sums of a pass's timeline.
struct PassSeconds {
  Seconds total, least;
};

/// Passes of scenarios that share all but sizes and budgets, under one plan. A new pass replaces
/// one with the same place in the table.
class KnownPasses {
 public:
  enum class Kind : std::uint8_t { decode, prompt, tower };
  /// All that a pass and its time depend on besides the plan.
  struct Key {
    Kind kind = Kind::decode;
    Size batch = 0;
    CachedTokens cached{};  ///< decode
    Size prompt = 0;        ///< tokens of each sequence
    Size chunk = 0;         ///< prefill_chunk()
    Size decoding = 0;      ///< sequences that decode in each part of a prefill

    bool operator==(const Key&) const = default;
  };

  /// From now on passes are under this plan, and others are forgotten.
  void under(const Plan& plan, Bytes gpu_budget) {
    if (gpu_budget == gpu_budget_ && plan == plan_) return;
    ++plans_;
    plan_ = plan;
    gpu_budget_ = gpu_budget;
  }
  /// The seconds of `key`; `made()` works them out where they are not known.
  template <class F>
  PassSeconds of(const Key& key, F&& made) {
    if (all_.empty()) all_.resize(places);
    Known& known = all_[place_of(key)];
    if (known.plan != plans_ || !(known.key == key)) known = {plans_, key, made()};
    return known.seconds;
  }

 private:
  static constexpr std::size_t places = 256;
  struct Known {
    std::uint64_t plan = 0;  ///< 0: none yet
    Key key{};
    PassSeconds seconds{};
  };

  static std::size_t place_of(const Key& key) {
    std::uint64_t mixed = static_cast<std::uint64_t>(key.decoding);
    for (const Size n : {key.batch, key.prompt, key.cached.self})
      mixed = (mixed ^ static_cast<std::uint64_t>(n)) * 0x9e3779b97f4a7c15U;
    return static_cast<std::size_t>(mixed >> 56);
  }

  std::vector<Known> all_;
  std::uint64_t plans_ = 1;  ///< number of plans so far
  Plan plan_;
  Bytes gpu_budget_;
};

}  // namespace headroom::model
