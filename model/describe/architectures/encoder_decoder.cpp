// Any described encoder joined to any described decoder by cross-attention.
#include <fmt/format.h>

#include "model/describe/architecture.hpp"
#include "model/describe/architectures/composition.hpp"
#include "model/describe/class_defaults.hpp"

namespace headroom::model::families::encoder_decoder {

/// Width of the tower's output. Towers that halve their resolution double their width each time.
Size output_width(const Config& c) {
  if (!c.has("depths")) return width_of(c);
  return c.dim({"embed_dim"}) << (c.dims({"depths"}).size() - 1);
}

/// The first row of the section's model_type whose class ends in one of `suffixes`.
Submodel member(const Config& c, std::initializer_list<std::string_view> suffixes) {
  const std::string type = c.text({"model_type"});
  const Config full = with_class_defaults(c, type);
  for (const auto suffix : suffixes)
    for (const auto& row : architectures())
      if (row.model_type == type && row.name.ends_with(suffix))
        return {std::string(row.name), row.describe(full.as_class(row.name)), output_width(full)};
  c.fail("model_type", fmt::format("'{}' has no described class for this side", type));
}

/// The decoder is the class with a language model head, plus cross-attention. Source: transformers
/// 5.23, models/encoder_decoder/modeling_encoder_decoder.py and
/// models/vision_encoder_decoder/modeling_vision_encoder_decoder.py.
Part encoder_decoder(const Config& c) {
  const Config encoder = c.section("encoder"), decoder = c.section("decoder");
  const Submodel reader = member(encoder, {"Model"});
  const Submodel generator = member(decoder, {"LMHeadModel", "ForCausalLM", "Decoder"});
  const Size seen = decoder.dim_or_none({"cross_attention_hidden_size"}, 0);
  if (seen > 0 && seen != reader.width)
    decoder.fail("cross_attention_hidden_size",
                 fmt::format("found {}, expected the {} of the encoder", seen, reader.width));
  Part p = reader.as("encoder") +
           in("decoder", generator.class_name, owners_at(generator.part, "decoder"));
  if (seen == 0 && reader.width != generator.width)
    p = std::move(p) + linear("enc_to_dec_proj", reader.width, generator.width, Bias::yes);
  return p;
}

}  // namespace headroom::model::families::encoder_decoder
