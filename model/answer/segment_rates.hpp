// The rates that a segment is held against, in words.
#pragma once

#include <string>

#include "model/infer/timeline/timeline.hpp"

namespace headroom::model {

/// "0.79 of 1008 GB/s; 0.55 of 165.2 TFLOPS (rtx-4090)". `work`: of all layers of the segment.
std::string rates_of(const Scenario& scenario, const Segment& segment, const Work& work);

}  // namespace headroom::model
