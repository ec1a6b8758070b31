// The machine of a canonical row: the columns machine, card_gib, nodes, host and what is known of
// the host.
#pragma once

#include "hardware/machine.hpp"
#include "sweep/accuracy/measurement.hpp"

namespace headroom::sweep {

/// Throws Skipped: a card that the catalogue does not have, or no machine at all.
Machine machine_of(const Measurement& row);
/// Its host alone. A speed that the row does not say is 0: not known. Memory and disk that it does
/// not say are endless.
Host host_of(const Measurement& row);
/// Boxes as training uses them: the cards' usual box and its network, unless the row says more.
Machine boxed_machine_of(const Measurement& row);

/// `measured_on`, the user's machine, without its cards for a row of the CPU alone. Throws Skipped
/// for a row of other cards.
Machine machine_of(const Measurement& row, const Machine& measured_on);

}  // namespace headroom::sweep
