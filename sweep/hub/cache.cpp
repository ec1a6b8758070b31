// One file an entry: a line of JSON about it, then its bytes.
// <folder>/<endpoint>/<repository>/<revision>/<file>, each escaped as in URLs.
#include "sweep/hub/cache.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <boost/json.hpp>
#include <fstream>

#include "model/checkpoint/formats/gguf.hpp"
#include "sweep/hub/url.hpp"

namespace headroom::sweep {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;
constexpr int format_version = 1;
constexpr std::size_t max_head = 4096;

/// A word that no path can be made of: "..", "/", hidden names are escaped.
std::string folder_name(const std::string& text) {
  std::string name = url_escaped(text);
  if (name.starts_with('.')) name.replace(0, 1, "%2E");
  return name.empty() ? "%" : name;
}

std::string head_of(const CachedFile& file) {
  return json::serialize(json::object{{"headroom_hub_cache", format_version},
                                      {"etag", file.etag},
                                      {"commit", file.commit},
                                      {"fetched", file.fetched},
                                      {"total", file.total},
                                      {"bytes", file.bytes.size()}}) +
         '\n';
}

}  // namespace

std::string day_of(std::chrono::system_clock::time_point time) {
  return fmt::format("{:%Y-%m-%d}", fmt::gmtime(std::chrono::system_clock::to_time_t(time)));
}
std::string today() { return day_of(std::chrono::system_clock::now()); }

fs::path HubCache::path(const Key& key) const {
  return folder_ / folder_name(key.endpoint) / folder_name(key.repository) /
         folder_name(key.revision) / folder_name(key.file);
}

std::optional<CachedFile> HubCache::find(const Key& key) const try {
  if (folder_.empty()) return std::nullopt;
  std::ifstream in(path(key), std::ios::binary);
  std::string head(max_head, '\0');
  in.getline(head.data(), static_cast<std::streamsize>(head.size()));
  if (!in || in.gcount() < 2) return std::nullopt;
  head.resize(static_cast<std::size_t>(in.gcount()) - 1);
  const json::value parsed = json::parse(head);
  if (parsed.at("headroom_hub_cache").as_int64() != format_version) return std::nullopt;
  const auto word = [&](const char* name) { return std::string(parsed.at(name).as_string()); };
  CachedFile file{word("etag"), word("commit"), word("fetched"), parsed.at("total").as_int64(), {}};
  const auto bytes = parsed.at("bytes").to_number<Size>();
  if (bytes > model::max_gguf_header || bytes > std::max<Size>(file.total, 0)) return std::nullopt;
  file.bytes.resize(static_cast<std::size_t>(bytes));
  in.read(file.bytes.data(), bytes);
  if (in.gcount() != bytes || in.peek() != std::ifstream::traits_type::eof()) return std::nullopt;
  return file;
} catch (const std::exception&) {  // not of ours
  return std::nullopt;
}

void HubCache::store(const Key& key, const CachedFile& file) const try {
  if (folder_.empty()) return;
  static std::atomic<int> number = 0;  // distinguishes threads of one process
  const fs::path to = path(key);
  fs::create_directories(to.parent_path());
  std::error_code error;
  fs::permissions(folder_, fs::perms::owner_all, error);  // files of private repositories
  const fs::path fresh = to.string() + fmt::format(".{}.{}", getpid(), number++);
  {
    std::ofstream out(fresh, std::ios::binary);
    const std::string head = head_of(file);
    if (head.size() < max_head) out << head << file.bytes;
    out.close();
    if (!out || head.size() >= max_head) {
      fs::remove(fresh, error);
      return;
    }
  }
  fs::rename(fresh, to);
} catch (const std::exception&) {  // a cache that cannot be written is no reason to fail
}

}  // namespace headroom::sweep
