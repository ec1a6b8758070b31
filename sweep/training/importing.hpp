// Settings of a file on their way to flags.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sweep/training/import.hpp"
#include "sweep/training/key_tables.hpp"
#include "sweep/training/settings_file.hpp"

namespace headroom::sweep {

/// The file with those that it names, and what it is.
struct Settings {
  const KeyTable* table;
  std::vector<Setting> all;
  bool trl = false;  ///< keys of TRL's SFTConfig: its defaults differ from the Trainer's

  /// Null: the key is absent.
  const Setting* find(std::string_view key) const;
  /// The first of `keys` that is there; null: none.
  const Setting* first_of(std::initializer_list<std::string_view> keys) const;
  /// True if the key is there and says yes, as accelerate's str_to_bool reads it.
  bool is_on(std::string_view key) const;
  bool is_from(const KeyTable& other) const { return table == &other; }
};
bool says_yes(std::string_view value);

class Importing {
 public:
  Importing(Options& options, Imported& imported) : options_(options), out_(imported) {}
  /// Gives the flag its value unless the command line has one; `why` names the key or the rule.
  /// "on" is the value of a switch.
  void supply(std::string_view flag, const std::string& value, std::string_view why);
  /// Supplies what a key says: errors about the flag then name the key.
  void supply_for(const Setting& setting, std::string_view flag, const std::string& value);
  void ignore(const std::string& key, std::string_view why, Ignored::Matters matters);
  const Options& options() const { return options_; }
  Imported& out() { return out_; }

 private:
  Options& options_;
  Imported& out_;
};

/// Throws UsageError for a value that is understood and not estimated. `expected`: what would be.
[[noreturn]] void refuse_setting(const Setting& setting, std::string_view why,
                                 std::string_view expected);

/// The type that the file computes in, and the one that weights are loaded in.
void import_types(const Settings& settings, Importing& to);
/// FSDP: its version, strategy, offload and recomputation.
void import_fsdp(const Settings& settings, Importing& to);
/// Megatron's divisions, data parallel cards, and the runtime.
void import_cards(const Settings& settings, Importing& to);

}  // namespace headroom::sweep
