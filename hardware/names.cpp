// Edit distance over names, to suggest names for an unknown one.
#include "hardware/names.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "hardware/text.hpp"

namespace headroom {
namespace {

/// Optimal string alignment: insertions, deletions, replacements of one character, and exchanges of
/// two neighbours, each costing 1.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::swap(before, last);
    std::swap(last, row);
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      row[j + 1] = std::min({row[j] + 1, last[j + 1] + 1, last[j] + (a[i] == b[j] ? 0 : 1)});
      if (i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j])
        row[j + 1] = std::min(row[j + 1], before[j - 1] + 1);
    }
  }
  return row.back();
}

struct Candidate {
  std::size_t rank;      ///< 0 if one name contains the other, else the distance
  std::size_t distance;  ///< breaks ties of rank
  const std::string* name;
};

}  // namespace

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return result;
}

std::vector<std::string> nearest(std::string_view name, std::span<const std::string> known,
                                 std::size_t most) {
  const std::string asked = lower(name);
  std::vector<Candidate> candidates;
  candidates.reserve(known.size());
  for (const std::string& each : known) {
    const std::string other = lower(each);
    const std::size_t distance = edit_distance(asked, other);
    const bool contained = asked.size() >= 2 && other.find(asked) != std::string::npos;
    candidates.push_back({contained ? 0 : distance, distance, &each});
  }
  std::ranges::stable_sort(candidates, [](const Candidate& a, const Candidate& b) {
    return std::pair(a.rank, a.distance) < std::pair(b.rank, b.distance);
  });
  std::vector<std::string> result;
  for (const Candidate& each : candidates) {
    if (result.size() == most) break;
    result.push_back(*each.name);
  }
  return result;
}

UnknownName unknown_name(std::string_view kind, std::string_view name,
                         std::span<const std::string> known) {
  const std::string shown = one_line(name);
  if (known.empty())
    return UnknownName(fmt::format("unknown {} '{}'; there are none to choose from", kind, shown));
  return UnknownName(fmt::format("unknown {} '{}'; nearest: {}", kind, shown,
                                 fmt::join(nearest(name, known), ", ")));
}

}  // namespace headroom
