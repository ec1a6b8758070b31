// Looks rows up by the names that people and drivers use, and lays files of rows over each other.
#include "hardware/catalogue.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <set>

#include "hardware/catalogue_files.hpp"
#include "hardware/catalogue_rows.hpp"
#include "hardware/names.hpp"

namespace headroom {
namespace {

/// Makers and brands that drivers and people put before the name of a product.
constexpr auto brands =
    std::to_array<std::string_view>({"nvidia", "amd", "intel", "apple", "google", "aws", "geforce",
                                     "tesla", "quadro", "instinct", "radeon"});

/// Lower-case words of a name without the maker: "NVIDIA GeForce RTX 4090" is {rtx, 4090}.
std::vector<std::string> words(std::string_view name) {
  std::vector<std::string> result(1);
  for (const char c : lower(name)) {
    if (std::string_view(" -_()").find(c) != std::string_view::npos)
      result.emplace_back();
    else
      result.back() += c;
  }
  std::erase_if(result, [](const std::string& each) {
    return each.empty() || std::ranges::find(brands, each) != brands.end();
  });
  return result;
}

template <class Fact>
std::vector<std::string> names_of(const std::vector<Fact>& facts) {
  std::vector<std::string> result;
  for (const Fact& each : facts) result.push_back(each.name);
  return result;
}

/// Rows whose names hold all words of `name`: what "a100-40gb" may mean. Slices and other rows that
/// only add to the name of a row that fits are left out.
template <class Fact>
std::vector<std::string> candidates(const std::vector<Fact>& facts, std::string_view name) {
  const std::vector<std::string> asked = words(name);
  std::vector<std::string> fitting;
  for (const Fact& each : facts) {
    const std::vector<std::string> held = words(each.name);
    if (!asked.empty() && std::ranges::all_of(asked, [&](const std::string& word) {
          return std::ranges::find(held, word) != held.end();
        }))
      fitting.push_back(each.name);
  }
  std::vector<std::string> result;
  for (const std::string& each : fitting) {
    const auto is_part_of = [&](const std::string& other) { return each.starts_with(other + "-"); };
    if (std::ranges::none_of(fitting, is_part_of)) result.push_back(each);
  }
  return result;
}

UnknownName ambiguous(std::string_view kind, std::string_view name,
                      const std::vector<std::string>& fitting) {
  return UnknownName(
      fmt::format("{} '{}' is ambiguous; it could be {}", kind, name, fmt::join(fitting, ", ")));
}

template <class Fact>
const Fact& look_up(const std::vector<Fact>& facts, std::string_view kind, std::string_view name) {
  const std::string asked = spelling(name);
  std::vector<const Fact*> by_alias;
  for (const Fact& each : facts) {
    if (spelling(each.name) == asked) return each;
    for (const std::string& alias : each.aliases)
      if (spelling(alias) == asked) {
        by_alias.push_back(&each);
        break;
      }
  }
  if (by_alias.size() == 1) return *by_alias.front();
  std::vector<std::string> fitting;
  for (const Fact* each : by_alias) fitting.push_back(each->name);
  if (fitting.empty()) fitting = candidates(facts, name);
  if (fitting.size() > 1) throw ambiguous(kind, name, fitting);
  throw unknown_name(kind, name, names_of(facts));
}

/// One file of rows.
struct Document {
  std::string file;
  toml::table root;
};

Document parse(std::string_view text, std::string_view file) {
  Document result{std::string(file), parse_toml(text, file)};
  constexpr std::array<std::string_view, 4> known = {"device", "host", "sources", "default_host"};
  require_known_keys(result.root, known, file);
  return result;
}

void add_sources(const Document& document, Sources& sources) {
  const toml::node* node = document.root.get("sources");
  if (node == nullptr) return;
  TomlRow whole(document.root, document.file);
  if (!node->is_table()) whole.fail("sources", "expected a table of short names and texts");
  TomlRow row(*node->as_table(), document.file);
  for (const auto& [key, value] : *node->as_table())
    sources.insert_or_assign(std::string(key.str()), row.required_text(key.str()));
}

Device read(TomlRow& row, const RowContext<Device>& context) { return read_device(row, context); }
Host read(TomlRow& row, const RowContext<Host>& context) { return read_host(row, context); }

/// Lays the rows called `kind` of one document over `facts`, each after the row it is based on.
template <class Fact>
class Layer {
 public:
  Layer(const Document& document, std::string_view kind, const Sources& sources,
        std::vector<Fact>& facts)
      : file_(document.file), sources_(sources), facts_(facts) {
    TomlRow root(document.root, file_);
    for (const toml::table* table : root.tables(kind)) {
      TomlRow row(*table, file_);
      const std::string name = row.required_text("name");
      if (!tables_.emplace(name, table).second)
        row.fail("name", fmt::format("found '{}' twice in this file; expected it once", name));
      order_.push_back(name);
    }
  }

  void lay() {
    for (const std::string& name : order_) settle(name);
  }

 private:
  void settle(const std::string& name) {
    if (settled_.contains(name)) return;
    TomlRow row(*tables_.at(name), file_);
    if (!open_.insert(name).second)
      row.fail("based_on", fmt::format("found a circle through '{}'; expected one to end", name));
    const auto base_name = row.text("based_on");
    const Fact* base = nullptr;
    if (base_name) {
      if (*base_name != name && tables_.contains(*base_name)) settle(*base_name);
      base = existing(*base_name);
      if (base == nullptr)
        row.fail("based_on", unknown_name("row", *base_name, names_of(facts_)).what());
    }
    Fact fact = read(row, RowContext<Fact>{base, sources_, file_});
    if (Fact* old = existing(name))
      *old = std::move(fact);
    else
      facts_.push_back(std::move(fact));
    settled_.insert(name);
  }

  Fact* existing(const std::string& name) {
    const auto found = std::ranges::find(facts_, name, &Fact::name);
    return found == facts_.end() ? nullptr : &*found;
  }

  std::string_view file_;
  const Sources& sources_;
  std::vector<Fact>& facts_;
  std::map<std::string, const toml::table*> tables_;
  std::vector<std::string> order_;
  std::set<std::string> open_, settled_;
};

Catalogue lay_over(Catalogue base, const std::vector<Document>& documents) {
  Sources sources;
  for (const Document& each : documents) add_sources(each, sources);
  for (const Document& each : documents) {
    Layer<Device>(each, "device", sources, base.devices).lay();
    Layer<Host>(each, "host", sources, base.hosts).lay();
  }
  for (const Document& each : documents) {
    TomlRow root(each.root, each.file);
    if (const auto name = root.text("default_host")) {
      if (std::ranges::find(base.hosts, *name, &Host::name) == base.hosts.end())
        root.fail("default_host", unknown_name("host", *name, names_of(base.hosts)).what());
      base.default_host = *name;
    }
  }
  return base;
}

}  // namespace

std::string spelling(std::string_view name) {
  return fmt::format("{}", fmt::join(words(name), ""));
}

const Device& Catalogue::device(std::string_view name) const {
  return look_up(devices, "device", name);
}

const Host& Catalogue::host(std::string_view name) const { return look_up(hosts, "host", name); }

Catalogue read_catalogue(std::vector<std::filesystem::path> files) {
  std::ranges::sort(files);
  std::vector<Document> documents;
  for (const std::filesystem::path& each : files) {
    std::ifstream in(each, std::ios::binary);
    if (!in) throw std::runtime_error(fmt::format("{}: cannot be read", each.string()));
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    documents.push_back(parse(text, each.filename().string()));
  }
  return lay_over({}, documents);
}

Catalogue overlay(Catalogue base, std::string_view toml, std::string_view file) {
  std::vector<Document> documents;
  documents.push_back(parse(toml, file));
  return lay_over(std::move(base), documents);
}

}  // namespace headroom
