#include "sweep/screen/free_memory.hpp"

#include <fmt/format.h>

#include <cmath>

#include "hardware/quantity_text.hpp"
#include "model/infer/intervals.hpp"
#include "model/infer/placement/placement.hpp"
#include "model/infer/scenario/verdict.hpp"

namespace headroom::sweep {

void compare_with_free_memory(const FreeMemory& free, const model::Scenario& s,
                              model::Explanation& explained) {
  model::Estimate& e = explained.estimate;
  if (e.verdict >= model::Verdict::does_not_fit) return;
  const auto limit = [&](const model::DeviceUse& use, Bytes there, Bytes needed, Bytes most,
                         std::string_view flag) {
    const double bytes = there.real().value();
    if (most <= there) return;
    if (e.sure == model::Confidence::yes) e.sure = model::Confidence::marginal;
    if (needed <= there) return;
    explained.warnings.push_back(fmt::format(
        "{}: {} of {} is free now and {} is needed: free it, or see what --{} {:.0f}MiB allows",
        use.name, to_text(there), to_text(use.capacity), to_text(needed), flag,
        std::floor(bytes / (1 << 20))));
  };
  for (const model::DeviceUse& use : explained.devices) {
    const auto card = static_cast<std::size_t>(use.card);
    if (use.card >= 0 && card < free.cards.size() && free.cards[card]) {
      const bool aside = s.runtime->memory.sets_aside();
      const Bytes needed = aside ? use.reserved : use.total;
      const Bytes uncertain = model::uncertain_part(use.total, use.activations + use.overhead);
      const double high = model::interval_factors(*s.runtime).memory.high;
      limit(use, *free.cards[card], needed,
            aside ? needed : model::bytes_at(needed, uncertain, high), "gpu-budget");
    }
    if (use.where == model::Where::cpu) limit(use, free.ram, use.total, use.total, "ram-budget");
  }
}

}  // namespace headroom::sweep
