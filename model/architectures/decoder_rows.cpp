// The rows of text decoders, one block per file of this folder.
#include "model/architectures/families.hpp"
#include "model/architectures/rows.hpp"

namespace headroom::model::families {

namespace {

constexpr Architecture rows[] = {
    // llama.cpp
    {"LlamaForCausalLM", "llama", llama},
};

}  // namespace

std::span<const Architecture> decoder_rows() { return rows; }

}  // namespace headroom::model::families
