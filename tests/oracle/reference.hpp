// Reads the reference counts and tensor lists of tests/oracle/data: what transformers builds on the
// meta device. Made by tests/oracle/make.py; see the README there.
#pragma once

#include <boost/json.hpp>
#include <string>
#include <vector>

namespace headroom::oracle {

/// One folder of references: counts.json, tensors/NAME.json.gz, and configs.
struct Reference {
  std::string name;             ///< "google__gemma-2b"
  std::string config;           ///< the text of its config.json
  boost::json::object counts;   ///< totals, groups, cache, layer lists
  boost::json::object tensors;  ///< params, buffers, tied_groups, modules
};

/// All of a folder below tests/oracle/data ("" for the catalogue's models), in the order of their
/// names; a path that starts with '/' is taken as it stands. Throws std::runtime_error on a missing
/// file.
std::vector<Reference> read_references(const std::string& folder);

std::string read_file(const std::string& path);
/// The content of a gzip file.
std::string read_gzip(const std::string& path);

}  // namespace headroom::oracle
