// Low-rank adapters as command lines ask for them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/checkpoint/adapter.hpp"
#include "sweep/options/options.hpp"

namespace headroom::sweep {

#define HEADROOM_SERVED_ADAPTER_FLAGS "lora lora-rank lora-targets"
#define HEADROOM_ADAPTER_FLAGS HEADROOM_SERVED_ADAPTER_FLAGS " dora"

/// The requested adapters; none without a flag of adapters.
using Adapters = std::optional<model::AdapterRequest>;

/// --lora, --lora-rank, --lora-targets (names, also separated by commas) and --dora. Throws
/// UsageError.
Adapters adapters_of(const Options& options);
/// The names that a flag lists, apart by spaces or commas.
std::vector<std::string> listed_names(const Options& options, std::string_view flag);
/// Elements of the modules that --modules-to-save trains in full. Throws UsageError.
Size copies_of(const model::Model& model, const std::vector<std::string>& names);

}  // namespace headroom::sweep
