// Any described encoder joined to any described decoder by cross attention.
#include <fmt/format.h>

#include "model/architecture.hpp"
#include "model/architectures/composition.hpp"
#include "model/architectures/encoder_families.hpp"
#include "model/class_defaults.hpp"

namespace headroom::model::families {

namespace {

/// The first row of the section's model_type whose class ends in one of `suffixes`.
Submodel member(const Config& c, std::initializer_list<std::string_view> suffixes) {
  const std::string type = c.text({"model_type"});
  const Config full = with_class_defaults(c, type);
  for (const auto suffix : suffixes)
    for (const auto& row : architectures())
      if (row.model_type == type && row.name.ends_with(suffix))
        return {std::string(row.name), row.describe(full.as_class(row.name)), 0};
  c.fail("model_type", fmt::format("'{}' has no described class for this side", type));
}

}  // namespace

/// The decoder is the class with a language model head, with cross attention added.
/// Source: transformers 5.23, models/encoder_decoder/modeling_encoder_decoder.py.
Part encoder_decoder(const Config& c) {
  const Config encoder = c.section("encoder"), decoder = c.section("decoder");
  Part p = member(encoder, {"Model"}).as("encoder");
  Submodel generator = member(decoder, {"LMHeadModel", "ForCausalLM", "Decoder"});
  for (auto& t : generator.part.tensors)
    if (!t.tied_to.empty()) t.tied_to = "decoder." + t.tied_to;
  p = std::move(p) + generator.as("decoder");
  const Size from = encoder.dim({"hidden_size"}, 768), to = decoder.dim({"hidden_size"}, 768);
  if (from != to && !decoder.has("cross_attention_hidden_size"))
    p = std::move(p) + linear("enc_to_dec_proj", from, to, Bias::yes);
  return p;
}

}  // namespace headroom::model::families
