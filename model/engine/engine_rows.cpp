#include "model/engine/engine_rows.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>

#include "hardware/names.hpp"
#include "hardware/quantity_text.hpp"
#include "hardware/text.hpp"
#include "hardware/toml_row.hpp"
#include "model/engine/engine_fields.hpp"
#include "model/engine/engine_lists.hpp"
#include "model/engine/engine_version.hpp"
#include "model/engine/measured_constants.hpp"

namespace headroom::model {
namespace {

/// `text` for as long as the program runs: rows of engines are views.
std::string_view kept(std::string text) {
  static std::mutex mutex;
  static std::set<std::string, std::less<>> all;
  const std::lock_guard lock(mutex);
  return *all.insert(std::move(text)).first;
}

Texts kept(const std::vector<std::string>& texts) {
  Texts all;
  for (const std::string& each : texts) all.push_back(kept(each));
  return all;
}

std::size_t word_of(TomlRow& row, std::string_view key, const std::string& found,
                    std::span<const std::string_view> words) {
  const auto word = std::ranges::find(words, found);
  if (word == words.end())
    row.fail(key, fmt::format("found {}; expected {}", found, fmt::join(words, ", ")));
  return static_cast<std::size_t>(word - words.begin());
}

/// Sets the field at `key`, which the row has.
struct Reader {
  TomlRow& row;
  std::string_view key;
  Engine& engine;
  NumberLimits limits;
  std::string_view file;

  double number(const toml::node& node) const {
    const auto found = node.value<double>();
    if (!found || !limits.contains(*found)) row.wrong(key, node, limits.text());
    return *found;
  }

  CardsFrom cards(const std::string& text) const try {
    return read_cards(kept(text));
  } catch (const std::invalid_argument& e) {
    row.fail(key, e.what());
  }

  void operator()(Member<bool> m) const { m(engine) = *row.flag(key); }
  void operator()(Member<Size> m) const { m(engine) = whole(row, key, number(*row.find(key))); }
  void operator()(Member<double> m) const { m(engine) = number(*row.find(key)); }
  void operator()(const Choice& c) const {
    c.set(engine, word_of(row, key, *row.text(key), c.words));
  }
  void operator()(Member<std::string_view> m) const {
    const std::vector<std::string> texts = row.texts(key);
    m(engine) = texts.empty() ? std::string_view() : kept(texts.front());
  }
  void operator()(Member<Texts> m) const { m(engine) = kept(row.texts(key)); }
  void operator()(Member<std::optional<Texts>> m) const {
    const std::vector<std::string> classes = row.texts(key);
    const bool any = classes.size() == 1 && classes.front() == "any";
    m(engine) = any ? std::nullopt : std::optional(kept(classes));
    if (!any) std::ranges::sort(*m(engine));
  }
  void operator()(Member<std::vector<Size>> m) const {
    const toml::node* node = row.find(key);
    if (!node->is_array()) row.wrong(key, *node, "an array of whole numbers");
    m(engine).clear();
    for (const toml::node& each : *node->as_array())
      m(engine).push_back(whole(row, key, number(each)));
  }
  void operator()(Member<std::vector<SchemeFamily>> m) const {
    m(engine).clear();
    for (const std::string& each : row.texts(key))
      m(engine).push_back(
          static_cast<SchemeFamily>(word_of(row, key, each, scheme_family_words())));
  }
  void operator()(Member<std::vector<CardsFrom>> m) const {
    m(engine).clear();
    for (const std::string& each : row.texts(key)) m(engine).push_back(cards(each));
  }
  /// "fp16", "fp8 fp8_e4m3" or "fp8 fp8_e4m3: nvidia 8.9, amd": the precision, what the engine
  /// calls it, and the cards that have kernels for it.
  void operator()(Member<std::vector<CacheFormat>> m) const {
    m(engine).clear();
    for (const std::string& each : row.texts(key)) {
      const auto parts = words(each, ":");
      const auto names = words(parts.front());
      if (parts.size() > 2 || names.size() > 2 ||
          std::ranges::find(precisions(), names.front(), &Precision::name) == precisions().end())
        row.fail(key, fmt::format("found {}; expected a precision, then the engine's word", each));
      CacheFormat& format = m(engine).emplace_back();
      format.precision = kept(std::string(names.front()));
      if (names.size() > 1) format.word = kept(std::string(names.back()));
      if (parts.size() > 1)
        for (const std::string_view of : words(parts.back(), ","))
          format.cards.push_back(cards(std::string(of)));
    }
  }
  void operator()(Member<std::vector<CheckpointSupport>> m) const {
    m(engine).clear();
    for (const std::string& each : row.texts(key)) try {
        m(engine).push_back(parse_checkpoint_support(kept(each)));
      } catch (const std::invalid_argument& e) {
        row.fail(key, e.what());
      }
  }
  void operator()(Member<std::vector<ExpertTiles>> m) const {
    m(engine) = read_expert_tiles(row, key, file);
  }
  void operator()(Member<std::vector<DefaultContext>> m) const {
    m(engine) = read_default_contexts(row, key, file);
  }
  void operator()(Member<std::vector<CardReserve>> m) const {
    m(engine) = read_card_reserve(row, key, file);
  }
};

/// A number as it stands, or a text with a unit of bytes.
double quantity(TomlRow& row, std::string_view key, const toml::node& node) {
  if (node.is_number()) return *node.value<double>();
  const auto* text = node.as_string();
  if (text == nullptr) row.wrong(key, node, "a number, or a text such as \"520 MiB\"");
  try {
    return real_count(parse_bytes(text->get()));
  } catch (const std::invalid_argument& e) {
    row.fail(key, e.what());
  }
}

/// [value, low, high], or a table of `range`, `measurements` and `source`.
Constant read_constant(TomlRow& row, const NamedConstant& which, std::string_view file) {
  const std::string_view key = which.name;
  Constant constant{0, 0, 0, 0, "rule of thumb, unmeasured"};
  const toml::node* node = row.find(key);
  const toml::array* range = node->as_array();
  if (const toml::table* table = node->as_table()) {
    TomlRow evidence(*table, file);
    if (const toml::node* numbers = evidence.find("range")) range = numbers->as_array();
    constant.measurements = static_cast<int>(evidence.number("measurements", {1e6}).value_or(0));
    constant.source = kept(evidence.required_text("source"));
    evidence.finish();
  }
  if (range == nullptr || range->size() != 3)
    row.wrong(key, *node, "[value, low, high], or {range = [value, low, high], source = \"…\"}");
  double* const into[] = {&constant.value, &constant.low, &constant.high};
  for (std::size_t i = 0; i < 3; ++i) *into[i] = quantity(row, key, (*range)[i]);
  if (const std::string problem = problem_of(which, constant); !problem.empty())
    row.fail(key, problem);
  return constant;
}

void read_constants(TomlRow& row, std::string_view policy, std::string_view file, Engine& engine) {
  for (const NamedConstant& each : named_constants()) {
    if (each.policy != policy || !row.has(each.name)) continue;
    const Constant constant = read_constant(row, each, file);
    if (each.of_engine) {
      each.in(engine) = constant;
      continue;
    }
    for (auto& by_width : engine.kernels.efficiency)
      for (KernelEfficiency& rates : by_width) rates.*each.of_efficiency = constant;
  }
}

void read_fields(TomlRow& row, std::string_view policy, std::string_view file, Engine& engine) {
  for (const EngineField& field : engine_fields())
    if (field.policy == policy && row.has(field.key))
      std::visit(Reader{row, field.key, engine, field.limits, file}, field.type);
  if (!policy.empty()) read_constants(row, policy, file, engine);
}

/// Names every key of the policy as known, so that finish() can name the nearest.
void finish(TomlRow& row, std::string_view policy) {
  for (const EngineField& field : engine_fields())
    if (field.policy == policy) (void)row.find(field.key);
  for (const NamedConstant& each : named_constants())
    if (each.policy == policy) (void)row.find(each.name);
  row.finish();
}

const Engine& parent_of(TomlRow& row, const std::vector<Engine>& rows, const std::string& name) {
  const auto parent = std::ranges::find(rows, name, &Engine::name);
  if (parent != rows.end()) return *parent;
  std::vector<std::string> known;
  for (const Engine& each : rows) known.emplace_back(each.name);
  row.fail("inherits", unknown_name("engine", name, known).what());
}

/// `from` and `to` are of the row alone, a series is inherited.
void read_version(TomlRow& row, Engine& engine) {
  const auto limit = [&](std::string_view key) -> std::string_view {
    const auto text = row.text(key);
    if (text && !version_numbers(*text))
      row.fail(key,
               fmt::format("found {}; expected a version, such as \"0.11\" or \"b6325\"", *text));
    return text ? kept(*text) : std::string_view();
  };
  engine.from = limit("from");
  engine.to = limit("to");
  const bool limited = !engine.from.empty() || !engine.to.empty();
  engine.version = kept(row.text("version").value_or(limited ? version_range(engine.from, engine.to)
                                                             : std::string()));
  const auto series = row.text("series");
  if (series || engine.series.empty()) engine.series = series ? kept(*series) : engine.name;
}

/// The keys that are not fields: who the engine is.
Engine read_identity(TomlRow& row, const std::vector<Engine>& rows) {
  Engine engine{};
  const auto parent = row.text("inherits");
  if (parent)
    engine = parent_of(row, rows, *parent);
  else if (!rows.empty())  // the first shipped row is what all others start from
    row.fail("inherits", "missing; expected the name of an engine, such as vllm");
  const bool of_template = !parent || engine.is_template;
  engine.name = kept(lower(row.required_text("name")));
  if (of_template) engine.series = {};
  engine.is_template = row.flag("template").value_or(false);
  engine.is_compared = row.flag("compared").value_or(false);
  read_version(row, engine);
  engine.source = kept(fmt::format("{}", fmt::join(row.texts("source"), "; ")));
  const auto family = row.text("family");
  if (family || of_template) engine.family = family ? kept(*family) : engine.name;
  if (const auto generation = row.text("generation"))
    engine.generation = kept(*generation);
  else if (family || of_template)
    engine.generation = engine.family;
  if (!engine.is_template && engine.source.empty()) row.fail("source", "missing");
  if (!engine.is_template && engine.version.empty())
    row.fail("version", "missing; expected it, or `from` and `to`");
  return engine;
}

}  // namespace

void read_engines(std::vector<Engine>& rows, std::string_view toml, std::string_view file) {
  const toml::table document = parse_toml(toml, file);
  TomlRow top(document, file);
  std::set<std::string_view> names;
  for (const toml::table* table : top.tables("engine")) {
    TomlRow row(*table, file);
    Engine engine = read_identity(row, rows);
    if (!names.insert(engine.name).second)
      row.fail("name", fmt::format("found '{}' twice in this file; expected it once", engine.name));
    read_fields(row, {}, file, engine);
    for (const std::string_view policy : policies)
      if (const toml::table* keys = row.optional_table(policy)) {
        TomlRow of_policy(*keys, file);
        read_fields(of_policy, policy, file, engine);
        finish(of_policy, policy);
      }
    finish(row, {});
    if (engine.usual_precisions.empty())
      row.fail("usual_precisions", "found none; expected precisions, or \"auto\"");
    if (!engine.memory.pool.reserve.empty() && engine.parallel.split != Split::tensors)
      row.fail("memory", "reserve counts for engines with parallel.split = \"tensors\"");
    const auto same = std::ranges::find(rows, engine.name, &Engine::name);
    (same == rows.end() ? rows.emplace_back() : *same) = std::move(engine);
  }
  top.finish();
}

}  // namespace headroom::model
