#include "model/engine/engine_lists.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "hardware/quantity_text.hpp"

namespace headroom::model {
namespace {

/// Throws unless the entries stand by rising memory.
template <class List>
void require_rising(TomlRow& row, std::string_view key, const List& list) {
  using Entry = typename List::value_type;
  if (!std::ranges::is_sorted(list, {}, &Entry::from))
    row.fail(key, "expected rising amounts of memory");
}

Bytes bytes_at(TomlRow& row, std::string_view key) {
  const auto text = row.text(key);
  if (!text) return Bytes(0);
  try {
    return parse_bytes(*text);
  } catch (const std::invalid_argument& e) {
    row.fail(key, e.what());
  }
}

std::vector<double> shares_at(TomlRow& row, std::string_view key) {
  std::vector<double> all;
  const toml::node* list = row.find(key);
  if (list == nullptr) return all;
  if (!list->is_array()) row.wrong(key, *list, "an array of shares");
  for (const toml::node& share : *list->as_array()) {
    const double value = share.value<double>().value_or(0);
    if (!(value > 0) || value > 1) row.wrong(key, share, "a share above 0 and at most 1");
    all.push_back(value);
  }
  return all;
}

}  // namespace

Size whole(TomlRow& row, std::string_view key, double number) {
  if (number != std::floor(number)) row.fail(key, "expected a whole number");
  return static_cast<Size>(number);
}

std::vector<ExpertTiles> read_expert_tiles(TomlRow& row, std::string_view key,
                                           std::string_view file) {
  std::vector<ExpertTiles> all;
  for (const toml::table* each : row.tables(key)) {
    TomlRow tile(*each, file);
    ExpertTiles& t = all.emplace_back();
    t.from = tile.number("from", {1e3}).value_or(0);
    t.before = tile.number("before", {1e3}).value_or(99);
    t.inner_multiple = whole(tile, "inner", tile.required_positive("inner", max_count));
    t.hidden_multiple = whole(tile, "hidden", tile.required_positive("hidden", max_count));
    t.scales_twice = tile.flag("scales_twice").value_or(false);
    tile.finish();
  }
  return all;
}

std::vector<DefaultContext> read_default_contexts(TomlRow& row, std::string_view key,
                                                  std::string_view file) {
  std::vector<DefaultContext> all;
  for (const toml::table* each : row.tables(key)) {
    TomlRow limit(*each, file);
    DefaultContext& c = all.emplace_back();
    c.from = bytes_at(limit, "from");
    c.tokens = whole(limit, "tokens", limit.required_positive("tokens", max_count));
    limit.finish();
  }
  require_rising(row, key, all);
  return all;
}

std::vector<CardReserve> read_card_reserve(TomlRow& row, std::string_view key,
                                           std::string_view file) {
  std::vector<CardReserve> all;
  for (const toml::table* each : row.tables(key)) {
    TomlRow tier(*each, file);
    CardReserve& t = all.emplace_back();
    t.from = bytes_at(tier, "from");
    t.bytes = bytes_at(tier, "bytes");
    t.each_card = bytes_at(tier, "each_card");
    t.at_least = bytes_at(tier, "at_least");
    t.shares = shares_at(tier, "shares");
    const auto count = [&](std::string_view name) {
      return whole(tier, name, tier.required_positive(name, max_count));
    };
    t.chunk = count("chunk");
    t.graph_batch = count("graph_batch");
    t.graph_batch_of_four = count("graph_batch_of_four");
    if (!t.shares.empty() && t.bytes + t.each_card + t.at_least > Bytes(0))
      tier.fail("shares", "they stand in place of bytes, each_card and at_least");
    tier.finish();
  }
  require_rising(row, key, all);
  return all;
}

}  // namespace headroom::model
