// Turns TOML tables into rows: which keys a device, a processor and a host have, and what each may
// hold.
#pragma once

#include <map>
#include <string>

#include "hardware/catalogue.hpp"
#include "hardware/toml_row.hpp"

namespace headroom {

/// Short names that `source` keys may use, with their full text.
using Sources = std::map<std::string, std::string, std::less<>>;

/// Context for reading a row.
template <class Fact>
struct RowContext {
  const Fact* base;  ///< row named by `based_on`; its figures apply where this row gives none
  const Sources& sources;
  std::string_view file;
  const Catalogue& catalogue;  ///< rows read so far: a host's processors
};

/// Throws std::runtime_error naming file, line, key, what was found and what is allowed.
Device read_device(TomlRow& row, const RowContext<Device>& context);
Processor read_processor(TomlRow& row, const RowContext<Processor>& context);
Host read_host(TomlRow& row, const RowContext<Host>& context);

}  // namespace headroom
