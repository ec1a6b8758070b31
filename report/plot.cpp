// The gnuplot process. It draws into a temporary folder next to the target, and the files are then
// renamed.
#include "report/plot.hpp"

#include <fmt/format.h>
#include <gnuplot-iostream.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <iterator>
#include <string>

#include "report/chart.hpp"
#include "report/store.hpp"
#include "report/temporary_folder.hpp"
#include "report/whole_file.hpp"

namespace headroom::report {
namespace {

namespace fs = std::filesystem;

/// A gnuplot that dies must not take this process with it.
class IgnoreBrokenPipe {
 public:
  IgnoreBrokenPipe() : before_(std::signal(SIGPIPE, SIG_IGN)) {}
  ~IgnoreBrokenPipe() { std::signal(SIGPIPE, before_); }
  IgnoreBrokenPipe(const IgnoreBrokenPipe&) = delete;
  IgnoreBrokenPipe& operator=(const IgnoreBrokenPipe&) = delete;

 private:
  void (*before_)(int);
};

void run_gnuplot(const std::vector<Drawing>& drawings, const fs::path& folder) {
  const IgnoreBrokenPipe ignore;
  gnuplotio::Gnuplot gnuplot(
      "LC_ALL=C.UTF-8 gnuplot");  // without it, it warns about its own degree sign
  gnuplot << "cd " << gnuplot_string(fs::absolute(folder).string()) << '\n';
  for (const Drawing& drawing : drawings)
    gnuplot << "load " << gnuplot_string(drawing.stem + ".gp") << '\n';
  gnuplot.flush();
}  // leaving waits for gnuplot to end

/// True if the folder has the files of this very drawing.
bool is_drawn(const Drawing& drawing, const fs::path& folder,
              const std::vector<std::string>& kinds) {
  return holds(folder / (drawing.stem + ".gp"), drawing.script) &&
         holds(folder / (drawing.stem + ".dat"), drawing.data) &&
         std::ranges::all_of(kinds, [&](const std::string& kind) {
           return fs::exists(folder / (drawing.stem + kind));
         });
}

void draw_anew(const std::vector<Drawing>& drawings, const fs::path& folder,
               const std::vector<std::string>& kinds) {
  const TemporaryFolder workshop(folder / fmt::format(".drawing.{}.tmp", getpid()));
  for (const Drawing& drawing : drawings) {
    write_whole(workshop.path() / (drawing.stem + ".dat"), drawing.data);
    write_whole(workshop.path() / (drawing.stem + ".gp"), drawing.script);
  }
  if (kinds.size() > 2) run_gnuplot(drawings, workshop.path());
  for (const Drawing& drawing : drawings) {
    std::error_code error;
    // The script goes first and comes last: where it is, the pictures are its own.
    fs::remove(folder / (drawing.stem + ".gp"), error);
    for (auto kind = kinds.rbegin(); kind != kinds.rend(); ++kind) {
      const fs::path name = drawing.stem + *kind;
      if (fs::file_size(workshop.path() / name, error) == 0 || error)
        throw StoreError(fmt::format("{}: gnuplot did not draw it; its messages are above",
                                     (folder / name).string()));
      fs::rename(workshop.path() / name, folder / name, error);
      if (error)
        throw StoreError(
            fmt::format("{}: cannot be written ({})", (folder / name).string(), error.message()));
    }
  }
}

}  // namespace

bool gnuplot_found() {
  const char* path = std::getenv("PATH");
  std::string_view rest = path ? path : "";
  while (!rest.empty()) {
    const auto end = std::min(rest.find(':'), rest.size());
    const fs::path candidate = fs::path(rest.substr(0, end)) / "gnuplot";
    if (access(candidate.c_str(), X_OK) == 0) return true;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return false;
}

std::vector<fs::path> draw(const std::vector<Drawing>& drawings, const fs::path& folder) {
  std::vector<std::string> kinds{".gp", ".dat"};
  if (gnuplot_found()) kinds.insert(kinds.end(), {".png", ".svg"});
  std::vector<Drawing> changed;
  std::ranges::copy_if(drawings, std::back_inserter(changed),
                       [&](const Drawing& each) { return !is_drawn(each, folder, kinds); });
  if (!changed.empty()) draw_anew(changed, folder, kinds);
  std::vector<fs::path> files;
  for (const Drawing& drawing : drawings)
    for (const auto& kind : kinds) files.emplace_back(drawing.stem + kind);
  return files;
}

std::vector<fs::path> draw(const std::vector<Figure>& figures, const fs::path& folder) {
  std::vector<Drawing> drawings;
  for (const Figure& figure : figures)
    drawings.push_back({figure.stem, chart_data(figure), chart_script(figure)});
  return draw(drawings, folder);
}

}  // namespace headroom::report
