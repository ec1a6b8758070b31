// Files of measurements.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>

#include "hardware/units.hpp"
#include "sweep/accuracy/calibration.hpp"
#include "sweep/accuracy/measured_file.hpp"
#include "sweep/accuracy/prediction.hpp"
#include "tests/support/folder.hpp"
#include "tests/support/paths.hpp"
#include "tests/sweep/accuracy/synthetic.hpp"

namespace headroom::sweep {

namespace fs = std::filesystem;

inline std::string bench(const std::string& name) {
  return headroom::test::source_path("tests/cli/data/bench/" + name);
}

/// A file of this name, in a folder of this process, that goes away with it.
inline fs::path path_of(const std::string& name) {
  static const headroom::test::Folder folder;
  return folder / name;
}

inline std::string written(const std::string& name, const std::string& text) {
  const fs::path file = path_of(name);
  std::ofstream(file, std::ios::binary) << text;
  return file.string();
}

inline std::string message(const std::string& text) {
  const std::string file = written("bad", text);
  try {
    read_measured(file, {});
  } catch (const std::runtime_error& e) {
    return e.what();
  }
  return "accepted";
}

}  // namespace headroom::sweep
