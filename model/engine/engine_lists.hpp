// Keys of an engine's row that are lists of tables.
#pragma once

#include <string_view>
#include <vector>

#include "hardware/toml_row.hpp"
#include "model/engine/engine.hpp"

namespace headroom::model {

inline constexpr Limit max_count{9e15};

/// `number` as a whole number. Throws as TomlRow::fail.
Size whole(TomlRow& row, std::string_view key, double number);

/// These throw as TomlRow does; `file` stands in errors.
std::vector<ExpertTiles> read_expert_tiles(TomlRow& row, std::string_view key,
                                           std::string_view file);
/// {tokens = 4096}, {from = "24 GiB", tokens = 32768}: by rising memory.
std::vector<DefaultContext> read_default_contexts(TomlRow& row, std::string_view key,
                                                  std::string_view file);
/// {chunk = 2048, bytes = "512 MiB"}, {from = "20 GiB", ...}: by rising memory.
std::vector<CardReserve> read_card_reserve(TomlRow& row, std::string_view key,
                                           std::string_view file);

}  // namespace headroom::model
