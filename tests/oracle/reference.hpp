// Reads the reference counts and tensor lists of tests/oracle/data: what transformers builds on the
// meta device. Made by tests/oracle/make.py.
#pragma once

#include <boost/json.hpp>
#include <string>
#include <vector>

namespace headroom::oracle {

/// One model of an archive: its part of counts.json, tensors/NAME.json and configs/NAME.json.
struct Reference {
  std::string name;             ///< "google__gemma-2b"
  std::string config;           ///< the text of its config.json
  boost::json::object counts;   ///< totals, groups, cache, layer lists
  boost::json::object tensors;  ///< params, buffers, tied_groups, modules
};

/// All references of tests/oracle/data/`archive`.tar.gz, in the order of their names. The archive
/// "catalogue" has no configs: they are the catalogue's. A name that starts with '/' is a folder.
/// Throws std::runtime_error for a missing file.
std::vector<Reference> read_references(const std::string& archive);

/// A file of tests/oracle/data; a path that starts with '/' is kept as it is.
std::string data_path(const std::string& name);
/// The content of a JSON string.
std::string text_of(const boost::json::value& value);

}  // namespace headroom::oracle
