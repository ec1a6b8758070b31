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
const TensorHeader* stored_in(const TensorList& list, std::size_t block, std::string_view module,
                              std::string_view tail) {
  const GgufModule* row = gguf_block_row(module);
  if (row == nullptr) return nullptr;
  for (const std::string_view alternative : split(row->gguf, '|')) {
    const bool whole = alternative.ends_with(".weight") && tail == ".bias";
    const std::string name = fmt::format("blk.{}.{}{}", block, alternative, whole ? "" : tail);
    const auto at = std::ranges::find(list.tensors, name, &TensorHeader::name);
    if (at != list.tensors.end()) return &*at;
  }
  return nullptr;
}

/// Adds `modules` to each layer that lacks them and has them in the file.
void add_modules(Part& part, std::string_view modules, const TensorList& list) {
  std::set<std::string_view> known;
  for (const Tensor& tensor : part.tensors) known.insert(tensor.name);
  std::vector<std::pair<std::string, Tensor>> added;  // with the block that they belong to
  for (std::size_t i = 0; i < part.blocks.size(); ++i)
    for (const std::string_view module : split(modules, '|'))
      for (const std::string_view tail : {".weight", ".bias"}) {
        const std::string plain = fmt::format("{}.{}", part.blocks[i], module);
        if (known.contains(plain) || known.contains(plain + std::string(tail))) continue;
        if (const TensorHeader* found = stored_in(list, i, module, tail))
          added.push_back({part.blocks[i] + '.',
                           {.name = plain + std::string(tail),
                            .shape = found->shape,
                            .role = tail == ".bias"           ? Role::bias
                                    : found->shape.size() > 1 ? Role::matmul
                                                              : Role::norm}});
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
