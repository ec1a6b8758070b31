// The archives of tests/oracle/data, which tests/oracle/pack.py writes.
#pragma once

#include <map>
#include <string>

namespace headroom::oracle {

/// Contents by name of file.
using Files = std::map<std::string, std::string>;

/// The files of tests/oracle/data/`name`.tar.gz. A name that starts with '/' is a folder: its files
/// that end in .gz are unpacked and lose that ending. Throws std::runtime_error for what cannot be
/// read.
Files read_files(const std::string& name);

/// The file of that name. Throws std::runtime_error where there is none.
const std::string& file_of(const Files& files, const std::string& name);

/// The content of a gzip file.
std::string read_gzip(const std::string& path);

}  // namespace headroom::oracle
