#include "model/checkpoint/position_table.hpp"

#include <algorithm>
#include <string>
#include <string_view>

#include "model/checkpoint/model.hpp"
#include "model/describe/config.hpp"
#include "model/describe/part.hpp"

namespace headroom::model {
namespace {

constexpr std::string_view table_names[] = {"wpe", "embed_positions", "position_embeddings",
                                            "position_embedding"};

/// Rows before the first position: padding tokens take up to as many.
constexpr Size most_offset = 4;

/// Tables of sines are made longer when they are too short.
bool is_made(const Part& part, std::string_view path) {
  const auto at = std::ranges::find(part.modules, path, &Module::path);
  return at != part.modules.end() && at->class_name.find("Sinusoidal") != std::string::npos;
}

bool is_table(const Part& part, const Tensor& tensor) {
  if (tensor.role != Role::embedding || tensor.shape.size() != 2) return false;
  const std::string_view path = tensor.module();
  const auto dot = path.rfind('.');
  const std::string_view name = dot == std::string_view::npos ? path : path.substr(dot + 1);
  return std::ranges::find(table_names, name) != std::end(table_names) && !is_made(part, path);
}

bool is_in(const Tensor& tensor, std::string_view module) {
  const std::string_view name = tensor.name;
  const auto at = name.find(module);
  return at != std::string_view::npos && (at == 0 || name[at - 1] == '.') &&
         name.substr(at + module.size()).starts_with('.');
}

/// Types of models whose first token has the position after `pad_token_id`. Source: transformers
/// 5.23, create_position_ids_from_input_ids of their modeling files; vLLM 0.33 roberta.py.
constexpr std::string_view numbered_after_padding[] = {"camembert",
                                                       "data2vec-text",
                                                       "ibert",
                                                       "layoutlmv3",
                                                       "lilt",
                                                       "longformer",
                                                       "luke",
                                                       "markuplm",
                                                       "mpnet",
                                                       "roberta",
                                                       "roberta-prelayernorm",
                                                       "xlm-roberta",
                                                       "xlm-roberta-xl",
                                                       "xmod"};

}  // namespace

Size usable_positions(const Config& c, Size rows) {
  const std::string type = c.text({"model_type"}, "");
  if (std::ranges::find(numbered_after_padding, type) == std::end(numbered_after_padding))
    return rows;
  const Size token = c.count({"pad_token_id"}, 1);
  return std::max<Size>(0, rows - token - 1);
}

bool has_position_table(const Model& model) {
  const Size positions = model.shape.positions;
  return positions > 0 && std::ranges::any_of(model.part.tensors, [&](const Tensor& tensor) {
           return is_table(model.part, tensor) && tensor.shape[0] >= positions &&
                  tensor.shape[0] <= positions + most_offset &&
                  !(model.encoder_decoder && is_in(tensor, "encoder"));
         });
}

}  // namespace headroom::model
