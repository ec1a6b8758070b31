// Shared by the programs of the build that write an embedded record.
#pragma once

#include <cstdio>
#include <exception>
#include <fstream>
#include <stdexcept>

namespace headroom {

/// Writes the bytes that `record()` returns to the file `path`. Returns the program's exit status:
/// 1 where either fails, and says why on standard error.
template <class Record>
int write_record(const char* path, Record record) {
  try {
    std::ofstream file(path, std::ios::binary);
    file << record();
    file.close();
    if (!file) throw std::runtime_error("the record cannot be written");
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}

}  // namespace headroom
