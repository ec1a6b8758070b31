// Memory budgets as specs and flags write them. A budget is 20GiB, 50%, max or max-2GiB. A range
// runs from one budget to another in steps: 0-max+1GiB, 25%-100%+25%.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hardware/units.hpp"

namespace headroom::sweep {

/// The part of a memory that a process may use.
struct Budget {
  enum class Kind {
    size,   ///< so many bytes
    share,  ///< so many millionths of the memory
    rest,   ///< the memory without so many bytes; "max" is the memory without 0
  };
  Kind kind = Kind::size;
  Bytes bytes;          ///< size, rest
  Size millionths = 0;  ///< share: from 1 to 999,999

  /// Bytes of `memory`: at least 0, at most all of it. A share is rounded down.
  Bytes of(Bytes memory) const;
  /// "max", "max-2GiB", "50%"; empty for a size, which no memory changes.
  std::string relative() const;
  bool operator==(const Budget&) const = default;
};

/// Budgets from `first` on in steps. A range that ends at max or max-SIZE has its end too.
struct BudgetRange {
  Budget first, last;
  Budget step;  ///< a size or a share; 0: only `first`
  bool is_single() const { return step.bytes == Bytes(0) && step.millionths == 0; }
};

/// "20GiB", "50%", "max", "max-2GiB", "0". Throws std::invalid_argument that says what works.
Budget parse_budget(std::string_view text);
/// As above, or a range: "8GiB-40GiB+4GiB", "0-max-2GiB+4GiB", "25%-100%+25%". A `-` right after
/// `max` and before a number takes a size off; any other `-` separates the ends of a range.
BudgetRange parse_budgets(std::string_view text);

/// A budget on one memory.
struct CardBudget {
  Bytes bytes;
  Budget asked;
};
/// The budgets that `ranges` mean in `memory`, ascending. A relative one stands for equal ones.
/// Budgets of `memory` and more are all the same: the whole of it, once. Throws
/// std::invalid_argument for more than 10^5 of a range.
std::vector<CardBudget> budgets(const std::vector<BudgetRange>& ranges, Bytes memory);

}  // namespace headroom::sweep
