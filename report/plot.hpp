// Draws figures with gnuplot: one process for all of them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "report/curve.hpp"

namespace headroom::report {

/// True if a program called gnuplot is on the path.
bool gnuplot_found();

/// A figure as its two files: what is drawn, and a gnuplot script that makes STEM.png and STEM.svg.
struct Drawing {
  std::string stem, data, script;
};

/// STEM.gp, STEM.dat, STEM.png and STEM.svg of each figure in `folder`, each whole or not at all.
/// Without gnuplot the first two alone. A figure whose script and data are there already is not
/// drawn again. Returns the files, relative to `folder`. Throws StoreError where a file cannot be
/// written or gnuplot did not draw one.
std::vector<std::filesystem::path> draw(const std::vector<Drawing>& drawings,
                                        const std::filesystem::path& folder);
std::vector<std::filesystem::path> draw(const std::vector<Figure>& figures,
                                        const std::filesystem::path& folder);

}  // namespace headroom::report
