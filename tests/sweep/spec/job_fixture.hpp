// Specs looked up in the shipped catalogue, offline.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/infer/estimate.hpp"
#include "sweep/hub/hub.hpp"
#include "sweep/spec/job.hpp"

namespace headroom::sweep {

inline Spec spec_of(std::string_view grid) {
  return parse_spec("[[grid]]\n" + std::string(grid), "s.toml");
}
inline Job job_of(const Spec& spec, const Catalogue& catalogue = shipped_catalogue()) {
  return make_job(spec, catalogue, Hub({.token = {}, .offline = true}));
}
inline Job job_of(std::string_view grid) { return job_of(spec_of(grid)); }
inline std::string job_complaint(std::string_view grid) {
  try {
    job_of(grid);
  } catch (const std::exception& e) {
    return e.what();
  }
  return "none";
}

inline constexpr std::string_view small =
    "models = ['llama2-7b', 'TinyLlama-1.1B-Chat-v1.0']\nmachines = ['rtx-4090', 'cpu']\n";

inline std::vector<model::Scenario> scenarios(const JobGrid& grid) {
  std::vector<model::Scenario> all;
  std::vector<Size> point(grid.digits.size());
  for (Size i = 0; i < grid.grid.size(); ++i) {
    grid.grid.decode(i, point);
    if (!grid.excluded(point)) all.push_back(grid.scenario(point));
  }
  return all;
}

}  // namespace headroom::sweep
