// Part of the build: reads the catalogue's TOML files and writes the record that is embedded into
// the program.
//   headroom_catalogue RECORD FILE.toml…
#include <cstdio>
#include <exception>
#include <fstream>

#include "hardware/catalogue_files.hpp"
#include "hardware/catalogue_record.hpp"

int main(int count, char** arguments) {
  if (count < 3) {
    std::fputs("usage: headroom_catalogue RECORD FILE.toml...\n", stderr);
    return 2;
  }
  try {
    const std::vector<std::filesystem::path> files(arguments + 2, arguments + count);
    std::ofstream record(arguments[1], std::ios::binary);
    record << headroom::to_record(headroom::read_catalogue(files));
    record.close();
    if (!record) throw std::runtime_error("the record cannot be written");
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
