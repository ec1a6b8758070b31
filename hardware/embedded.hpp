// Files embedded in the binary. The shipped catalogues need no network.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>

namespace headroom {

struct EmbeddedFile {
  std::string_view name;   ///< file name without its folder
  std::string_view bytes;  ///< whole content
};

/// Embedded files, sorted by name. The table holds distances instead of addresses. A start of the
/// program therefore relocates nothing, however many files there are.
class EmbeddedFiles {
 public:
  /// A row of the table, as the build writes it: distances from the table's start, and lengths.
  struct Row {
    std::uint32_t name, name_bytes, content, content_bytes;
  };

  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = EmbeddedFile;
    using difference_type = std::ptrdiff_t;
    using pointer = void;
    using reference = EmbeddedFile;

    Iterator(const EmbeddedFiles* files, std::size_t at) : files_(files), at_(at) {}
    EmbeddedFile operator*() const { return (*files_)[at_]; }
    Iterator& operator++() { return ++at_, *this; }
    bool operator==(const Iterator& other) const { return at_ == other.at_; }

   private:
    const EmbeddedFiles* files_;
    std::size_t at_;
  };

  EmbeddedFiles(const Row* rows, std::size_t size) : rows_(rows), size_(size) {}
  std::size_t size() const { return size_; }
  EmbeddedFile operator[](std::size_t at) const {
    const Row& row = rows_[at];
    const char* const start = reinterpret_cast<const char*>(rows_);
    return {{start + row.name, row.name_bytes}, {start + row.content, row.content_bytes}};
  }
  Iterator begin() const { return {this, 0}; }
  Iterator end() const { return {this, size_}; }
  /// The content of the file `name`, by binary search. Empty where there is no such file.
  std::string_view content(std::string_view name) const;

 private:
  const Row* rows_;
  std::size_t size_;
};

/// One file: the record of hardware/catalogue/*.toml (hardware/catalogue_record.hpp).
EmbeddedFiles embedded_hardware();
/// One file: hardware/prices/reference.toml.
EmbeddedFiles embedded_prices();
/// model/describe/catalogue/*.json and *.tsv, model/engine/measured_cards.tsv and the tables of
/// model/train. The build adds model_names.tsv: names of the catalogue in lower case, with and
/// without their owner, and the file of each.
EmbeddedFiles embedded_models();
/// model/engine/engines/*.toml, for model/engine/policy_rows.hpp.
EmbeddedFiles embedded_engines();
/// One file: the record of the engines with their measured constants
/// (model/engine/engine_record.hpp).
EmbeddedFiles embedded_engine_record();
/// sweep/names/*.tsv: the names that published tables use.
EmbeddedFiles embedded_names();
/// report/page/*: style and script of a run's page.
EmbeddedFiles embedded_page();

}  // namespace headroom
