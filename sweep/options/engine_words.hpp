// Options as engines' own command lines write them, put into this program's.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sweep/options/options.hpp"

namespace headroom::sweep {

/// `arguments` of an inference command in this program's flags. Options of vLLM, SGLang and
/// llama.cpp that are read: --speculative-config, --spec-method, --speculative-algorithm,
/// --spec-type, --enable-expert-parallel, --enable-dp-attention, -fa, --parallel and --load-mode.
/// Throws UsageError for one that says too little, and for llama.cpp's -b, which means something
/// else here.
std::vector<std::string> in_own_words(const CommandHelp& command,
                                      std::span<const std::string> arguments);

}  // namespace headroom::sweep
