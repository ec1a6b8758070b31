// Nights on which nothing has changed: found before models are described, and stored without
// evaluating or reading a point.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "hardware/catalogue.hpp"
#include "report/read.hpp"
#include "sweep/hub/hub.hpp"
#include "sweep/options/options.hpp"
#include "sweep/spec/spec.hpp"

namespace headroom::sweep {

/// Digest of what a run is made from: options, the spec, files that they name, machines, and models
/// that the program does not contain. Empty where one of them cannot be had.
std::string inputs_of(const Options& options, const Spec& spec, const Catalogue& catalogue,
                      const Hub& hub);

/// Adds a run that has the points of the latest one in the same rows. Nothing where the latest run
/// does not have this fingerprint.
std::optional<report::RunSummary> repeat_latest_run(const std::filesystem::path& database,
                                                    std::string_view fingerprint);

}  // namespace headroom::sweep
