// Files embedded in the binary. The shipped catalogues need no network.
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
/// model/describe/catalogue/*.json and *.tsv, sorted by name.
std::span<const EmbeddedFile> embedded_models();
/// model/engine/engines/*.toml, sorted by name.
std::span<const EmbeddedFile> embedded_engines();
/// sweep/names/*.tsv: the names that published tables use.
std::span<const EmbeddedFile> embedded_names();

/// report/page/*: style and script of a run's page.
std::span<const EmbeddedFile> embedded_page();

}  // namespace headroom
