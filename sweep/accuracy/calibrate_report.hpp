// Results of `headroom calibrate` as text and JSON.
#pragma once

#include <boost/json/fwd.hpp>
#include <string>
#include <vector>

#include "sweep/accuracy/calibration.hpp"
#include "sweep/accuracy/measured_file.hpp"

namespace headroom::sweep {

/// A measurement that has no part in the fit.
struct Unused {
  std::string id, kind, why;  ///< kind: what rows are counted by where many are left out
};

struct CalibrationReport {
  std::vector<MeasuredFile> files;
  std::vector<Unused> unused;
  std::vector<Calibration> calibrations;
  FactorProfile profile;
  std::size_t used = 0;  ///< measurements
};

/// "median 1.2 %, 90th percentile 3.4 %".
std::string words_of(const ErrorFigures& errors);
std::string calibration_text(const CalibrationReport& found);
boost::json::object calibration_object(const CalibrationReport& found);

}  // namespace headroom::sweep
