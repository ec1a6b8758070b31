// Constants by what decides them: kernels, the host, or the engine's own admission of requests.
#pragma once

#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "model/engine/measured_constants.hpp"
#include "sweep/accuracy/constant_search.hpp"

namespace headroom::sweep {

inline bool is_of_requests(const model::NamedConstant& constant) {
  return constant.name == "request_s";
}

/// True if engines with common kernels may share the constant. Admission, the front end and the
/// loader are each engine's own.
inline bool is_of_kernels(const model::NamedConstant& constant) {
  return !is_of_requests(constant) && !constant.name.starts_with("load_");
}

/// True if the operating system and the processor decide it more than the engine does. Engines map
/// files and copy out of them in one thread.
inline bool is_of_host(const model::NamedConstant& constant) {
  return constant.name == "load_disk_share" || constant.name == "load_read_bandwidth" ||
         constant.name == "load_copy_bandwidth" || constant.name == "load_tensor_s";
}

/// Engines whose first tokens under load three sources timed at least. Fewer time their clients and
/// networks too, and are no evidence of the engine's time for a request.
inline std::set<std::string_view> engines_with_timed_requests(std::span<const ScoredRow> rows) {
  constexpr std::size_t fewest_sources = 3;
  std::map<std::string_view, std::set<std::string>> sources;
  for (const ScoredRow& each : rows)
    if (each.group == "serving_ttft")
      sources[each.scenario.runtime->family].insert(short_source((*each.row)["source"]));
  std::set<std::string_view> engines;
  for (const auto& [family, all] : sources)
    if (all.size() >= fewest_sources) engines.insert(family);
  return engines;
}

}  // namespace headroom::sweep
