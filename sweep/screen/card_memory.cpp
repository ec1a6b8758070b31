#include "sweep/screen/card_memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <vector>

#include "model/infer/placement/active_sequences.hpp"
#include "model/infer/placement/placement.hpp"
#include "sweep/screen/answer_lines.hpp"

namespace headroom::sweep {
namespace {

using model::Estimate;
using model::Scenario;

/// Cards of one kind that a plan uses.
struct KindUse {
  const Device* card = nullptr;
  Size count = 0;
  Bytes used, budget;
};

std::vector<KindUse> kinds_of(const Scenario& asked) {
  const Scenario s = model::admitted_scenario(asked);
  const model::Uses uses(s);
  const model::Plan plan = model::place(uses, 1.0);
  std::vector<KindUse> kinds;
  for (Size card = plan.first_used_card; card < plan.cards; ++card) {
    if (!model::is_used(plan, card)) continue;
    const auto at = static_cast<std::size_t>(card);
    const Device& device = s.machine->devices[at];
    const auto same = [&](const KindUse& kind) { return kind.card->name == device.name; };
    auto kind = std::ranges::find_if(kinds, same);
    if (kind == kinds.end())
      kind = kinds.insert(kinds.end(), {.card = &device, .used = {}, .budget = {}});
    ++kind->count;
    kind->used = std::max(kind->used, uses.card(plan, card).total());
    kind->budget = std::max(kind->budget, model::card_budget(s, at));
  }
  return kinds;
}

/// `words` has the memory in use and the budget.
std::string memory_in(const Scenario& s, const Estimate& e,
                      const std::function<std::string(Bytes, Bytes)>& words) {
  const auto kinds = kinds_of(s);
  if (kinds.size() < 2)
    return words(e.gpu_bytes, kinds.empty() ? model::card_budget(s, 0) : kinds.front().budget) +
           on_each_gpu(e.gpus_used);
  std::string text;
  for (const KindUse& kind : kinds)
    text += fmt::format("{}{} on {}{}", text.empty() ? "" : ", ", words(kind.used, kind.budget),
                        kind.count > 1 ? fmt::format("{}x ", kind.count) : std::string(),
                        kind.card->name);
  return text;
}

}  // namespace

std::string card_memory(const Scenario& s, const Estimate& e) {
  return memory_in(s, e, [](Bytes used, Bytes) { return in_gib(used) + " GiB"; });
}

std::string card_memory_of_budget(const Scenario& s, const Estimate& e) {
  return memory_in(s, e, [](Bytes used, Bytes budget) {
    return fmt::format("{} of {} GiB", in_gib(used), in_gib(budget));
  });
}

}  // namespace headroom::sweep
