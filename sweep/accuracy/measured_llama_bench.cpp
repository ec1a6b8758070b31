// Output of llama-bench: columns of tools/llama-bench, equal in csv, json, jsonl and sql.
#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "hardware/names.hpp"
#include "sweep/accuracy/engine_versions.hpp"
#include "sweep/accuracy/measured_file.hpp"

namespace headroom::sweep {
namespace {

std::string field(const Fields& row, std::string_view column) {
  const auto it = row.find(column);
  return it == row.end() ? std::string() : it->second;
}

double number(const Fields& row, std::string_view column) {
  const std::string text = field(row, column);
  const auto value = leading_number(text);
  if (!value || !std::isfinite(*value) || *value < 0)
    throw std::runtime_error(
        fmt::format("column '{}': found '{}', expected a number from 0 on", column, text));
  return *value;
}

std::string stem_of(std::string path) {
  if (const auto slash = path.find_last_of("/\\"); slash != std::string::npos)
    path.erase(0, slash + 1);
  if (lower(path).ends_with(".gguf")) path.resize(path.size() - 5);
  const auto part = path.rfind("-00001-of-");  // first part of a file in several
  return path.substr(0, part);
}

/// "llama 7B Q4_K - Medium" means q4_k_m; "llama 7B mostly Q4_0" means q4_0.
std::string precision_of(const std::string& type) {
  std::string text = lower(type);
  const auto put = [&](std::string_view from, std::string_view to) {
    if (const auto at = text.find(from); at != std::string::npos) text.replace(at, from.size(), to);
  };
  put(" - medium", "_m");
  put(" - small", "_s");
  put(" - large", "_l");
  put(" moe", "");
  return text.substr(text.rfind(' ') + 1);
}

/// The name of the file without the way in which its weights are held.
std::string model_of(const std::string& stem, const std::string& precision) {
  const std::string text = lower(stem);
  for (const auto& ending : {"-" + precision, "." + precision, "_" + precision})
    if (text.ends_with(ending)) return stem.substr(0, stem.size() - ending.size());
  return stem;
}

bool yes(const std::string& text) { return text == "1" || text == "true" || text == "on"; }

/// "A, A" is two cards; so is "A/A" of some versions.
std::pair<std::string, int> cards_of(const std::string& info) {
  int count = info.empty() ? 0 : 1;
  const auto comma = info.find(", ");
  const std::string first = info.substr(0, comma);
  for (auto at = comma; at != std::string::npos; at = info.find(", ", at + 2)) ++count;
  return {first, count};
}

using Database = std::unique_ptr<sqlite3, decltype(&sqlite3_close_v2)>;
using Query = std::unique_ptr<sqlite3_stmt, decltype(&sqlite3_finalize)>;

Query prepared(sqlite3* database, const std::string& sql, const std::string& path) {
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(database, sql.c_str(), -1, &statement, nullptr) != SQLITE_OK)
    throw std::runtime_error(fmt::format("{}: {}", path, sqlite3_errmsg(database)));
  return {statement, &sqlite3_finalize};
}

std::vector<Fields> rows_of(sqlite3* database, const std::string& path) {
  std::vector<std::string> tables;
  const Query names =
      prepared(database, "SELECT name FROM sqlite_master WHERE type = 'table'", path);
  int found = SQLITE_ROW;
  while ((found = sqlite3_step(names.get())) == SQLITE_ROW)
    tables.emplace_back(reinterpret_cast<const char*>(sqlite3_column_text(names.get(), 0)));
  if (found != SQLITE_DONE)
    throw std::runtime_error(fmt::format("{}: {}", path, sqlite3_errmsg(database)));
  std::vector<Fields> all;
  for (std::string table : tables) {
    for (auto at = table.find('"'); at != std::string::npos; at = table.find('"', at + 2))
      table.insert(at, "\"");
    const Query rows = prepared(database, "SELECT * FROM \"" + table + '"', path);
    int step = SQLITE_ROW;
    while ((step = sqlite3_step(rows.get())) == SQLITE_ROW) {
      Fields fields;
      for (int i = 0; i < sqlite3_column_count(rows.get()); ++i)
        if (const auto* text = sqlite3_column_text(rows.get(), i))
          fields.emplace(sqlite3_column_name(rows.get(), i), reinterpret_cast<const char*>(text));
      if (is_llama_bench(fields)) all.push_back(std::move(fields));
    }
    if (step != SQLITE_DONE)
      throw std::runtime_error(fmt::format("{}: {}", path, sqlite3_errmsg(database)));
  }
  return all;
}

/// Statements of a file that somebody was given may make tables and fill them, and no more.
int only_tables(void*, int action, const char* name, const char*, const char*, const char*) {
  switch (action) {
    case SQLITE_CREATE_TABLE:
    case SQLITE_CREATE_INDEX:
    case SQLITE_INSERT:
    case SQLITE_READ:
    case SQLITE_UPDATE:  // of sqlite_master, by CREATE
    case SQLITE_SELECT:
    case SQLITE_TRANSACTION:
    case SQLITE_REINDEX:
      return SQLITE_OK;
    case SQLITE_FUNCTION:
      return SQLITE_OK;
    default:
      static_cast<void>(name);
      return SQLITE_DENY;
  }
}

/// The formats of keys and values, "q8_0/q4_0" where they differ.
std::string cache_of(const Fields& row) {
  const auto word = [&](const char* name) {
    const std::string type = field(row, name);
    return type == "f16" ? "fp16" : type;
  };
  const std::string keys = word("type_k"), values = word("type_v");
  return keys == values || values.empty() ? keys : keys + '/' + values;
}

}  // namespace

bool is_llama_bench(const Fields& row) {
  return row.contains("model_filename") && row.contains("n_gen") && row.contains("n_prompt") &&
         row.contains("avg_ts");
}

Measurement llama_bench_row(const Fields& row, const RowDefaults& defaults) {
  const auto prompt = static_cast<Size>(number(row, "n_prompt"));
  const auto output = static_cast<Size>(number(row, "n_gen"));
  const Size depth = row.contains("n_depth") ? static_cast<Size>(number(row, "n_depth")) : 0;
  const std::string type = precision_of(field(row, "model_type"));
  const auto [card, cards] = cards_of(field(row, "gpu_info"));
  const auto text = [](Size tokens) { return std::to_string(tokens); };
  const std::string name = model_of(stem_of(field(row, "model_filename")), type);
  const std::string precision = type.ends_with("f16") || type == "f32" ? "gguf-" + type : type;
  const auto build = leading_number(field(row, "build_number"));
  Fields fields = {
      {"model", defaults.model.empty() ? reference_of(name, defaults) : defaults.model},
      {"parameters", field(row, "model_n_params")},
      {"precision", defaults.precision.empty() ? precision : defaults.precision},
      {"runtime",
       std::string(llama_cpp_of(static_cast<int>(build.value_or(0)), field(row, "backends")))},
      {"machine", cards == 0 ? "cpu" : fmt::format("{}x {}", cards, card)},
      {"host", field(row, "cpu_info")},
      {"batch", "1"},
      {"prompt_tokens", text(prompt > 0 ? prompt : std::max<Size>(depth, 1))},
      {"output_tokens", text(std::max<Size>(output, 1))},
      {"threads", field(row, "n_threads")},
      {"kv_precision", cache_of(row)},
      {"value", fmt::format("{}", number(row, "avg_ts"))},
      {"unit", "tokens/s"}};
  // -1: as many as fit.
  const std::string layers = field(row, "n_gpu_layers");
  fields["gpu_layers"] = !layers.empty() && layers[0] != '-' ? layers : cards > 1 ? "all" : "";
  if (const std::string flash = field(row, "flash_attn"); !flash.empty() && flash[0] != '-')
    fields["flash_attn"] = yes(flash) ? "on" : "off";
  if (field(row, "split_mode") == "row" && cards > 1) fields["split_mode"] = "row";
  if (field(row, "split_mode") == "tensor" && cards > 1) fields["runtime"] = "llama.cpp-tensor";
  if (yes(field(row, "no_kv_offload"))) fields["no_kv_offload"] = "yes";
  const bool both = prompt > 0 && output > 0;
  // After a context, llama-bench times the prompt alone, which no estimate gives.
  fields["figure"] = both                      ? "generation"
                     : prompt > 0 && depth > 0 ? "prefill_after_context"
                     : prompt > 0              ? "prefill"
                                               : "step";
  fields["form"] = both ? "rate_of_both" : prompt > 0 ? "rate_of_prompt" : "rate_of_output";
  return measurement_of(std::move(fields));
}

std::vector<Fields> llama_bench_database(const std::string& path) {
  sqlite3* raw = nullptr;
  const int error = sqlite3_open_v2(path.c_str(), &raw, SQLITE_OPEN_READONLY, nullptr);
  const Database database(raw, &sqlite3_close_v2);
  if (error != SQLITE_OK)
    throw std::runtime_error(fmt::format("{}: {}", path, sqlite3_errstr(error)));
  return rows_of(raw, path);
}

std::vector<Fields> llama_bench_sql(const std::string& text, const std::string& path) {
  sqlite3* raw = nullptr;
  sqlite3_open_v2(":memory:", &raw, SQLITE_OPEN_READWRITE, nullptr);
  const Database database(raw, &sqlite3_close_v2);
  sqlite3_set_authorizer(raw, &only_tables, nullptr);
  char* message = nullptr;
  if (sqlite3_exec(raw, text.c_str(), nullptr, nullptr, &message) != SQLITE_OK) {
    const std::string why = message ? message : "not understood";
    sqlite3_free(message);
    throw std::runtime_error(fmt::format(
        "{}: {}; expected CREATE TABLE and INSERT as llama-bench -o sql writes them", path, why));
  }
  return rows_of(raw, path);
}

}  // namespace headroom::sweep
