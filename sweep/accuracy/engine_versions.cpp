#include "sweep/accuracy/engine_versions.hpp"

#include <array>
#include <cstdio>

#include "hardware/names.hpp"
#include "hardware/text.hpp"

namespace headroom::sweep {
namespace {

/// Versions below `end` run as `runtime`; the first row that fits counts.
struct VersionEnd {
  int end;
  std::string_view runtime;
};

/// 100 * major + minor.
constexpr auto transformers_rows = std::to_array<VersionEnd>({{421, "transformers-4.20"},
                                                              {436, "transformers-4.35"},
                                                              {445, "transformers-4.44"},
                                                              {448, "transformers-4.47"},
                                                              {500, "transformers-4.57"}});
constexpr auto vllm_rows = std::to_array<VersionEnd>({{3, "vllm-0.2"},
                                                      {6, "vllm-0.5"},
                                                      {8, "vllm-0.7"},
                                                      {10, "vllm-0.9"},
                                                      {11, "vllm-0.10"},
                                                      {16, "vllm-0.15"}});
/// By build. Shaders with matrix units are of build 4283, December 2024.
constexpr auto llama_cpp_rows =
    std::to_array<VersionEnd>({{3121, "llama.cpp-b3120"}, {6325, "llama.cpp-b6324"}});
constexpr auto vulkan_rows = std::to_array<VersionEnd>({{4283, "llama.cpp-vulkan-b4282"}});

template <class Rows>
std::string_view row_of(const Rows& rows, int version, std::string_view newest) {
  for (const VersionEnd& each : rows)
    if (version > 0 && version < each.end) return each.runtime;
  return newest;
}

int number_of(const std::string& version) {
  int major = 0, minor = 0;
  const char* text = version.c_str() + (version.starts_with('v') ? 1 : 0);
  return std::sscanf(text, "%d.%d", &major, &minor) == 2 ? 100 * major + minor : 0;
}

}  // namespace

std::string_view llama_cpp_of(int build, const std::string& backends) {
  const std::string names = lower(backends);
  if (contains(names, "vulkan")) return row_of(vulkan_rows, build, "llama.cpp-vulkan");
  if (contains(names, "blas")) return "llama.cpp-blas";
  return row_of(llama_cpp_rows, build, "llama.cpp");
}

std::string_view vllm_of(const std::string& version) {
  return row_of(vllm_rows, number_of(version), "vllm");
}

std::string_view transformers_of(const std::string& version) {
  return row_of(transformers_rows, number_of(version), "transformers");
}

}  // namespace headroom::sweep
