// Reads files of rows and overlays them.
#include "hardware/catalogue.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "hardware/catalogue_files.hpp"
#include "hardware/catalogue_rows.hpp"
#include "hardware/names.hpp"
#include "hardware/text_file.hpp"

namespace headroom {
namespace {

template <class Fact>
std::vector<std::string> names_of(const std::vector<Fact>& facts) {
  std::vector<std::string> result;
  for (const Fact& each : facts) result.push_back(each.name);
  return result;
}

/// One file of rows.
struct Document {
  std::string file;
  toml::table root;
};

Document parse(std::string_view text, std::string_view file) {
  Document result{std::string(file), parse_toml(text, file)};
  constexpr std::array<std::string_view, 5> known = {"device", "processor", "host", "sources",
                                                     "default_host"};
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
Processor read(TomlRow& row, const RowContext<Processor>& context) {
  return read_processor(row, context);
}
Host read(TomlRow& row, const RowContext<Host>& context) { return read_host(row, context); }

/// Overlays the rows called `kind` of one document on `facts`, each after the row it is based on.
template <class Fact>
class Layer {
 public:
  Layer(const Document& document, std::string_view kind, const Sources& sources,
        const Catalogue& catalogue, std::vector<Fact>& facts)
      : file_(document.file), sources_(sources), catalogue_(catalogue), facts_(facts) {
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
    Fact fact = read(row, RowContext<Fact>{base, sources_, file_, catalogue_});
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
  const Catalogue& catalogue_;
  std::vector<Fact>& facts_;
  std::map<std::string, const toml::table*> tables_;
  std::vector<std::string> order_;
  std::set<std::string> open_, settled_;
};

Catalogue lay_over(Catalogue base, const std::vector<Document>& documents) {
  Sources sources;
  for (const Document& each : documents) add_sources(each, sources);
  for (const Document& each : documents) {
    Layer<Device>(each, "device", sources, base, base.devices).lay();
    Layer<Processor>(each, "processor", sources, base, base.processors).lay();
  }
  for (const Document& each : documents)  // a host names processors of any file
    Layer<Host>(each, "host", sources, base, base.hosts).lay();
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

Catalogue read_catalogue(std::vector<std::filesystem::path> files) {
  std::ranges::sort(files);
  std::vector<Document> documents;
  for (const std::filesystem::path& each : files)
    documents.push_back(parse(read_text_file(each.string()), each.filename().string()));
  return lay_over({}, documents);
}

Catalogue overlay(Catalogue base, std::string_view toml, std::string_view file) {
  std::vector<Document> documents;
  documents.push_back(parse(toml, file));
  return lay_over(std::move(base), documents);
}

}  // namespace headroom
