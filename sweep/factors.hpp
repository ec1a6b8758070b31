// Factor profiles: constants of engines, and figures of a host, as they were measured on a user's
// own machine. `calibrate` writes them, --factors lays them over the shipped ones.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hardware/machine.hpp"
#include "model/engine/engine.hpp"
#include "sweep/options/options.hpp"

namespace headroom::sweep {

/// One constant of a profile, named as `headroom runtimes` names it.
struct Factor {
  std::string runtime, name;
  std::string cards = "any", width = "any";  ///< for rates: "gddr", "4-bit"
  double value = 0, low = 0, high = 0;
  int measurements = 0;
  std::string source;
};

/// Rates of a host that were measured.
struct MeasuredHost {
  std::optional<BytesPerSecond> ram_bandwidth, host_bus, disk_read;
  bool any() const { return ram_bandwidth || host_bus || disk_read; }
};

struct FactorProfile {
  std::string machine;             ///< machine of the measurements
  std::vector<std::string> files;  ///< files of the measurements
  std::string date;                ///< ISO
  std::string errors;              ///< before, after and left out, in words
  MeasuredHost host;
  std::vector<Factor> factors;
};

/// As TOML.
std::string profile_text(const FactorProfile& profile);
/// Throws std::runtime_error with file, line, key, what was found and what is allowed.
FactorProfile read_profile(std::string_view text, std::string_view file);

/// The engines with the user's constants over the shipped ones.
class Engines {
 public:
  /// The shipped ones.
  Engines() = default;
  /// By --factors and --set. Throws UsageError, UnknownName and what reading a file throws.
  explicit Engines(const Options& options);
  Engines(const Engines&) = delete;  // scenarios point into it
  Engines& operator=(const Engines&) = delete;

  /// Throws UnknownName with the nearest names.
  const model::Engine& named(std::string_view name) const;
  std::span<const model::Engine> all() const;

  /// Puts the profile's figures of a host in place of the machine's, where it is of this host.
  void measured(Machine& machine) const;
  /// The overridden values, for the lists of assumptions; `machine` is null if none is given.
  std::vector<std::string> assumed(const Machine* machine) const;

 private:
  std::vector<model::Engine> rows_;  ///< empty where nothing is laid over the shipped ones
  FactorProfile profile_;
  std::string file_;
  std::vector<std::string> set_;      ///< "decode_bandwidth = 0.8"
  std::vector<std::string> sources_;  ///< texts that constants point to
};

/// The flags that Engines reads.
#define HEADROOM_FACTOR_FLAGS "factors set"

}  // namespace headroom::sweep
