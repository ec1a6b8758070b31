#include "model/engine/engine_lists.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "hardware/quantity_text.hpp"

namespace headroom::model {
namespace {

/// The tables under `key`, each read by `read` into an entry. Throws at a key that it leaves.
template <class Entry, class Read>
std::vector<Entry> read_tables(TomlRow& row, std::string_view key, std::string_view file,
                               const Read& read) {
  std::vector<Entry> all;
  for (const toml::table* each : row.tables(key)) {
    TomlRow table(*each, file);
    read(table, all.emplace_back());
    table.finish();
  }
  return all;
}

/// Likewise. Throws unless the entries stand by rising memory.
template <class Entry, class Read>
std::vector<Entry> read_rising(TomlRow& row, std::string_view key, std::string_view file,
                               const Read& read) {
  std::vector<Entry> all = read_tables<Entry>(row, key, file, read);
  if (!std::ranges::is_sorted(all, {}, &Entry::from))
    row.fail(key, "expected rising amounts of memory");
  return all;
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
  return read_tables<ExpertTiles>(row, key, file, [](TomlRow& tile, ExpertTiles& t) {
    t.from = tile.number("from", {1e3}).value_or(0);
    t.before = tile.number("before", {1e3}).value_or(99);
    t.inner_multiple = whole(tile, "inner", tile.required_positive("inner", max_count));
    t.hidden_multiple = whole(tile, "hidden", tile.required_positive("hidden", max_count));
    t.scales_twice = tile.flag("scales_twice").value_or(false);
  });
}

std::vector<DefaultContext> read_default_contexts(TomlRow& row, std::string_view key,
                                                  std::string_view file) {
  return read_rising<DefaultContext>(row, key, file, [](TomlRow& limit, DefaultContext& c) {
    c.from = bytes_at(limit, "from");
    c.tokens = whole(limit, "tokens", limit.required_positive("tokens", max_count));
  });
}

std::vector<CardReserve> read_card_reserve(TomlRow& row, std::string_view key,
                                           std::string_view file) {
  return read_rising<CardReserve>(row, key, file, [](TomlRow& tier, CardReserve& t) {
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
  });
}

}  // namespace headroom::model
