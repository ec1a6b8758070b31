// Parsing of the command line: accepted flags, given values and error messages.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "hardware/units.hpp"

namespace headroom::sweep {

/// The command line cannot be understood, or says something that cannot be meant. Exit code 2.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Description of a command, printed by --help and --help-all.
struct CommandHelp {
  std::string_view name, summary;
  std::string_view operands;           ///< as the usage line shows them: "MODEL…"; empty: none
  std::string_view operand_help = {};  ///< their values, for the short help; empty: plain
  std::string_view flags;              ///< canonical names separated by spaces
  std::string_view examples;           ///< one a line
  std::string_view columns;            ///< columns of the output, by name
  std::string_view exit_codes;
};

/// The options and operands of one call.
class Options {
 public:
  bool given(std::string_view flag) const;
  /// The value; `fallback` where the flag was not given.
  std::string text(std::string_view flag, std::string_view fallback = {}) const;
  std::vector<std::string> texts(std::string_view flag) const;
  /// A whole number from 1 to 2^40. "32k" is 32 x 1,024, "1m" 1,024 x 1,024: contexts are sold so.
  /// Throws UsageError naming the flag.
  Size whole(std::string_view flag, Size fallback) const;
  /// Throws UsageError unless the value is one of `allowed`.
  std::string one_of(std::string_view flag, std::span<const std::string_view> allowed,
                     std::string_view fallback) const;
  /// A value read by `read`, a function that throws std::invalid_argument; the flag is named then.
  template <class Read>
  auto read(std::string_view flag, Read&& read) const -> std::optional<decltype(read(""))> {
    if (!given(flag)) return std::nullopt;
    try {
      return read(text(flag));
    } catch (const std::invalid_argument& e) {
      throw UsageError("--" + std::string(flag) + ": " + e.what());
    }
  }
  /// `message`, and before it the flag whose value it quotes. It stays as it is where it names that
  /// flag, and where several flags or an operand have that value.
  std::string naming_flag(const std::string& message) const;
  const std::vector<std::string>& operands() const { return operands_; }
  /// Values by flag, of those that were given.
  const std::map<std::string, std::vector<std::string>, std::less<>>& all() const {
    return values_;
  }
  /// Gives `flag` a value as if it had been on the command line; false where it has one.
  bool supply(std::string_view flag, const std::string& value);
  /// Throws UsageError when more than one of `flags` was given.
  void exclusive(std::initializer_list<std::string_view> flags) const;
  /// Throws UsageError when `flag` was given without `needed`: it would have no effect.
  void requires_flag(std::string_view flag, std::string_view needed) const;

 private:
  friend Options parse_options(const CommandHelp&, std::span<const std::string>);
  std::map<std::string, std::vector<std::string>, std::less<>> values_;
  std::vector<std::string> operands_;
};

/// Parses `arguments` (without the command's name). Throws UsageError for an unknown flag (naming
/// the nearest) or one that has no effect on this command.
Options parse_options(const CommandHelp& command, std::span<const std::string> arguments);

}  // namespace headroom::sweep
