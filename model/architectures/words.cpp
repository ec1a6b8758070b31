// What of the shared words is too long for a header.
#include "model/architectures/words.hpp"

#include <boost/json.hpp>
#include <stdexcept>
#include <utility>

namespace headroom::model::families {

Tensor& tensor_of(Part& part, std::string_view name) {
  for (auto& t : part.tensors)
    if (t.name == name) return t;
  throw std::logic_error("no tensor called " + std::string(name));
}

Part tied(Part part, std::string_view one, std::string_view other) {
  Tensor *first = &tensor_of(part, one), *second = &tensor_of(part, other);
  if (second < first) std::swap(first, second);
  second->tied_to = first->name;
  return part;
}

Size labels(const Config& c) {
  if (c.has("num_labels")) return c.dim({"num_labels"});
  if (!c.has("id2label")) return 2;
  const auto size = static_cast<Size>(c.section("id2label").object().size());
  return size > 0 ? size : 2;
}

}  // namespace headroom::model::families
