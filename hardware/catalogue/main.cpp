// Part of the build: reads the catalogue's TOML files and writes the record that is embedded into
// the program.
//   headroom_catalogue RECORD FILE.toml…
#include <cstdio>
#include <filesystem>
#include <vector>

#include "hardware/catalogue_files.hpp"
#include "hardware/catalogue_record.hpp"
#include "hardware/record_program.hpp"

int main(int count, char** arguments) {
  if (count < 3) {
    std::fputs("usage: headroom_catalogue RECORD FILE.toml...\n", stderr);
    return 2;
  }
  const std::vector<std::filesystem::path> files(arguments + 2, arguments + count);
  return headroom::write_record(
      arguments[1], [&] { return headroom::to_record(headroom::read_catalogue(files)); });
}
