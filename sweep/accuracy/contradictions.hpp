// Measurements that others of the same source contradict, or the hardware that they name.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "sweep/accuracy/scored_row.hpp"

namespace headroom::sweep {

struct Contradiction {
  Skip reason;
  std::string detail;  ///< the contradicting row or fact
};

/// Skip::contradiction: prompts with 16-bit weights that took more than twice as long as equal
/// prompts with packed weights. This applies if the engine dequantises packed weights into memory
/// and then uses the same products, because more work cannot take half the time.
///
/// Skip::memory_rate: steps of one sequence on at most one card, served or not, that took less than
/// 4/5 of one read of a token's weights. The read uses the data sheet's rate of each memory and
/// omits caches and all else. Host memory that the row does not state has the processor maker's
/// rate; some kits are a quarter faster. Likewise loads of files that the row does not call cached,
/// by the rates of the disk and the bus: the page cache held them.
///
/// Neither rule uses a fitted constant.
std::map<const Measurement*, Contradiction> contradicted(const std::vector<ScoredRow>& subjects);

}  // namespace headroom::sweep
