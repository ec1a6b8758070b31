// Files that travel inside the binary: the shipped catalogues, so that everything works with no
// network.
#pragma once

#include <span>
#include <string_view>

namespace headroom {

struct EmbeddedFile {
  std::string_view name;   ///< file name without its folder
  std::string_view bytes;  ///< whole content
};

/// One file: the record of hardware/catalogue/*.toml (hardware/catalogue_record.hpp).
std::span<const EmbeddedFile> embedded_hardware();
/// model/describe/catalogue/*.json and *.tsv, in the order of their names.
std::span<const EmbeddedFile> embedded_models();
/// sweep/names/*.tsv: names as published tables write them.
std::span<const EmbeddedFile> embedded_names();

/// report/page/*: style and script of a run's page.
std::span<const EmbeddedFile> embedded_page();

}  // namespace headroom
