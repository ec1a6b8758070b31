#include "sweep/factors.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <set>
#include <tuple>

#include "hardware/names.hpp"
#include "hardware/quantity_text.hpp"
#include "hardware/text_file.hpp"
#include "hardware/toml_row.hpp"
#include "model/engine/measured_constants.hpp"

namespace headroom::sweep {
namespace {

using model::Engine;
using model::NamedConstant;

constexpr Limit most{model::NumberLimits().most};

/// A literal string of TOML.
std::string toml_quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out + '"';
}

const NamedConstant* find_constant(std::string_view name) {
  for (const NamedConstant& each : model::named_constants())
    if (each.name == name) return &each;
  return nullptr;
}

std::vector<std::string> constant_names() {
  std::vector<std::string> all;
  for (const NamedConstant& each : model::named_constants()) all.emplace_back(each.name);
  return all;
}

template <class Enum>
std::vector<std::string> names_of(std::size_t count) {
  std::vector<std::string> all{"any"};
  for (std::size_t i = 0; i < count; ++i) all.emplace_back(model::name_of(static_cast<Enum>(i)));
  return all;
}

void require_one_of(TomlRow& row, std::string_view key, const std::string& found,
                    const std::vector<std::string>& allowed) {
  if (std::ranges::find(allowed, found) == allowed.end())
    row.fail(key, fmt::format("found '{}', expected one of {}", found, fmt::join(allowed, ", ")));
}

Factor read_factor(const toml::table& table, std::string_view file) {
  TomlRow row(table, file);
  Factor f;
  f.runtime = row.required_text("runtime");
  f.name = row.required_text("name");
  f.cards = row.text("cards").value_or("any");
  f.width = row.text("width").value_or("any");
  if (!row.has("value")) row.fail("value", "missing; expected a number");
  f.value = *row.number("value", most);
  f.low = row.number("low", most).value_or(f.value);
  f.high = row.number("high", most).value_or(f.value);
  f.measurements = static_cast<int>(row.number("measurements", most).value_or(0));
  f.source = row.text("source").value_or(std::string(file));
  std::vector<std::string> engines;
  for (const Engine& each : model::engines()) engines.emplace_back(each.name);
  require_one_of(row, "runtime", f.runtime, engines);
  require_one_of(row, "name", f.name, constant_names());
  require_one_of(row, "cards", f.cards, names_of<model::CardClass>(model::card_classes));
  require_one_of(row, "width", f.width, names_of<model::Width>(model::widths));
  const NamedConstant& which = *find_constant(f.name);
  if (const auto problem = problem_of(which, {f.value, f.low, f.high, 0, {}}); !problem.empty())
    row.fail("value", fmt::format("{}: {}", f.name, problem));
  if (which.of_engine && (f.cards != "any" || f.width != "any"))
    row.fail("cards", fmt::format("{} is the same for every card and width", f.name));
  row.finish();
  return f;
}

/// Lays one constant over every row that shares it; one that is named for any card or width, over
/// all of them, measured or not.
void put(std::vector<Engine>& rows, const Factor& f, std::string_view source) {
  const NamedConstant& which = *find_constant(f.name);
  const auto& family = std::ranges::find(rows, f.runtime, &Engine::name)->family;
  const model::Constant constant{f.value, f.low, f.high, f.measurements, source};
  for (Engine& row : rows) {
    if (row.family != family) continue;
    if (which.of_engine) {
      which.in(row) = constant;
      continue;
    }
    for (std::size_t c = 0; c < model::card_classes; ++c)
      for (std::size_t w = 0; w < model::widths; ++w)
        if ((f.cards == "any" || f.cards == model::name_of(static_cast<model::CardClass>(c))) &&
            (f.width == "any" || f.width == model::name_of(static_cast<model::Width>(w))))
          row.kernels.efficiency[c][w].*which.of_efficiency = constant;
  }
}

std::pair<std::string, double> setting_of(const std::string& text) {
  const auto equals = text.find('=');
  double value = 0;
  const auto* first = text.data() + std::min(equals + 1, text.size());
  const auto* last = text.data() + text.size();
  const auto [end, error] = std::from_chars(first, last, value);
  if (equals == std::string::npos || equals == 0 || error != std::errc{} || end != last)
    throw UsageError(fmt::format(
        "--set: found '{}', expected NAME=VALUE with a number, such as decode_bandwidth=0.8",
        text));
  const std::string name = text.substr(0, equals);
  const NamedConstant* which = find_constant(name);
  if (!which) throw unknown_name("constant", name, constant_names());
  if (const auto problem = problem_of(*which, {value, value, value, 0, {}}); !problem.empty())
    throw UsageError(fmt::format("--set {}: {}", name, problem));
  return {name, value};
}

/// True if a profile of `measured` applies to `machine`. Cards alone stand for any host.
bool is_of(std::string_view machine, const std::string& measured) {
  return machine == measured || machine.starts_with(measured + " @ ");
}

/// "RAM bandwidth", for each rate that was measured.
std::vector<std::string_view> names_of(const MeasuredHost& host) {
  std::vector<std::string_view> all;
  if (host.ram_bandwidth) all.emplace_back("RAM bandwidth");
  if (host.host_bus) all.emplace_back("bus to a card");
  if (host.disk_read) all.emplace_back("disk read");
  return all;
}

std::string rate_text(BytesPerSecond value) {
  return fmt::format("{:.4g}GB/s", value.value() / 1e9);
}

}  // namespace

std::string profile_text(const FactorProfile& p) {
  std::vector<std::string> files;
  for (const auto& file : p.files) files.push_back(toml_quoted(file));
  std::string text = fmt::format(
      "# A factor profile: constants of engines as measured on one machine (headroom calibrate).\n"
      "# --factors FILE uses them instead of the shipped ones.\n\n"
      "machine = {}\ndate = {}\nheadroom = {}\nfiles = [{}]\n",
      toml_quoted(p.machine), toml_quoted(p.date), toml_quoted(HEADROOM_VERSION),
      fmt::join(files, ", "));
  if (!p.errors.empty()) text += fmt::format("errors = {}\n", toml_quoted(p.errors));
  if (p.host.any()) {
    text += "\n[host]\n";
    const auto add = [&](std::string_view key, const std::optional<BytesPerSecond>& value) {
      if (value) text += fmt::format("{} = {}\n", key, toml_quoted(rate_text(*value)));
    };
    add("ram_bandwidth", p.host.ram_bandwidth);
    add("host_bus", p.host.host_bus);
    add("disk_read", p.host.disk_read);
  }
  for (const Factor& f : p.factors) {
    text += fmt::format("\n[[constant]]\nruntime = {}\nname = {}\n", toml_quoted(f.runtime),
                        toml_quoted(f.name));
    if (f.cards != "any") text += fmt::format("cards = {}\n", toml_quoted(f.cards));
    if (f.width != "any") text += fmt::format("width = {}\n", toml_quoted(f.width));
    text += fmt::format(
        "value = {:.6g}\nlow = {:.6g}\nhigh = {:.6g}\nmeasurements = {}\nsource = {}\n", f.value,
        std::min(f.low, f.value), std::max(f.high, f.value), f.measurements, toml_quoted(f.source));
  }
  return text;
}

FactorProfile read_profile(std::string_view text, std::string_view file) {
  const toml::table table = parse_toml(text, file);
  constexpr std::string_view known[] = {"machine", "date", "headroom", "files",
                                        "errors",  "host", "constant"};
  require_known_keys(table, known, file);
  TomlRow row(table, file);
  FactorProfile p;
  p.machine = row.required_text("machine");
  p.date = row.text("date").value_or("");
  row.text("headroom");
  p.files = row.texts("files");
  p.errors = row.text("errors").value_or("");
  if (const auto* host = table["host"].as_table()) {
    TomlRow rates(*host, file);
    const auto read = [&](std::string_view key) -> std::optional<BytesPerSecond> {
      const auto found = rates.text(key);
      if (!found) return std::nullopt;
      try {
        return parse_rate(*found);
      } catch (const std::invalid_argument& e) {
        rates.fail(key, e.what());
      }
    };
    p.host = {read("ram_bandwidth"), read("host_bus"), read("disk_read")};
    rates.finish();
  }
  for (const toml::table* each : row.tables("constant")) {
    Factor factor = read_factor(*each, file);
    for (const Factor& before : p.factors)
      if (std::tie(before.runtime, before.name, before.cards, before.width) ==
          std::tie(factor.runtime, factor.name, factor.cards, factor.width))
        TomlRow(*each, file)
            .fail("name", fmt::format("found '{}' of {} twice for the same cards and width; "
                                      "expected it once",
                                      factor.name, factor.runtime));
    p.factors.push_back(std::move(factor));
  }
  if (p.factors.empty() && !p.host.any())
    throw std::runtime_error(fmt::format(
        "{}: no [[constant]] and no [host]: nothing to apply; `headroom calibrate` writes them",
        file));
  return p;
}

Engines::Engines(const Options& options) {
  if (options.given("factors")) {
    file_ = options.text("factors");
    profile_ = read_profile(read_text_file(file_, "constants in TOML"), file_);
  }
  const auto settings = options.texts("set");
  if (profile_.factors.empty() && settings.empty()) return;
  rows_.assign(model::engines().begin(), model::engines().end());
  sources_.reserve(profile_.factors.size() + settings.size());
  for (const Factor& f : profile_.factors)
    put(rows_, f, sources_.emplace_back(fmt::format("{}: {}", file_, f.source)));
  for (const auto& text : settings) {
    const auto [name, value] = setting_of(text);
    set_.push_back(fmt::format("{} = {}", name, value));
    const std::string_view source = sources_.emplace_back("--set");
    for (const Engine& row : std::vector<Engine>(rows_))
      put(rows_,
          {.runtime = std::string(row.name),
           .name = name,
           .value = value,
           .low = value,
           .high = value,
           .source = {}},
          source);
  }
}

std::span<const Engine> Engines::all() const {
  return rows_.empty() ? model::engines() : std::span<const Engine>(rows_);
}

const Engine& Engines::named(std::string_view name) const {
  if (name == "auto")
    throw UnknownName("unknown runtime 'auto': without a name, the engines that suit are compared");
  const std::string_view wanted = model::engine(name).name;
  return *std::ranges::find(all(), wanted, &Engine::name);
}

void Engines::measured(Machine& machine) const {
  if (!profile_.host.any() || !is_of(machine.canonical_name(), profile_.machine)) return;
  if (const auto rate = profile_.host.ram_bandwidth) {
    machine.host.ram_bandwidth = *rate;
    machine.ram_assumed = false;
  }
  if (const auto rate = profile_.host.host_bus) machine.host.host_bus = *rate;
  if (const auto rate = profile_.host.disk_read) machine.host.disk_read = *rate;
}

std::vector<std::string> Engines::assumed(const Machine* machine) const {
  std::vector<std::string> all;
  if (!file_.empty()) {
    const bool other = machine != nullptr && !is_of(machine->canonical_name(), profile_.machine);
    const auto add = [&](const std::string& what, std::string_view elsewhere) {
      all.push_back(fmt::format("{}, measured on {}", what, profile_.machine));
      if (other)
        all.back() += fmt::format("; this is {}: {}", machine->canonical_name(), elsewhere);
    };
    std::set<std::string> engines;
    for (const Factor& each : profile_.factors) engines.insert(each.runtime);
    if (!engines.empty())
      add(fmt::format("{} constants of {} for {}", profile_.factors.size(), file_,
                      fmt::join(engines, ", ")),
          "they may not hold here");
    if (profile_.host.any())
      add(fmt::format("{} of {}", fmt::join(names_of(profile_.host), ", "), file_),
          "not used here");
  }
  for (const auto& text : set_) all.push_back(text + ", as --set says");
  return all;
}

}  // namespace headroom::sweep
