// The screen of a dry run: axes, points, expected time and room on the disk, in words.
#pragma once

#include <string>

#include "sweep/spec/job.hpp"

namespace headroom::sweep {

/// The screen of `sweep --dry-run`. It evaluates a sample of the points.
std::string dry_run_text(const Job& job, const Spec& spec);

/// "90.2 GB".
std::string disk_text(double bytes);

}  // namespace headroom::sweep
