#include <unordered_map>

#include "model/checkpoint/gguf/name_rows.hpp"

namespace headroom::model {
namespace {

/// Finds rows by their ends. The first of equal ends applies.
class RowsByEnd {
 public:
  explicit RowsByEnd(std::span<const GgufModule> rows) {
    for (const GgufModule& row : rows) rows_.emplace(row.end, &row);
  }
  const GgufModule* longest_end_of(std::string_view path) const {
    while (true) {
      if (const auto row = rows_.find(path); row != rows_.end()) return row->second;
      const auto dot = path.find('.');
      if (dot == std::string_view::npos) return nullptr;
      path.remove_prefix(dot + 1);
    }
  }

 private:
  std::unordered_map<std::string_view, const GgufModule*> rows_;
};

}  // namespace

const GgufModule* gguf_block_row(std::string_view path) {
  static const RowsByEnd rows(gguf_block_names());
  return rows.longest_end_of(path);
}

const GgufModule* gguf_outer_row(std::string_view path) {
  static const RowsByEnd rows(gguf_outer_names());
  return rows.longest_end_of(path);
}

}  // namespace headroom::model
