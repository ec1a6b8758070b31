#include "report/way_rows.hpp"

#include <algorithm>
#include <limits>

#include "model/answer/narrow_formats.hpp"
#include "model/checkpoint/quantisation/quantisation.hpp"
#include "report/reports.hpp"
#include "report/words.hpp"

namespace headroom::report {
namespace {

double bits_of(const ModelRow& row) {
  return model::bits_per_parameter(row.roomiest().estimate.weights, row.parameters,
                                   model::find_scheme(row.held));
}

/// As bits_of(). Weights that the engine unpacks hold no more than the precision that was asked
/// for.
double bits_asked(const ModelRow& row) {
  double bits = bits_of(row);
  if (row.precision == row.held) return bits;
  if (const model::Scheme* asked = model::find_scheme(row.precision))
    bits = std::min(bits, model::nominal_bits(*asked));
  return bits;
}

/// Bits of the checkpoint; infinite where no row has it.
double bits_of_checkpoint(std::span<const ModelRow* const> ways) {
  double bits = std::numeric_limits<double>::infinity();
  for (const ModelRow* row : ways)
    if (row->as_published && row->held == row->checkpoint) return bits_of(*row);
  for (const ModelRow* row : ways)
    if (row->as_published) bits = std::min(bits, bits_of(*row));
  return bits;
}

/// A checkpoint of fewer bits is quantised itself.
constexpr double plain_bits = 16;

/// Several requests begin and end together.
bool is_one_batch(const ModelRow& row) {
  const model::Estimate& e = row.roomiest().estimate;
  return row.batch > 1 && model::fits(e) && e.reason != model::Reason::not_generative &&
         !(row.admits_requests && e.gpus_used > 0);
}

/// An engine that runs a quantised checkpoint as it is needs no other format as wide.
bool is_needless(const ModelRow& row, std::span<const ModelRow* const> ways, double own) {
  return !row.as_published && bits_of(row) >= own && own < plain_bits &&
         std::ranges::any_of(ways, [&](const ModelRow* other) {
           return other->as_published && other->runtime == row.runtime &&
                  model::fits(other->roomiest().estimate);
         });
}

}  // namespace

std::span<const std::string_view> rank_words() {
  static constexpr std::string_view words[] = {"fits", "tight", "offload", "does not fit",
                                               "refused"};
  return words;
}

model::WayRank rank_of(const ModelRow& row) {
  return model::way_rank(row.roomiest().estimate, is_tight(row));
}

std::string_view rank_words(const ModelRow& row) {
  return rank_words()[static_cast<std::size_t>(rank_of(row))];
}

bool way_runs(const ModelRow& row) { return rank_of(row) <= model::WayRank::offload; }

bool is_tight(const ModelRow& row) {
  const model::Estimate& e = row.roomiest().estimate;
  return model::is_on_gpus(e) && model::is_at_limit(row.factors.memory.measurements, e);
}

std::vector<const ModelRow*> ordered_ways(std::span<const ModelRow* const> here) {
  auto ways = without_repeats({here.begin(), here.end()});
  const double own = bits_of_checkpoint(ways);
  std::erase_if(ways, [&, all = ways](const ModelRow* row) { return is_needless(*row, all, own); });
  // An engine that leaves towers out loads fewer parameters than others do.
  double whole = 0;
  for (const ModelRow* row : ways) whole = std::max(whole, row->parameters);
  const auto place = [&](const ModelRow& row) {
    return model::way_place(row.roomiest().estimate,
                            {.tight = is_tight(row),
                             .one_batch = is_one_batch(row),
                             .bits = row.as_published ? own : std::min(own, bits_asked(row)),
                             .requantised = own < plain_bits && !row.as_published,
                             .without_towers = row.parameters < whole});
  };
  std::ranges::stable_sort(
      ways, [&](const ModelRow* a, const ModelRow* b) { return place(*a) < place(*b); });
  return ways;
}

const ModelRow& best_way(std::span<const ModelRow* const> here) {
  return *ordered_ways(here).front();
}

}  // namespace headroom::report
