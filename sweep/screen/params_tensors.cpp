// `headroom params --tensors`: one row a tensor.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>

#include "model/checkpoint/quantisation/stored.hpp"
#include "sweep/screen/params_output.hpp"

namespace headroom::sweep {
namespace {

using model::Difference;
using model::Model;

constexpr std::string_view roles[] = {"matmul", "embedding", "head",  "norm",
                                      "bias",   "conv",      "other", "buffer"};

std::string shape_text(const model::Shape& shape) {
  return fmt::format("{}", fmt::join(shape, "x"));
}

/// The tensors of the description, or, where there is none, of the headers.
void add_tensor_rows(const Model& model, report::Table& table) {
  const model::Stored* stored = model.stored.get();
  const bool compared = model.undescribed.empty() && stored != nullptr;
  std::map<std::string_view, const Difference*> differs;
  if (compared)
    for (const Difference& each : stored->comparison.differences) differs[each.name] = &each;
  for (std::size_t i = 0; i < model.part.tensors.size(); ++i) {
    const model::Tensor& tensor = model.part.tensors[i];
    std::vector<report::Value> row = {model.name,
                                      tensor.name,
                                      shape_text(tensor.shape),
                                      std::string(roles[static_cast<std::size_t>(tensor.role)]),
                                      tensor.elements(),
                                      tensor.tied_to};
    report::Value dtype, bytes, difference;
    if (!model.undescribed.empty()) {
      dtype = std::string(stored->list.tensors[i].dtype);
      bytes = stored->list.tensors[i].bytes.count();
    } else if (compared && stored->comparison.stored[i].parts > 0 &&
               !stored->comparison.stored[i].dtype.empty()) {
      dtype = std::string(stored->comparison.stored[i].dtype);
      bytes = stored->comparison.stored[i].bytes.count();
    }
    if (const auto it = differs.find(tensor.name); it != differs.end())
      difference = fmt::format("{}: {}", model::name_of(it->second->kind), it->second->text);
    for (auto& value : {dtype, bytes, difference}) row.push_back(value);
    table.rows.push_back(std::move(row));
  }
  if (!compared) return;
  for (const Difference& each : stored->comparison.differences)
    if (each.kind == Difference::Kind::unexpected)
      table.rows.push_back({model.name,
                            each.name,
                            {},
                            {},
                            {},
                            {},
                            {},
                            {},
                            fmt::format("unexpected: {}", each.text)});
}

}  // namespace

report::Table tensor_table(const std::vector<Model>& models) {
  report::Table table{
      {"model", "tensor", "shape", "role", "elements", "tied_to", "dtype", "bytes", "difference"},
      {}};
  for (const Model& model : models) add_tensor_rows(model, table);
  return table;
}

}  // namespace headroom::sweep
