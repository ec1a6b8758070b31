// Which row of an engine stands for one of its versions.
#pragma once

#include <string>
#include <string_view>

namespace headroom::sweep {

/// `backends`: as llama-bench prints them. `build` 0: not known.
std::string_view llama_cpp_of(int build, const std::string& backends);
/// "v0.6.4", "0.19.0.dev1"; what is no version is taken for the newest.
std::string_view vllm_of(const std::string& version);
std::string_view transformers_of(const std::string& version);

}  // namespace headroom::sweep
