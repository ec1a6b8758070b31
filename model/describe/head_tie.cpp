#include "model/describe/head_tie.hpp"

#include <fmt/format.h>

#include <boost/json.hpp>
#include <optional>

#include "model/describe/class_defaults.hpp"

namespace headroom::model {
namespace {

constexpr std::string_view key = "tie_word_embeddings";

/// True if the section of the text model ties the head. For files whose top level does not say.
struct TextTie {
  bool tied = false, stated = false;
  std::string model_type;
};
std::optional<TextTie> text_tie(const Config& file) {
  if (file.has(key) || !file.has("text_config")) return std::nullopt;
  if (!file.object().at("text_config").is_object()) return std::nullopt;
  const Config text = file.section("text_config");
  const std::string type = text.text({"model_type"}, "");
  const bool stated = text.has(key);
  const Config known = with_class_defaults(text, type);
  if (!known.has(key)) return std::nullopt;  // no class of that type is known
  return TextTie{known.flag({key}, false), stated, type};
}

}  // namespace

Part with_text_tie(Part part, const Config& file) {
  const auto tie = text_tie(file);
  if (!tie || tie->tied) return part;
  for (Tensor& tensor : part.tensors)
    if (tensor.role == Role::head && !tensor.tied_to.empty())
      tensor.reference_tied_to = std::exchange(tensor.tied_to, {});
  return part;
}

std::string assumed_tie(const Config& file) {
  const auto tie = text_tie(file);
  if (!tie || tie->stated) return {};
  const Config whole = with_optional_class_defaults(file, file.text({"model_type"}, ""));
  if (!whole.has(key) || whole.flag({key}, false) == tie->tied || tie->tied) return {};
  return fmt::format(
      "head not tied to the embeddings (no tie_word_embeddings in the file; default of its text "
      "model, {})",
      tie->model_type);
}

}  // namespace headroom::model
