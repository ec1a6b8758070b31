#include "archive.hpp"

#include <boost/iostreams/copy.hpp>
#include <boost/iostreams/filter/gzip.hpp>
#include <boost/iostreams/filtering_stream.hpp>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string_view>

#include "hardware/text_file.hpp"
#include "reference.hpp"

namespace headroom::oracle {
namespace {

/// The entries of a tar file. Source: POSIX.1-1988, ustar: headers of 512 bytes with the name at 0,
/// the size in octal at 124, the type at 156 and the name's prefix at 345; contents in blocks of
/// 512.
Files entries_of(const std::string& tar, const std::string& path) {
  constexpr std::size_t block = 512;
  const auto field = [&](std::size_t at, std::size_t most) {
    const std::string_view all(tar.data() + at, most);
    return std::string(all.substr(0, std::min(all.find('\0'), most)));
  };
  Files files;
  for (std::size_t at = 0; at + block <= tar.size() && tar[at] != '\0';) {
    const std::size_t size = std::stoull(field(at + 124, 12), nullptr, 8);
    if (at + block + size > tar.size()) throw std::runtime_error(path + " is cut off");
    const std::string prefix = field(at + 345, 155), name = field(at, 100);
    files[prefix.empty() ? name : prefix + "/" + name] = tar.substr(at + block, size);
    at += block + (size + block - 1) / block * block;
  }
  return files;
}

Files files_below(const std::string& folder) {
  Files files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    const std::string path = entry.path().string();
    const std::string name = entry.path().lexically_relative(folder).string();
    if (name.ends_with(".gz"))
      files[name.substr(0, name.size() - 3)] = read_gzip(path);
    else
      files[name] = read_text_file(path);
  }
  return files;
}

}  // namespace

Files read_files(const std::string& name) {
  if (name.starts_with('/')) return files_below(name);
  const std::string path = data_path(name + ".tar.gz");
  return entries_of(read_gzip(path), path);
}

const std::string& file_of(const Files& files, const std::string& name) {
  const auto found = files.find(name);
  if (found == files.end()) throw std::runtime_error("no file " + name + " among the references");
  return found->second;
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

}  // namespace headroom::oracle
