// training.md, and the part of the page that says the same.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "model/infer/estimate.hpp"
#include "model/infer/scenario/verdict.hpp"
#include "report/format.hpp"
#include "report/markdown.hpp"
#include "report/page_parts.hpp"
#include "report/svg.hpp"
#include "report/training_points.hpp"
#include "report/words.hpp"

namespace headroom::report {
namespace {

constexpr std::string_view introduction =
    "For each model and method the point that fits and trains on most tokens a second (most tokens "
    "a step where no time is known); where none fits, the one that comes nearest. Memory is of "
    "the fullest card at the moment of its peak, and what it is made of adds up to it; results.csv "
    "has every point and every term.";

std::string number_or_dash(double value, DisplayUnit how) {
  return value > 0 && std::isfinite(value) ? shown(value, how) : std::string("–");
}

/// Cells after the names: verdict, peak, parts, speed, how many fit.
std::vector<std::string> cells(const Source& source, const TrainingLine& line) {
  const model::Estimate& e = line.estimate;
  std::vector<std::string> row = {line.model, line.method, varied_words(source, line),
                                  training_verdict(line)};
  const bool refused = e.verdict == model::Verdict::refused;
  const auto bytes = [&](Bytes b) {
    return refused ? std::string("–") : shown(static_cast<double>(b.count()), DisplayUnit::gib);
  };
  row.push_back(bytes(e.gpu_bytes));
  for (const Bytes part : parts_of(e)) row.push_back(bytes(part));
  row.push_back(number_or_dash(e.step.time.value(), DisplayUnit::seconds));
  row.push_back(number_or_dash(e.tokens_s, DisplayUnit::plain));
  row.push_back(number_or_dash(e.step.utilization, DisplayUnit::percent));
  row.push_back(fmt::format("{} of {}", line.fitting, line.points));
  return row;
}

std::vector<std::string> headings() {
  std::vector<std::string> all = {"model", "method", "point", "verdict", "peak (GiB)"};
  for (const auto part : peak_parts) all.push_back(fmt::format("{} (GiB)", part));
  for (const auto* each : {"step (s)", "tokens/s", "MFU", "points that fit"})
    all.emplace_back(each);
  return all;
}
constexpr std::size_t names = 4;  ///< columns of text before those of numbers

/// Lines of one machine and runtime, in the order of the spec.
std::vector<std::vector<const TrainingLine*>> by_place(const std::vector<TrainingLine>& lines) {
  std::vector<std::vector<const TrainingLine*>> places;
  for (const TrainingLine& line : lines) {
    auto at = std::ranges::find_if(places, [&](const auto& place) {
      return place.front()->machine == line.machine && place.front()->runtime == line.runtime;
    });
    if (at == places.end()) at = places.emplace(at);
    at->push_back(&line);
  }
  return places;
}

std::string place_words(const TrainingLine& line) {
  return fmt::format("{}, {}, cards of {}", line.machine, line.runtime,
                     gib(Bytes(line.gpu_memory)));
}

}  // namespace

std::string training_document(const Source& source, const std::vector<TrainingLine>& lines) {
  std::string page = fmt::format("# Training\n\n{}\n", introduction);
  const auto heads = headings();
  std::vector<bool> right(heads.size(), true);
  std::fill_n(right.begin(), names, false);
  for (const auto& place : by_place(lines)) {
    std::vector<std::vector<std::string>> rows;
    for (const TrainingLine* line : place) {
      auto& row = rows.emplace_back(cells(source, *line));
      for (std::size_t i = 0; i < names; ++i) row[i] = markdown_text(row[i]);
    }
    page += fmt::format("\n## {}\n\n{}", markdown_text(place_words(*place.front())),
                        markdown(heads, right, rows));
  }
  return page;
}

std::string training_part(const std::vector<TrainingLine>& lines, const Source& source) {
  if (lines.empty()) return "";
  std::string all = fmt::format("<p>{}</p><p class=\"stack-key\">", introduction);
  for (std::size_t i = 0; i < peak_parts.size(); ++i)
    all += fmt::format("<span class=\"b{}\"></span>{} ", i, peak_parts[i]);
  all += "</p>";
  const auto heads = headings();
  for (const auto& place : by_place(lines)) {
    const auto words = html_text(place_words(*place.front()));
    double most = static_cast<double>(place.front()->gpu_memory);
    for (const TrainingLine* line : place)
      most = std::max(most, static_cast<double>(line->estimate.gpu_bytes.count()));
    all += fmt::format(
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{0}\">"
        "<table><caption>{0}</caption><thead><tr>",
        words);
    for (std::size_t i = 0; i < heads.size(); ++i) {
      all += fmt::format("<th scope=\"col\"{}>{}</th>", i < names ? "" : " class=\"n\"", heads[i]);
      if (i == names) all += "<th scope=\"col\">made of</th>";
    }
    all += "</tr></thead><tbody>\n";
    for (const TrainingLine* line : place) {
      const auto row = cells(source, *line);
      all += "<tr>";
      for (std::size_t i = 0; i < row.size(); ++i) {
        const std::string_view open = i == 0       ? "<th scope=\"row\">"
                                      : i >= names ? "<td class=\"n\">"
                                                   : "<td>";
        all += fmt::format("{}{}{}", open, html_text(row[i]), i == 0 ? "</th>" : "</td>");
        if (i != names) continue;
        all += "<td><div class=\"stack\">";
        const auto parts = parts_of(line->estimate);
        for (std::size_t p = 0; p < parts.size(); ++p)
          if (parts[p] > Bytes(0))
            all += fmt::format(
                "<span class=\"b{}\" style=\"width:{:.2f}%\" title=\"{} {}\"></span>", p,
                100 * static_cast<double>(parts[p].count()) / most, peak_parts[p], gib(parts[p]));
        all += "</div></td>";
      }
      all += "</tr>\n";
    }
    all += "</tbody></table></div>";
  }
  return all;
}

}  // namespace headroom::report
