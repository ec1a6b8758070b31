// Part of the build: reads the engines' TOML files and the tables of measured constants, and writes
// the record that is embedded into the program.
//   headroom_engines RECORD constants.tsv effects.tsv FILE.toml…
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "hardware/record_program.hpp"
#include "hardware/text_file.hpp"
#include "model/engine/engine_record.hpp"
#include "model/engine/engine_rows.hpp"
#include "model/engine/measured_constants.hpp"

namespace {

using namespace headroom;

std::string record_of(const std::string& constants, const std::string& effects,
                      std::vector<std::filesystem::path> files) {
  std::ranges::sort(files);
  std::vector<model::Engine> rows;
  for (const auto& file : files)
    model::read_engines(rows, read_text_file(file), file.filename().string());
  std::erase_if(rows, [](const model::Engine& row) { return row.is_template; });
  model::apply_measured(rows, constants, effects);
  return model::to_record(rows);
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 5) {
    std::fputs("usage: headroom_engines RECORD constants.tsv effects.tsv FILE.toml...\n", stderr);
    return 2;
  }
  return headroom::write_record(arguments[1], [&] {
    return record_of(read_text_file(arguments[2]), read_text_file(arguments[3]),
                     {arguments + 4, arguments + count});
  });
}
