// The search for the constants that ship with the program, and the errors of rows that are left out
// of it.
#include <fmt/format.h>

#include <boost/json.hpp>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include "bench/fit/left_out.hpp"
#include "report/whole_file.hpp"
#include "sweep/accuracy/report.hpp"
#include "sweep/output.hpp"

namespace headroom::sweep {
namespace {

constexpr std::string_view usage =
    "headroom_fit [--models FOLDER] --out FOLDER FILE.csv…\n"
    "headroom_fit [--models FOLDER] --page FOLDER FILE.csv…\n"
    "headroom_fit [--models FOLDER] --rows ROWS.csv FILE.csv…\n\n"
    "Reads canonical rows (tests/accuracy/README.md). --out writes constants.tsv, effects.tsv\n"
    "and measured_cards.tsv, which belong in model/engine; of files of training times alone "
    "training_pace.tsv, which\n"
    "belongs in model/train. --page writes ACCURACY.md and accuracy.json: how far estimates are "
    "from\n"
    "set-ups, models and sources that the constants were not fitted to. --rows writes that for "
    "each "
    "row.\n";

struct Asked {
  std::vector<std::string> files;
  std::string models, out, page, rows;
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
    std::string* const value = word == "--models" ? &found.models
                               : word == "--out"  ? &found.out
                               : word == "--page" ? &found.page
                               : word == "--rows" ? &found.rows
                                                  : nullptr;
    if (value == nullptr || i + 1 == arguments.size())
      throw std::invalid_argument(fmt::format("'{}' is not understood", word));
    *value = arguments[++i];
  }
  if (found.files.empty()) throw std::invalid_argument("no file is given");
  if (found.out.empty() + found.page.empty() + found.rows.empty() != 2)
    throw std::invalid_argument("needs one of --out, --page and --rows");
  return found;
}

void answer(const Asked& asked) {
  if (!asked.out.empty()) {
    for (const FittedFile& file : fitted_constants(asked.files, asked.models))
      report::write_whole(asked.out + '/' + file.name, file.content);
    return;
  }
  Accuracy accuracy = score(asked.files, asked.models);
  leave_out(accuracy, asked.models);
  if (!asked.rows.empty()) {
    report::write_whole(asked.rows, formatted(accuracy_rows(accuracy), Format::csv));
    return;
  }
  report::write_whole(asked.page + "/ACCURACY.md", accuracy_page(accuracy));
  report::write_whole(asked.page + "/accuracy.json", pretty(accuracy_object(accuracy)));
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
    answer(what);
    return 0;
  } catch (const std::exception& e) {
    fmt::print(stderr, "headroom_fit: {}\n", e.what());
    return 1;
  }
}
