#include "model/checkpoint/quantisation/undescribed.hpp"

#include <fmt/format.h>

#include "model/checkpoint/checkpoint_methods.hpp"

namespace headroom::model {
namespace {
constexpr std::string_view mark = " (not described)";
}  // namespace

std::string undescribed_scheme(std::string_view method) {
  return std::string(method) + std::string(mark);
}

bool is_undescribed(std::string_view scheme) { return scheme.ends_with(mark); }

std::string known_methods() {
  std::string all;
  for (const CheckpointMethod& row : checkpoint_methods())
    all += (all.empty() ? "" : ", ") + std::string(row.name);
  return all;
}

std::string why_undescribed(std::string_view scheme) {
  return fmt::format(
      "the checkpoint's quant_method '{}': how it packs weights is not described, so its bytes are "
      "not known; parameters are. Described: {}; another precision can be asked for",
      scheme.substr(0, scheme.size() - mark.size()), known_methods());
}

}  // namespace headroom::model
