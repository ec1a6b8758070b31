// The parts of a class as a GGUF file has them: without the modules that llama.cpp omits, with the
// tensors that it keeps or makes up.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "hardware/text.hpp"
#include "model/checkpoint/gguf/config.hpp"
#include "model/checkpoint/gguf/keys.hpp"
#include "model/checkpoint/gguf/name_rows.hpp"

namespace headroom::model {
namespace {

void omit_modules(Part& part, std::string_view modules) {
  for (const std::string_view omitted : split(modules, '|')) {
    const auto is_below = [&](std::string_view path) {
      return path.starts_with(omitted) &&
             (path.size() == omitted.size() || path[omitted.size()] == '.');
    };
    std::erase_if(part.tensors, [&](const Tensor& t) { return is_below(t.name); });
    std::erase_if(part.modules, [&](const Module& m) { return is_below(m.path); });
    std::erase_if(part.caches, [&](const Cache& one) { return is_below(one.path); });
    std::erase_if(part.blocks, is_below);
  }
}

/// The tensor of layer `block` that llama.cpp has for `module`. Null if the file has none.
const TensorHeader* stored_in(const TensorList& list, std::size_t block, std::string_view module) {
  const auto rows = gguf_block_names();
  const auto row = std::ranges::find(rows, module.substr(module.rfind('.') + 1), &GgufModule::end);
  if (row == rows.end()) return nullptr;
  const std::string name =
      fmt::format("blk.{}.{}.weight", block, row->gguf.substr(0, row->gguf.find('|')));
  const auto at = std::ranges::find(list.tensors, name, &TensorHeader::name);
  return at == list.tensors.end() ? nullptr : &*at;
}

/// Adds `modules` to each layer that lacks them and has them in the file.
void add_modules(Part& part, std::string_view modules, const TensorList& list) {
  std::set<std::string_view> known;
  for (const Tensor& tensor : part.tensors) known.insert(tensor.name);
  std::vector<std::pair<std::string, Tensor>> added;  // with the block that they belong to
  for (std::size_t i = 0; i < part.blocks.size(); ++i)
    for (const std::string_view module : split(modules, '|')) {
      const std::string name = fmt::format("{}.{}.weight", part.blocks[i], module);
      if (known.contains(name)) continue;
      if (const TensorHeader* found = stored_in(list, i, module))
        added.push_back({part.blocks[i] + '.',
                         {.name = name,
                          .shape = found->shape,
                          .role = found->shape.size() > 1 ? Role::matmul : Role::norm}});
    }
  for (auto& [block, tensor] : added) {
    const auto first = std::ranges::find_if(
        part.tensors, [&](const Tensor& t) { return t.name.starts_with(block); });
    part.tensors.insert(first, std::move(tensor));
  }
}

}  // namespace

Part as_gguf(Part part, const GgufHeader& header, const TensorList& tensors) {
  const std::string name = header.text("general.architecture");
  for (const GgufArchitecture& row : gguf_architectures()) {
    if (row.name != name) continue;
    if (!row.without.empty()) omit_modules(part, row.without);
    if (!row.with.empty()) add_modules(part, row.with, tensors);
  }
  return part;
}

}  // namespace headroom::model
