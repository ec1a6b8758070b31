// Reading of the reference files: JSON, some of it compressed.
#include "reference.hpp"

#include <boost/iostreams/copy.hpp>
#include <boost/iostreams/filter/gzip.hpp>
#include <boost/iostreams/filtering_stream.hpp>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "hardware/embedded.hpp"

namespace headroom::oracle {

namespace json = boost::json;

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string read_gzip(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path);
  boost::iostreams::filtering_istream in;
  in.push(boost::iostreams::gzip_decompressor());
  in.push(file);
  std::stringstream text;
  boost::iostreams::copy(in, text);
  return text.str();
}

namespace {

std::string catalogue_config(const std::string& name) {
  for (const auto& file : embedded_models())
    if (file.name == name + ".json") return std::string(file.bytes);
  throw std::runtime_error("no catalogue entry " + name);
}

}  // namespace

std::vector<Reference> read_references(const std::string& folder) {
  const std::string base =
      folder.starts_with('/') ? folder : std::string(HEADROOM_TEST_DATA) + "/data/" + folder;
  const char* only = std::getenv("HEADROOM_ORACLE");  // a part of the names to look at
  std::vector<Reference> all;
  const json::value index = json::parse(read_file(base + "/counts.json"));
  for (const auto& [key, counts] : index.as_object()) {
    const std::string name(key);
    if (only && name.find(only) == std::string::npos) continue;
    all.push_back(
        {name,
         folder.empty() ? catalogue_config(name) : read_file(base + "/configs/" + name + ".json"),
         counts.as_object(),
         json::parse(read_gzip(base + "/tensors/" + name + ".json.gz")).as_object()});
  }
  return all;
}

}  // namespace headroom::oracle
