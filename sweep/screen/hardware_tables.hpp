// Tables of `headroom hardware`: the catalogue and this computer.
#pragma once

#include <string>
#include <vector>

#include "hardware/catalogue.hpp"
#include "hardware/detect.hpp"
#include "report/table.hpp"

namespace headroom::sweep {

/// One row a device, a processor and a host.
report::Table hardware_list(const Catalogue& catalogue);

/// name, property, value: of devices, of processors, of hosts, and of machines the distinct devices
/// and the host.
/// Throws UnknownName.
report::Table hardware_properties(const std::vector<std::string>& names,
                                  const Catalogue& catalogue);

/// name, property, value: what was found, what was assumed for the rest, and what went wrong.
report::Table detected_hardware(const Detection& found, const Catalogue& catalogue);

}  // namespace headroom::sweep
