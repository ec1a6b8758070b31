// The texts of --help and --help-all.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sweep/options/flags.hpp"
#include "sweep/options/options.hpp"

namespace headroom::sweep {

/// Flags of one kind, as --help-all and the manual list them.
struct FlagGroup {
  std::string_view title, flags;  ///< canonical names separated by spaces
};
/// Every flag of the table belongs to exactly one group.
std::span<const FlagGroup> flag_groups();

/// A common option with an example of its use.
struct CommonOption {
  std::string_view flag, example, meaning;
};
/// The common options of all commands, in the order in which a help lists them.
std::span<const CommonOption> common_options();

/// The flags of `command` in the group, in the group's order.
std::vector<const Flag*> flags_of(const CommandHelp& command, const FlagGroup& group);
/// "--override-tensor REGEX=CPU…".
std::string usage_of(const Flag& flag);
/// The other spellings of a flag: "--batch-size", "-b".
std::vector<std::string> other_spellings(const Flag& flag);

/// The text of `command --help`, at most 30 lines of 100 columns: full_help_text() if it is as
/// short as that, else the common options and three examples.
std::string help_text(const CommandHelp& command);
/// The text of `command --help-all`: every option by group, examples, columns and exit codes.
std::string full_help_text(const CommandHelp& command);

}  // namespace headroom::sweep
