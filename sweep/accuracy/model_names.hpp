// Models as programs and people spell them.
#pragma once

#include <string>
#include <string_view>

namespace headroom::sweep {

/// The reference of a model by the name that a file or a benchmark gives it. The search goes
/// through names/models.tsv, then the catalogue, by plain_name. It then repeats without endings
/// such as "-Instruct" or "-GGUF". A checkpoint that is published in `precision` comes first.
/// `name` itself where nothing fits.
std::string model_reference(const std::string& name, const std::string& precision = {});

/// A name without what differs between spellings of it: "Meta-Llama-3-8B" is "llama38b".
std::string plain_name(std::string_view name);

}  // namespace headroom::sweep
