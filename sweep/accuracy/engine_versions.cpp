#include "sweep/accuracy/engine_versions.hpp"

#include "hardware/names.hpp"
#include "hardware/text.hpp"
#include "model/engine/engine_version.hpp"

namespace headroom::sweep {

std::string_view llama_cpp_of(int build, const std::string& backends) {
  const std::string names = lower(backends), version = build > 0 ? std::to_string(build) : "";
  if (contains(names, "vulkan")) return model::row_of_measured("llama.cpp-vulkan", version).name;
  if (contains(names, "blas")) return "llama.cpp-blas";
  return model::row_of_measured("llama.cpp", version).name;
}

std::string_view vllm_of(const std::string& version) {
  return model::row_of_measured("vllm", version).name;
}

std::string_view transformers_of(const std::string& version) {
  return model::row_of_measured("transformers", version).name;
}

}  // namespace headroom::sweep
