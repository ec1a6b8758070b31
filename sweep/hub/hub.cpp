#include "sweep/hub/hub.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

#include "hardware/names.hpp"
#include "hardware/text.hpp"
#include "model/checkpoint/formats/shard_index.hpp"
#include "sweep/hub/files.hpp"
#include "sweep/sources/model_from_files.hpp"

namespace headroom::sweep {
namespace {

bool is_word(std::string_view text) {
  const auto allowed = [](unsigned char c) {
    return (c < 128 && std::isalnum(c)) || c == '-' || c == '_' || c == '.';
  };
  return !text.empty() && text.size() <= 96 && std::ranges::all_of(text, allowed) &&
         text.front() != '.' && text.front() != '-' && text.back() != '.' &&
         text.find("..") == std::string_view::npos && text.find("--") == std::string_view::npos;
}

bool is_revision(std::string_view text) {
  const auto strange = [](unsigned char c) { return c <= ' ' || c == 127 || c == '\\'; };
  return !text.empty() && text.size() <= 200 && text.front() != '/' && text.front() != '.' &&
         std::ranges::none_of(text, strange) && text.find("..") == std::string_view::npos;
}

bool names_a_file(std::string_view name) {
  for (const std::string_view end : {".json", ".safetensors", ".gguf", ".bin", ".toml"})
    if (name.ends_with(end)) return true;
  return false;
}

/// "org/name/a.gguf@main" of "https://huggingface.co/org/name/resolve/main/a.gguf", and the rest of
/// any other address of the site. Other texts as they are.
std::string without_site(std::string_view text) {
  constexpr std::string_view sites[] = {"https://huggingface.co/", "http://huggingface.co/",
                                        "https://hf.co/", "huggingface.co/", "hf.co/"};
  const auto* site =
      std::ranges::find_if(sites, [&](std::string_view each) { return text.starts_with(each); });
  if (site == std::end(sites)) return std::string(text);
  const std::vector<std::string_view> parts = split(text.substr(site->size()), '/');
  constexpr std::string_view pages[] = {"resolve", "blob", "raw", "tree"};
  const bool is_page = parts.size() > 3 && std::ranges::find(pages, parts[2]) != std::end(pages);
  if (!is_page) return fmt::format("{}", fmt::join(parts, "/"));
  const std::vector<std::string_view> path(parts.begin() + 4, parts.end());
  return fmt::format("{}/{}{}{}@{}", parts[0], parts[1], path.empty() ? "" : "/",
                     fmt::join(path, "/"), parts[3]);
}

/// "org/name@main/folder/a.gguf" as "org/name/folder/a.gguf@main": a revision has no slash, save
/// "refs/pr/1" and its like.
std::string file_before_revision(std::string_view text) {
  const auto at = text.find('@');
  const std::string_view rest = at == std::string_view::npos ? "" : text.substr(at + 1);
  auto slash = rest.find('/');
  if (rest.starts_with("refs/"))
    for (int i = 0; i < 2 && slash != std::string_view::npos; ++i)
      slash = rest.find('/', slash + 1);
  if (slash == std::string_view::npos || !names_a_file(rest)) return std::string(text);
  return fmt::format("{}{}@{}", text.substr(0, at), rest.substr(slash), rest.substr(0, slash));
}

/// True if a GGUF file's name ends in `quantisation`, before the number of a part.
bool is_quantised_as(std::string_view file, std::string_view quantisation) {
  const std::string stem = lower(model::stem_of(std::string(file))), end = lower(quantisation);
  if (!lower(file).ends_with(".gguf") || stem.starts_with("mmproj") || !stem.ends_with(end))
    return false;
  const std::size_t before = stem.size() - end.size();
  return before > 0 && (stem[before - 1] == '-' || stem[before - 1] == '.');
}

/// The file that `address` names by its quantisation; empty where it names none.
std::string quantised_file(const HubFiles& files, const HubAddress& address) {
  if (address.quantisation.empty()) return address.file;
  std::vector<std::string> others;
  for (const std::string& name : files.names()) {
    if (is_quantised_as(name, address.quantisation)) return name;
    if (name.ends_with(".gguf")) others.push_back(name);
  }
  throw HubError(HubError::Problem::refused,
                 fmt::format("{}: no .gguf file with a name that ends in '{}'; {}",
                             address.repository, address.quantisation,
                             others.empty() ? "it has none"
                                            : fmt::format("it has {}", fmt::join(others, ", "))));
}

}  // namespace

std::optional<HubAddress> parse_hub_address(std::string_view text) {
  HubAddress address;
  const std::string plain = file_before_revision(without_site(text));
  std::string_view name = plain;
  if (const auto at = name.find('@'); at != std::string_view::npos) {
    std::string_view revision = name.substr(at + 1);
    name = name.substr(0, at);
    if (!is_revision(revision)) return std::nullopt;
    address.revision = revision;
  }
  const auto slash = name.find('/');
  if (const auto colon = name.find(':'); slash < colon && colon != std::string_view::npos) {
    address.quantisation = name.substr(colon + 1);
    name = name.substr(0, colon);
    if (!is_word(address.quantisation)) return std::nullopt;
  }
  const auto second = slash == std::string_view::npos ? slash : name.find('/', slash + 1);
  address.repository = name.substr(0, second);
  const auto organisation = name.substr(0, slash);
  const auto own = slash == std::string_view::npos
                       ? organisation
                       : std::string_view(address.repository).substr(slash + 1);
  if (!is_word(organisation) || !is_word(own) || names_a_file(address.repository))
    return std::nullopt;
  if (second == std::string_view::npos) return address;
  const std::string_view path = name.substr(second + 1);
  if (!is_revision(path) || !names_a_file(path)) return std::nullopt;
  const auto last = path.rfind('/');
  address.file = path.substr(last == std::string_view::npos ? 0 : last + 1);
  if (last != std::string_view::npos) address.folder = path.substr(0, last);
  return address;
}

struct Hub::State {
  HubSettings settings;
  HttpClient client{settings.http};
  HubCache cache{settings.cache};
};

Hub::Hub(HubFlags flags, Environment environment)
    : read_([flags = std::move(flags), environment = std::move(environment)] {
        return hub_settings(flags, environment);
      }) {}
Hub::Hub(HubSettings settings) : read_([settings = std::move(settings)] { return settings; }) {}
Hub::~Hub() = default;

const Hub::State& Hub::state() const {
  std::call_once(once_, [this] { state_ = std::make_unique<const State>(read_()); });
  return *state_;
}

bool Hub::was_asked() const { return state_ != nullptr; }

std::optional<model::Model> Hub::find(const ModelReference& reference) const {
  const std::pair key(reference.name, reference.overrides);
  {
    const std::scoped_lock lock(finding_);
    if (const auto known = found_.find(key); known != found_.end()) return known->second;
  }
  auto model = look_up(reference);
  const std::scoped_lock lock(finding_);
  if (model) found_.emplace(key, *model);
  return model;
}

std::optional<model::Model> Hub::look_up(const ModelReference& reference) const {
  const auto address = parse_hub_address(reference.name);
  if (!address) return std::nullopt;
  const State& hub = state();
  const HubFiles files(hub.settings, hub.client, hub.cache, *address);
  const bool bare = address->repository.find('/') == std::string::npos;
  if (bare && address->revision.empty() && !files.is_local()) return std::nullopt;
  FileRequest request{.name = reference.name,
                      .source = "",
                      .file = quantised_file(files, *address),
                      .overrides = reference.overrides,
                      .headers = ReadHeaders::when_needed};
  auto model = model_from_files(files, request);
  if (!model) {
    const auto names = files.names();
    throw HubError(
        HubError::Problem::refused,
        fmt::format(
            "{} has neither config.json nor the header of a checkpoint; {} files: {}",
            reference.name, names.size(),
            fmt::join(names.begin(),
                      names.begin() + std::min<Size>(8, static_cast<Size>(names.size())), ", ")));
  }
  model->source = files.provenance() + (model->stored ? ", the headers of its tensors" : "");
  return model;
}

}  // namespace headroom::sweep
