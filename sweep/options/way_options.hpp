// The engine and the precision of a point: those that were given, else the best of the usual ones.
#pragma once

#include "sweep/options/scenario_options.hpp"

namespace headroom::sweep {

/// Compares ways where engine or precision were left out, and keeps them in `given` with the best
/// one's engine. True: the point is complete, because options change the figures of every way, and
/// each was worked out with them. A card by its figures alone has no maker: no engine is known to
/// have kernels for it, and nothing is compared. Throws UsageError.
bool best_way(const Options& options, GivenScenario& given);

/// True if the best way is the CPU alone although the machine has cards, and no budget said so.
bool is_on_cpu_by_choice(const Options& options, const model::Scenario& scenario);

/// Weights, and everything else that options say about a point whose engine is known. `asked`: the
/// precision where no ways were compared; null: the checkpoint's own. Throws UsageError.
void complete_point(const Options& options, const model::Scheme* asked, GivenScenario& given);

}  // namespace headroom::sweep
