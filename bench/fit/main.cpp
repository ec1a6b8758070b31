// The search for the constants that ship with the program, and the errors of rows that are left out
// of it.
#include <fmt/format.h>

#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include "bench/fit/left_out.hpp"
#include "sweep/accuracy/report.hpp"
#include "sweep/output.hpp"

namespace headroom::sweep {
namespace {

constexpr std::string_view usage =
    "headroom_fit [--models FOLDER] [--left-out md|csv|json] FILE.csv…\n\n"
    "Reads canonical rows (tests/accuracy/README.md). Prints model/engine/constants.tsv, or of "
    "files\n"
    "of training times alone model/train/training_pace.tsv. --left-out prints how far estimates "
    "are\n"
    "from set-ups, models and sources that the constants were not fitted to.\n";

struct Asked {
  std::vector<std::string> files;
  std::string models, left_out;
};

/// Throws std::invalid_argument.
Asked asked(const std::vector<std::string>& arguments) {
  Asked found;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& word = arguments[i];
    if (!word.starts_with("--")) {
      found.files.push_back(word);
      continue;
    }
    if ((word != "--models" && word != "--left-out") || i + 1 == arguments.size())
      throw std::invalid_argument(fmt::format("'{}' is not understood", word));
    (word == "--models" ? found.models : found.left_out) = arguments[++i];
  }
  if (found.files.empty()) throw std::invalid_argument("no file is given");
  for (const std::string_view known : {"", "md", "csv", "json"})
    if (found.left_out == known) return found;
  throw std::invalid_argument(
      fmt::format("--left-out {}: expected md, csv or json", found.left_out));
}

std::string answer(const Asked& asked) {
  if (asked.left_out.empty()) return fitted_constants(asked.files, asked.models);
  Accuracy accuracy = score(asked.files, asked.models);
  leave_out(accuracy, asked.models);
  if (asked.left_out == "md") return accuracy_page(accuracy);
  if (asked.left_out == "json") return pretty(accuracy_object(accuracy));
  return formatted(accuracy_rows(accuracy), Format::csv);
}

}  // namespace
}  // namespace headroom::sweep

int main(int count, char** words) {
  using namespace headroom::sweep;
  Asked what;
  try {
    what = asked({words + 1, words + count});
  } catch (const std::invalid_argument& e) {
    fmt::print(stderr, "headroom_fit: {}\n{}", e.what(), usage);
    return 2;
  }
  try {
    fmt::print("{}", answer(what));
    return 0;
  } catch (const std::exception& e) {
    fmt::print(stderr, "headroom_fit: {}\n", e.what());
    return 1;
  }
}
