// The one table of flags: every spelling that is accepted, and the canonical flag it stands for.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headroom::sweep {

/// Values that follow a flag on the command line.
enum class Takes {
  nothing,  ///< a switch; `--flag true` and `--flag false` are understood too
  one,      ///< one value
  many,     ///< one or more values, up to the next flag
};

/// One canonical flag.
struct Flag {
  std::string_view name;     ///< without dashes: "batch"
  std::string_view aliases;  ///< separated by spaces, dashes included; "--json=json" is a switch
                             ///< that stands for the flag with that value,
                             ///< "--x=yes/no" one that stands for "no" where it is set to false
  Takes takes;
  std::string_view value;    ///< placeholder in the help: "N", "BYTES"
  std::string_view meaning;  ///< with its default
};

/// Every flag of every command, in the order in which a help lists them.
std::span<const Flag> flags();

/// True for the flags that every command has and that no command's list names.
constexpr bool of_every_command(std::string_view flag) {
  return flag == "help" || flag == "help-all";
}

/// The row called `name`, null where there is none.
const Flag* find_flag(std::string_view name);

/// A spelling resolved: the flag, and the value it fixes (empty: none).
struct Spelling {
  const Flag* flag = nullptr;
  std::string_view fixed;
};
/// The flag of `spelling` ("-b", "--batch-size", dashes included); null if unknown.
Spelling find_spelling(std::string_view spelling);

/// Every spelling in the table, dashes included, for suggestions.
std::vector<std::string> spellings();

}  // namespace headroom::sweep
