// Facts about the catalogue's models beside their configs: where these come from, and their use.
#pragma once

#include <string>
#include <string_view>

#include "model/checkpoint/model.hpp"

namespace headroom::sweep {

/// The row of sources.tsv for a catalogue file: where the config comes from.
std::string origin_of(std::string_view catalogue_file);

/// "embedding" or "reranking" for a config of the catalogue whose source says so (uses.tsv); empty:
/// it says nothing.
std::string_view use_of(std::string_view catalogue_file);

/// Sets what the model is for, and says among what is assumed that `file` has it. Nothing where
/// `use` is empty, and for a class that does not decode.
void set_use(model::Model& model, std::string_view use, std::string_view file);

}  // namespace headroom::sweep
