// Small numbers of an Estimate that share one integer column: each column costs the writer time.
// This table alone says which bits a field has. Packing, unpacking and SQL follow from it.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "model/infer/estimate.hpp"
#include "model/infer/intervals.hpp"
#include "model/infer/scenario/verdict.hpp"
#include "model/train/training.hpp"

namespace headroom::report {

/// `bits` bits of an integer column, from bit `first` on.
struct PackedField {
  std::string_view column, name;
  int first, bits;

  constexpr std::int64_t most() const { return (std::int64_t{1} << bits) - 1; }
  constexpr std::int64_t read(std::int64_t packed) const { return packed >> first & most(); }
  /// Throws std::out_of_range naming the field where the value is negative or too large.
  std::int64_t packed(std::int64_t value) const;
  std::string sql() const;
};

namespace packed {
inline constexpr PackedField verdict{"status", "verdict", 0, 3}, sure{"status", "sure", 3, 2},
    reason{"status", "reason", 5, 5}, gpus_used{"status", "gpus_used", 10, 16},
    training{"status", "task", 26, 1}, first_unmeasured{"status", "first_unmeasured", 27, 1},
    step_unmeasured{"status", "step_unmeasured", 28, 1},
    first_least{"status", "first_least", 29, 7}, step_least{"status", "step_least", 36, 7};
inline constexpr PackedField layers_gpu{"layers", "layers_gpu", 0, 20},
    layers_cpu{"layers", "layers_cpu", 20, 20}, layers_disk{"layers", "layers_disk", 40, 20};
inline constexpr PackedField moment{"moment", "moment", 0, 3},
    gradients_alive{"moment", "gradients_alive", 3, 1};

inline constexpr std::array all{
    verdict,         sure,           reason,     gpus_used,  training,   first_unmeasured,
    step_unmeasured, first_least,    step_least, layers_gpu, layers_cpu, layers_disk,
    moment,          gradients_alive};

/// True if no field reaches into the sign bit and no two of one column share a bit.
constexpr bool are_apart(std::span<const PackedField> fields) {
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (fields[i].first < 0 || fields[i].bits < 1 || fields[i].first + fields[i].bits > 63)
      return false;
    for (std::size_t j = 0; j < i; ++j)
      if (fields[i].column == fields[j].column &&
          fields[i].first < fields[j].first + fields[j].bits &&
          fields[j].first < fields[i].first + fields[i].bits)
        return false;
  }
  return true;
}
template <class Value>
constexpr bool holds(const PackedField& field, Value most) {
  return static_cast<std::int64_t>(most) <= field.most();
}

static_assert(are_apart(all));
static_assert(holds(verdict, model::Verdict::refused));
static_assert(holds(sure, model::Confidence::no));
static_assert(holds(reason, model::Reason::attention_unsupported));
static_assert(holds(gpus_used, UINT16_MAX));
static_assert(holds(training, model::Task::training));
static_assert(holds(first_least, model::max_low_share) && holds(step_least, model::max_low_share));
static_assert(holds(moment, model::Peak::sum));
}  // namespace packed

}  // namespace headroom::report
