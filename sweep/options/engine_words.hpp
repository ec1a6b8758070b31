// Options as engines' own command lines write them, put into this program's.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sweep/options/options.hpp"

namespace headroom::sweep {

/// `arguments` of an inference command with options of vLLM, SGLang and llama.cpp replaced by the
/// flags that mean as much: --speculative-config, --speculative-algorithm, --spec-type,
/// --enable-expert-parallel, --enable-dp-attention and -fa. Throws UsageError for one that says too
/// little, and for llama.cpp's -b, which means something else here.
std::vector<std::string> in_own_words(const CommandHelp& command,
                                      std::span<const std::string> arguments);

/// True for options of servers that change neither memory nor speed: --port, --jinja, …
bool changes_no_estimate(std::string_view spelling);

}  // namespace headroom::sweep
