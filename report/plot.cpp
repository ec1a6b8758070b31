// The gnuplot process. It draws into a temporary folder next to the target, and the files are then
// renamed.
#include "report/plot.hpp"

#include <fmt/format.h>
#include <gnuplot-iostream.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <string>

#include "report/chart.hpp"
#include "report/store.hpp"
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

/// A folder that goes away with its content.
class Workshop {
 public:
  explicit Workshop(const fs::path& folder)
      : path_(folder / fmt::format(".drawing.{}.tmp", getpid())) {}
  ~Workshop() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  Workshop(const Workshop&) = delete;
  Workshop& operator=(const Workshop&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
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
  if (drawings.empty()) return {};
  const Workshop workshop(folder);
  for (const Drawing& drawing : drawings) {
    write_whole(workshop.path() / (drawing.stem + ".dat"), drawing.data);
    write_whole(workshop.path() / (drawing.stem + ".gp"), drawing.script);
  }
  std::vector<std::string> kinds{".gp", ".dat"};
  if (gnuplot_found()) {
    run_gnuplot(drawings, workshop.path());
    kinds.insert(kinds.end(), {".png", ".svg"});
  }
  std::vector<fs::path> written;
  for (const Drawing& drawing : drawings)
    for (const auto& kind : kinds) {
      const fs::path name = drawing.stem + kind;
      std::error_code error;
      if (fs::file_size(workshop.path() / name, error) == 0 || error)
        throw StoreError(fmt::format("{}: gnuplot did not draw it; its messages are above",
                                     (folder / name).string()));
      fs::rename(workshop.path() / name, folder / name, error);
      if (error)
        throw StoreError(
            fmt::format("{}: cannot be written ({})", (folder / name).string(), error.message()));
      written.push_back(name);
    }
  return written;
}

std::vector<fs::path> draw(const std::vector<Figure>& figures, const fs::path& folder) {
  std::vector<Drawing> drawings;
  for (const Figure& figure : figures)
    drawings.push_back({figure.stem, chart_data(figure), chart_script(figure)});
  return draw(drawings, folder);
}

}  // namespace headroom::report
