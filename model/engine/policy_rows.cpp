#include "model/engine/policy_rows.hpp"

#include "hardware/embedded.hpp"
#include "model/engine/engine_rows.hpp"

namespace headroom::model {

std::vector<Engine> policy_rows() {
  static const std::vector<Engine> all = [] {
    std::vector<Engine> rows;
    for (const EmbeddedFile& file : embedded_engines()) read_engines(rows, file.bytes, file.name);
    std::erase_if(rows, [](const Engine& row) { return row.is_template; });
    return rows;
  }();
  return all;
}

}  // namespace headroom::model
