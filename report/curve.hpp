// Speed against GPU allocation as figures: one for each model and machine, one curve for each
// precision.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/infer/intervals.hpp"
#include "report/knee.hpp"
#include "report/selection.hpp"

namespace headroom::report {

struct CurvePoint {
  double allocation = 0;                        ///< GiB on each GPU
  double tokens_s = 0, ttft_s = 0, load_s = 0;  ///< NaN where it does not run
  bool fits = false;
  model::TimeIntervals times{};  ///< intervals of tokens/s, the inverse of `tpot`
};

/// Between two points: unknown values, joined by a line, or the value of the lower point.
enum class Between { line, step };

struct Curve {
  std::string label;               ///< "int8"
  std::vector<CurvePoint> points;  ///< ascending
  std::optional<Knee> knee;        ///< of tokens_s
  struct Mark {
    std::size_t index = 0;  ///< index of the point
    std::string text;       ///< the event: "last layer"
  };
  std::vector<Mark> marks{};  ///< by index
  Between between = Between::line;
};

struct Figure {
  std::string stem;      ///< stem of its files, safe in a file name: "Qwen3-32B.1x_rtx-4090"
  std::string title;     ///< model on machine
  std::string subtitle;  ///< conditions and tolerance
  int gpus = 0;
  std::vector<Curve> curves;
  bool bands = false;  ///< true: the interval of each curve is shaded
};

/// `text` with everything that is awkward in a file name replaced by one underscore.
std::string file_name(std::string_view text);

/// One figure for each grid, machine, runtime group and model whose lines have at least three
/// budgets.
std::vector<Figure> figures_of(const std::vector<ModelRow>& lines);

}  // namespace headroom::report
