#include "model/describe/usual_dropout.hpp"

#include <algorithm>
#include <iterator>

namespace headroom::model {
namespace {

struct DropoutRow {
  std::string_view model_type;
  UsualDropout usual;
};
constexpr DropoutRow dropout_rows[] = {
    {"gpt2", {0.1, 0.1, 0.1, 0, 0}},
    {"gpt_bigcode", {0.1, 0.1, 0.1, 0, 0}},
    {"bert", {0.1, 0.1, 0.1, 0, 0}},
    {"roberta", {0.1, 0.1, 0.1, 0, 0}},
    {"xlm-roberta", {0.1, 0.1, 0.1, 0, 0}},
    {"electra", {0.1, 0.1, 0.1, 0, 0}},
    {"opt", {0, 0.1, 0, 0, 0}},
    {"biogpt", {0.1, 0.1, 0, 0, 0}},
    {"ctrl", {0.1, 0.1, 0.1, 0, 0}},
    {"t5", {0.1, 0.1, 0.1, 0, 0}},
    {"mt5", {0.1, 0.1, 0.1, 0, 0}},
    {"umt5", {0.1, 0.1, 0.1, 0, 0}},
    {"longt5", {0.1, 0.1, 0.1, 0, 0}},
    {"switch_transformers", {0.1, 0.1, 0.1, 0, 0}},
    {"bart", {0, 0.1, 0.1, 0, 0}},
    {"mbart", {0, 0.1, 0.1, 0, 0}},
    {"gemma2", {0, 0, 0, 50, 30}},
};

}  // namespace

UsualDropout usual_dropout(std::string_view model_type) {
  const auto* row = std::ranges::find(dropout_rows, model_type, &DropoutRow::model_type);
  return row == std::end(dropout_rows) ? UsualDropout{} : row->usual;
}

}  // namespace headroom::model
