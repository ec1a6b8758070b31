// The model of a GGUF header, as the program describes a whole file.
#pragma once

#include <string>

#include "model/checkpoint/gguf/config.hpp"
#include "model/checkpoint/gguf/names.hpp"
#include "model/checkpoint/quantisation/stored.hpp"

namespace headroom::oracle {

/// Throws model::NotDescribed for an architecture that is refused.
inline model::Model model_of_header(const std::string& name, const model::GgufHeader& header) {
  auto model = model::make_model(name, model::gguf_config(header, header.list), "");
  model.part = model::as_gguf(std::move(model.part), header, header.list);
  model.profile = model::profile_of(model.part, model.shape.hidden_size);
  model.checkpoint_scheme = model::gguf_scheme(header, header.list).name;
  model::attach(model, header.list, model::gather_gguf(model.part, header.list));
  return model;
}

}  // namespace headroom::oracle
