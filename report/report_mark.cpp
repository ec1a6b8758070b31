#include "report/report_mark.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <sstream>

#include "report/digest.hpp"
#include "report/whole_file.hpp"

namespace headroom::report {
namespace {

namespace fs = std::filesystem;

/// Marks of every version begin so.
constexpr std::string_view beginning = "\n<!-- results.csv";

constexpr ReportFile known_files[] = {
    {"index.html", "everything on one page, which sorts and filters"},
    {"changes.md", "changes since the run before, and their causes"},
    {"results.csv", "every point, in bytes and seconds"},
    {"results.csv.gz", "every point, in bytes and seconds, compressed (gzip)"},
    {"results.csv.zst", "every point, in bytes and seconds, compressed (zstd)"},
    {"compatibility.md", "which model runs where, with advice"},
    {"compatibility.csv", "as CSV, a row for each model, machine and precision"},
    {"precision.md", "precisions side by side, with what each saves"},
    {"training.md", "each model and method: verdict and parts of memory"}};

std::string readme_of(const fs::path& folder) {
  std::ifstream in(folder / "README.md", std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string_view before_mark(std::string_view readme) {
  return readme.substr(0, std::min(readme.rfind(beginning), readme.size()));
}

/// False if there is no such file.
bool add_state(Digest& digest, const fs::path& file) {
  struct stat found {};
  if (stat(file.c_str(), &found) != 0) return false;
  for (const timespec& time : {found.st_mtim, found.st_ctim}) {
    digest.add(std::int64_t{time.tv_sec});
    digest.add(std::int64_t{time.tv_nsec});
  }
  digest.add(static_cast<std::int64_t>(found.st_ino));
  digest.add(std::int64_t{found.st_size});
  return true;
}

std::string line_of(const ReportMark& mark) {
  return fmt::format(
      "{} and reports: run={} of={} finished={} form={} inputs={} source={} points={} files={} "
      "-->\n",
      beginning, mark.run, mark.fingerprint, mark.finished, mark.form, mark.inputs, mark.source,
      mark.points, mark.files);
}

/// The values of "name=value" among the words of a line.
std::map<std::string, std::string> values_in(const std::string& line) {
  std::map<std::string, std::string> values;
  std::istringstream words(line);
  for (std::string word; words >> word;)
    if (const auto equals = word.find('='); equals != std::string::npos)
      values[word.substr(0, equals)] = word.substr(equals + 1);
  return values;
}

}  // namespace

std::span<const ReportFile> report_files() { return known_files; }

const std::map<std::string, std::set<std::string>>& report_folders() {
  static const std::map<std::string, std::set<std::string>> folders{
      {"curves", {".png", ".svg", ".gp", ".dat"}}, {"machines", {".md"}}};
  return folders;
}

std::vector<fs::path> files_there(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  for (const ReportFile& each : known_files)
    if (fs::exists(folder / each.name, error)) files.emplace_back(each.name);
  for (const auto& [below, endings] : report_folders()) {
    std::vector<fs::path> found;
    for (const auto& entry : fs::directory_iterator(folder / below, error))
      if (endings.contains(entry.path().extension().string()))
        found.push_back(below / entry.path().filename());
    std::ranges::sort(found);
    files.insert(files.end(), found.begin(), found.end());
  }
  if (fs::exists(folder / "README.md", error)) files.emplace_back("README.md");
  return files;
}

bool has_report(const fs::path& folder) {
  return readme_of(folder).find(beginning) != std::string::npos;
}

std::optional<ReportMark> mark_of(const fs::path& folder) {
  const std::string readme = readme_of(folder);
  const std::string line = readme.substr(before_mark(readme).size());
  auto values = values_in(line);
  ReportMark mark;
  std::istringstream(values["run"]) >> mark.run;
  mark.fingerprint = values["of"];
  mark.finished = values["finished"];
  mark.form = values["form"];
  mark.inputs = values["inputs"];
  mark.source = values["source"];
  mark.points = values["points"];
  mark.files = values["files"];
  if (line != line_of(mark)) return std::nullopt;
  return mark;
}

void write_readme(const fs::path& folder, const std::string& text, const ReportMark& mark) {
  write_whole(folder / "README.md", text + line_of(mark));
}

std::string source_state(const fs::path& database) {
  Digest digest;
  if (!add_state(digest, "/proc/self/exe") || !add_state(digest, database)) return {};
  // A reader of the database makes an empty log.
  const fs::path log = database.string() + "-wal";
  std::error_code error;
  if (fs::file_size(log, error) > 0 && !error) add_state(digest, log);
  return digest.text();
}

std::string points_state(const fs::path& folder, CsvFile csv) {
  Digest digest;
  const bool there = csv != CsvFile::none && add_state(digest, folder / csv_file_name(csv));
  return there ? digest.text() : std::string(ReportMark::none);
}

std::string files_state(const fs::path& folder, std::string_view text) {
  Digest digest;
  digest.add(text);
  for (const fs::path& file : files_there(folder)) {
    if (file == "README.md") continue;
    digest.add(std::string_view(file.native()));
    add_state(digest, folder / file);
  }
  return digest.text();
}

bool source_is_as_marked(const ReportMark& mark, const fs::path& database) {
  return !mark.source.empty() && mark.source == source_state(database);
}

bool files_are_as_marked(const ReportMark& mark, const fs::path& folder) {
  return mark.files == files_state(folder, before_mark(readme_of(folder)));
}

void mark_source(const fs::path& folder, const fs::path& database) {
  auto mark = mark_of(folder);
  if (!mark) return;
  mark->source = source_state(database);
  write_readme(folder, std::string(before_mark(readme_of(folder))), *mark);
}

}  // namespace headroom::report
