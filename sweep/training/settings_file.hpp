// A file of settings, YAML or JSON, as its scalars.
#pragma once

#include <string>
#include <vector>

namespace headroom::sweep {

struct Setting {
  std::string key, value;  ///< the key with dots: "zero_optimization.stage"; lists with commas
  std::string file;
};

/// Throws UsageError naming the file: it cannot be read, or it has no keys and values.
std::vector<Setting> read_settings(const std::string& file);

/// A file that a setting names, from the working directory as tools read it, else beside the file.
/// Throws UsageError with both places where there is none.
std::string file_named_by(const Setting& setting);

}  // namespace headroom::sweep
