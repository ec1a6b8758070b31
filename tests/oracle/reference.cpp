// Reading of the reference files: JSON, some of it compressed.
#include "reference.hpp"

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "archive.hpp"
#include "hardware/embedded.hpp"
#include "hardware/text_file.hpp"
#include "tests/support/paths.hpp"

namespace headroom::oracle {

namespace json = boost::json;

std::string data_path(const std::string& name) {
  return name.starts_with('/') ? name : test::source_path("tests/oracle/data/" + name);
}

std::string text_of(const json::value& value) {
  return std::string(std::string_view(value.as_string()));
}

namespace {

std::string catalogue_config(const std::string& name) {
  for (const auto& file : embedded_models())
    if (file.name == name + ".json") return std::string(file.bytes);
  throw std::runtime_error("no catalogue entry " + name);
}

}  // namespace

std::vector<Reference> read_references(const std::string& archive) {
  const Files files = read_files(archive);
  const char* only = std::getenv("HEADROOM_ORACLE");  // a part of the names to look at
  std::vector<Reference> all;
  const json::value index = json::parse(file_of(files, "counts.json"));
  for (const auto& [key, counts] : index.as_object()) {
    const std::string name(key);
    if (only && name.find(only) == std::string::npos) continue;
    all.push_back({name,
                   archive == "catalogue" ? catalogue_config(name)
                                          : file_of(files, "configs/" + name + ".json"),
                   counts.as_object(),
                   json::parse(file_of(files, "tensors/" + name + ".json")).as_object()});
  }
  return all;
}

}  // namespace headroom::oracle
