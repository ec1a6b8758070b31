#include "sweep/screen/terminal.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "hardware/text.hpp"

namespace headroom::sweep {
namespace {

constexpr std::string_view green = "\033[32m", yellow = "\033[33m", red = "\033[31m",
                           plain = "\033[0m";

struct ColouredWords {
  std::string_view words, colour;
};
constexpr ColouredWords first_words[] = {{"Fits", green},           {"Tight", yellow},
                                         {"Needs offload", yellow}, {"Runs on the CPU", yellow},
                                         {"Does not fit", red},     {"Refused", red}};
constexpr ColouredWords last_cells[] = {{"fits", green},
                                        {"tight", yellow},
                                        {"on the CPU", yellow},
                                        {"does not fit", red},
                                        {"refused", red}};

std::string painted(std::string_view words, std::string_view colour) {
  return fmt::format("{}{}{}", colour, words, plain);
}

std::string coloured_line(std::string_view line) {
  for (const ColouredWords& verdict : first_words)
    if (line.starts_with(verdict.words))
      return painted(verdict.words, verdict.colour) +
             std::string(line.substr(verdict.words.size()));
  const auto cell = line.rfind("  ");
  if (cell == std::string_view::npos) return std::string(line);
  const std::string_view last = line.substr(cell + 2);
  for (const ColouredWords& verdict : last_cells)
    if (last == verdict.words)
      return std::string(line.substr(0, cell + 2)) + painted(last, verdict.colour);
  if (last.starts_with("offload "))
    return std::string(line.substr(0, cell + 2)) + painted(last, yellow);
  return std::string(line);
}

}  // namespace

bool on_terminal(const Options& options) {
  return !options.given("out") && isatty(STDOUT_FILENO) == 1;
}

bool allows_colour(const char* no_color, const char* term) {
  if (no_color != nullptr && *no_color != '\0') return false;
  return term != nullptr && *term != '\0' && std::string_view(term) != "dumb";
}

std::string coloured(std::string_view text) {
  std::string all;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    all += coloured_line(text.substr(0, end));
    if (end < text.size()) all += '\n';
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return all;
}

}  // namespace headroom::sweep
