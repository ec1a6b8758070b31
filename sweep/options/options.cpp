// Boost.Program_options parses the command line. Before that, the table in flags.cpp replaces every
// spelling by the canonical flag, so that no command knows an alias.
#include "sweep/options/options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/program_options.hpp>
#include <charconv>

#include "hardware/names.hpp"
#include "hardware/text.hpp"
#include "sweep/commands/commands.hpp"
#include "sweep/options/engine_words.hpp"
#include "sweep/options/flags.hpp"
#include "sweep/options/server_words.hpp"

namespace headroom::sweep {
namespace {

namespace po = boost::program_options;

bool is_number(std::string_view text) {
  return text.size() > 1 && text[0] == '-' &&
         (text[1] == '.' || (text[1] >= '0' && text[1] <= '9'));
}
bool looks_like_flag(std::string_view text) {
  return text.size() > 1 && text[0] == '-' && !is_number(text);
}

/// ", also as --gpu": another spelling of a flag among the arguments; empty: there is none.
std::string other_spelling(std::string_view flag, std::span<const std::string> arguments) {
  for (const std::string& each : arguments) {
    const std::string spelling = each.substr(0, each.find('='));
    const Flag* found = looks_like_flag(spelling) ? find_spelling(spelling).flag : nullptr;
    if (found != nullptr && found->name == flag && spelling != fmt::format("--{}", flag))
      return fmt::format(", also as {}", spelling);
  }
  return {};
}

[[noreturn]] void unknown_flag(const CommandHelp& command, std::string_view spelling) {
  if (changes_no_estimate(spelling))
    throw UsageError(fmt::format("{} changes neither memory nor speed: leave it out", spelling));
  const auto mine = words(command.flags);
  auto known = spellings();  // options of other commands would be refused
  std::erase_if(known, [&](const std::string& each) {
    const Flag* flag = find_spelling(each).flag;
    return flag == nullptr ||
           (!of_every_command(flag->name) && std::ranges::find(mine, flag->name) == mine.end());
  });
  throw UsageError(fmt::format("unknown option {}; nearest: {} (headroom {} --help-all lists all)",
                               spelling, fmt::join(nearest(spelling, known), ", "), command.name));
}

/// "; plan and curve take it": at most three commands that have the flag.
std::string commands_with(std::string_view flag) {
  std::vector<std::string_view> names;
  for (const Command* command : commands()) {
    const auto flags = words(command->help.flags);
    if (std::ranges::find(flags, flag) != flags.end()) names.push_back(command->help.name);
  }
  if (names.empty() || names.size() > 3) return {};
  return fmt::format("; {} take{} it", fmt::join(names, " and "), names.size() == 1 ? "s" : "");
}

void check_takes_effect(const CommandHelp& command, const Flag& flag, std::string_view spelling) {
  const auto mine = words(command.flags);
  if (of_every_command(flag.name) || std::find(mine.begin(), mine.end(), flag.name) != mine.end())
    return;
  const std::string written =
      spelling.substr(std::min<std::size_t>(2, spelling.size())) == flag.name
          ? std::string(spelling)
          : fmt::format("{} (--{})", spelling, flag.name);
  // "--machines" for "--machine", and the reverse.
  std::string instead;
  const bool form = flag.name == "format";  // "launch --format flags"
  for (const auto each : mine)
    if (each.starts_with(flag.name) || flag.name.starts_with(each) || (form && each == "kind"))
      instead += fmt::format("{} --{}", instead.empty() ? "; it takes" : ",", each);
  if (instead.empty()) instead = commands_with(flag.name);
  throw UsageError(fmt::format("{} has no effect on '{}'{}", written, command.name, instead));
}

/// The canonical form of `arguments`: "--name=value", "--name", operands.
class Canonical {
 public:
  Canonical(const CommandHelp& command, std::span<const std::string> arguments)
      : command_(command), left_(arguments) {
    while (!left_.empty()) {
      const std::string token = pop();
      if (token == "--") {
        operands.insert(operands.end(), left_.begin(), left_.end());
        return;
      }
      if (looks_like_flag(token))
        flag(token);
      else
        operands.push_back(token);
    }
  }
  std::vector<std::string> options, operands;

 private:
  std::string pop() {
    const std::string token = left_.front();
    left_ = left_.subspan(1);
    return token;
  }
  void flag(const std::string& token) {
    const auto equals = token.find('=');
    std::string spelling = token.substr(0, equals);
    std::optional<std::string> value;
    if (equals != std::string::npos) value = token.substr(equals + 1);
    Spelling found = find_spelling(spelling);
    if (!found.flag && spelling.size() > 2 && spelling[1] != '-') {  // -b8
      found = find_spelling(spelling.substr(0, 2));
      if (!found.flag || found.flag->takes != Takes::one) unknown_flag(command_, spelling);
      value = token.substr(2);
      spelling.resize(2);
    }
    if (!found.flag) unknown_flag(command_, spelling);
    check_takes_effect(command_, *found.flag, spelling);
    add(*found.flag, found.fixed, spelling, std::move(value));
  }
  void add(const Flag& flag, std::string_view fixed, const std::string& spelling,
           std::optional<std::string> value) {
    const std::string name = "--" + std::string(flag.name);
    if (flag.takes == Takes::nothing || !fixed.empty()) {
      if (!value && !left_.empty() && (left_.front() == "true" || left_.front() == "false"))
        value = pop();
      if (value && *value != "true" && *value != "false")
        throw UsageError(fmt::format("{} is a switch: it takes true, false or nothing, not '{}'",
                                     spelling, *value));
      const auto slash = fixed.find('/');  // "yes/no": what true and false stand for
      const bool off = value && *value == "false";
      if (off && slash == fixed.npos) return;
      const auto chosen = off ? fixed.substr(slash + 1) : fixed.substr(0, slash);
      options.push_back(fixed.empty() ? name : name + '=' + std::string(chosen));
      return;
    }
    if (!value) {
      if (left_.empty() || looks_like_flag(left_.front()))
        throw UsageError(fmt::format("{} needs a value ({})", spelling, flag.value));
      value = pop();
    }
    options.push_back(name + '=' + *value);
    while (flag.takes == Takes::many && !left_.empty() && !looks_like_flag(left_.front()))
      options.push_back(name + '=' + pop());
  }

  const CommandHelp& command_;
  std::span<const std::string> left_;
};

/// The flags of `options` alone: a command has a hundred, and describing them takes longer than
/// reading those that are given.
po::options_description description(std::span<const std::string> options) {
  po::options_description all;
  for (const std::string& option : options) {
    const std::string name = option.substr(2, option.find('=') - 2);
    if (all.find_nothrow(name, false) != nullptr) continue;
    const Takes takes = find_flag(name)->takes;
    if (takes == Takes::nothing)
      all.add_options()(name.c_str(), "");
    else if (takes == Takes::many)
      all.add_options()(name.c_str(), po::value<std::vector<std::string>>()->composing(), "");
    else
      all.add_options()(name.c_str(), po::value<std::string>(), "");
  }
  return all;
}

}  // namespace

Options parse_options(const CommandHelp& command, std::span<const std::string> given) {
  const std::vector<std::string> arguments = in_own_words(command, given);
  Canonical canonical(command, arguments);
  Options result;
  try {
    const auto known = description(canonical.options);
    const auto parsed =
        po::command_line_parser(canonical.options)
            .options(known)
            .style(po::command_line_style::allow_long | po::command_line_style::long_allow_adjacent)
            .run();
    for (const auto& option : parsed.options) {
      auto& values = result.values_[option.string_key];
      if (!values.empty() && find_flag(option.string_key)->takes == Takes::one)
        throw UsageError(fmt::format("--{} is given more than once{}: give one of them",
                                     option.string_key,
                                     other_spelling(option.string_key, arguments)));
      values.insert(values.end(), option.value.begin(), option.value.end());
      if (option.value.empty()) values.emplace_back();
    }
  } catch (const po::error& e) {
    throw UsageError(e.what());
  }
  result.operands_ = std::move(canonical.operands);
  if (!result.operands_.empty() && command.operands.empty() && !result.given("help") &&
      !result.given("help-all"))
    throw UsageError(
        fmt::format("'{}' takes no operand; found '{}'", command.name, result.operands_.front()));
  return result;
}

bool Options::given(std::string_view flag) const { return values_.find(flag) != values_.end(); }

bool Options::supply(std::string_view flag, const std::string& value) {
  if (given(flag)) return false;
  values_[std::string(flag)] = {value};
  return true;
}

std::string Options::text(std::string_view flag, std::string_view fallback) const {
  const auto found = values_.find(flag);
  return found == values_.end() ? std::string(fallback) : found->second.front();
}

std::vector<std::string> Options::texts(std::string_view flag) const {
  const auto found = values_.find(flag);
  return found == values_.end() ? std::vector<std::string>{} : found->second;
}

Size Options::whole(std::string_view flag, Size fallback) const {
  if (!given(flag)) return fallback;
  const std::string value = text(flag);
  constexpr Size most = Size{1} << 40;
  Size number = 0;
  const char *const last = value.data() + value.size(), *end = nullptr;
  const auto read = std::from_chars(value.data(), last, number);
  end = read.ptr;
  if (read.ec == std::errc{} && end + 1 == last && number <= most) {
    if (*end == 'k' || *end == 'K')
      number *= Size{1} << 10, ++end;
    else if (*end == 'm' || *end == 'M')
      number *= Size{1} << 20, ++end;
  }
  if (flag == "context" && (value == "auto" || value == "-1"))
    throw UsageError(fmt::format(
        "--context: found '{}', expected tokens; without it the answer names the longest context "
        "that fits (--details)",
        value));
  if (read.ec != std::errc{} || end != last || number < 1 || number > most)
    throw UsageError(fmt::format(
        "--{}: found '{}', expected a whole number from 1 to 2^40, such as 32768 or 32k", flag,
        value));
  return number;
}

std::string Options::one_of(std::string_view flag, std::span<const std::string_view> allowed,
                            std::string_view fallback) const {
  const std::string value = text(flag, fallback);
  if (std::find(allowed.begin(), allowed.end(), value) == allowed.end())
    throw UsageError(
        fmt::format("--{}: found '{}', expected {}", flag, value, fmt::join(allowed, ", ")));
  return value;
}

std::string Options::naming_flag(const std::string& message) const {
  const auto open = std::min(message.find('\''), message.size());
  const auto close = message.find('\'', open + 1);
  const std::string quoted =
      close == std::string::npos ? std::string() : message.substr(open + 1, close - open - 1);
  const auto is_of = [&](const std::string& value) {
    if (value.empty()) return false;
    if (message.starts_with(value + ':')) return true;
    constexpr std::size_t telling = 3;  // characters of a part: "rtx-4900" of "2x rtx-4900"
    return value == quoted || (quoted.size() >= telling && value.find(quoted) != std::string::npos);
  };
  if (std::ranges::any_of(operands_, is_of)) return message;
  std::string found;
  for (const auto& [flag, values] : values_) {
    if (!std::ranges::any_of(values, is_of)) continue;
    if (!found.empty()) return message;
    found = "--" + flag;
  }
  return found.empty() || message.find(found) != std::string::npos ? message
                                                                   : found + ": " + message;
}

void Options::exclusive(std::initializer_list<std::string_view> flags) const {
  std::string_view first;
  for (const auto flag : flags) {
    if (!given(flag)) continue;
    if (!first.empty())
      throw UsageError(fmt::format("--{} and --{} exclude each other", first, flag));
    first = flag;
  }
}

void Options::requires_flag(std::string_view flag, std::string_view needed) const {
  if (given(flag) && !given(needed))
    throw UsageError(fmt::format("--{} has no effect without --{}", flag, needed));
}

}  // namespace headroom::sweep
