#include "sweep/accuracy/measured_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <cmath>

#include "hardware/names.hpp"
#include "sweep/accuracy/model_names.hpp"
#include "sweep/accuracy/row_models.hpp"

namespace headroom::sweep {
namespace {

namespace json = boost::json;

constexpr std::string_view understood =
    "expected output of llama-bench (csv, json, jsonl, sql or sqlite), vLLM's benchmark JSON or "
    "start-up log, the probe's CSV, or a CSV of canonical rows. Canonical rows have the columns "
    "model, precision, runtime, machine, figure, form, unit and value (tests/accuracy/README.md)";

/// The values of an object as text; what is neither text nor number is left out.
Fields fields_of(const json::object& object) {
  Fields fields;
  for (const auto& [key, value] : object) {
    if (value.is_null()) continue;
    fields[key] = value.is_string()   ? std::string(value.as_string())
                  : value.is_double() ? fmt::format("{}", value.as_double())
                                      : json::serialize(value);
  }
  return fields;
}

/// Objects of a text of JSON: one, an array, or one a line.
std::vector<Fields> objects_of(const std::string& text, const std::string& path) {
  std::vector<Fields> all;
  const auto add = [&](const json::value& value) {
    if (!value.is_object())
      throw std::runtime_error(path + ": not objects; " + std::string(understood));
    all.push_back(fields_of(value.as_object()));
  };
  boost::system::error_code error;
  const json::value whole = json::parse(text, error);
  if (!error) {
    if (const auto* array = whole.if_array())
      for (const auto& each : *array) add(each);
    else
      add(whole);
    return all;
  }
  std::size_t line = 0;
  for (std::string_view rest = text; !rest.empty();) {
    const auto end = std::min(rest.find('\n'), rest.size());
    const auto each = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    ++line;
    if (each.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    boost::system::error_code of_line;
    const json::value value = json::parse(each, of_line);
    if (of_line)
      throw std::runtime_error(fmt::format("{}:{}: JSON that is cut off or broken ({})", path, line,
                                           line == 1 ? error.message() : of_line.message()));
    add(value);
  }
  return all;
}

/// The rows of one kind of table; what one of them lacks is said with its number.
template <class Make>
void add_rows(MeasuredFile& file, const std::vector<Fields>& rows, Make&& make) {
  for (std::size_t i = 0; i < rows.size(); ++i) try {
      for (Measurement& each : make(rows[i])) {
        each.file = file.path;
        each.line = i + 1;
        file.rows.push_back(std::move(each));
      }
    } catch (const std::runtime_error& e) {
      throw std::runtime_error(fmt::format("{}: row {}: {}", file.path, i + 1, e.what()));
    }
}

void read_objects(MeasuredFile& file, const std::vector<Fields>& objects,
                  const RowDefaults& defaults, std::string_view form) {
  if (objects.empty())
    throw std::runtime_error(fmt::format("{}: no rows; {}", file.path, understood));
  const bool bench = is_llama_bench(objects.front());
  for (const Fields& each : objects)
    if (bench ? !is_llama_bench(each) : !is_vllm_benchmark(each))
      throw std::runtime_error(fmt::format("{}: {}; {}", file.path,
                                           &each == &objects.front()
                                               ? "columns of no known program"
                                               : "rows of different programs, or cut off",
                                           understood));
  file.format = bench ? fmt::format("llama-bench {}", form) : "vLLM benchmark";
  add_rows(file, objects, [&](const Fields& row) {
    return bench ? std::vector{llama_bench_row(row, defaults)} : vllm_benchmark_rows(row, defaults);
  });
}

/// A row of a user's own CSV; figures of the host go to `host`.
void add_generic(MeasuredFile& file, Measurement row, const RowDefaults& defaults) {
  auto& f = row.fields;
  const auto at = fmt::format("{}:{}", file.path, row.line);
  const std::string& figure = row["figure"];
  for (const auto& [name, rate] : {std::pair{"ram_bandwidth", &MeasuredHost::ram_bandwidth},
                                   {"host_bus", &MeasuredHost::host_bus},
                                   {"disk_read", &MeasuredHost::disk_read}}) {
    if (figure != name) continue;
    const auto value = row.number("value");
    const double scale = row["unit"] == "GB/s" ? GB : row["unit"] == "GiB/s" ? GiB : 0;
    if (!value || !(*value > 0) || *value > 1e5 || scale == 0)
      throw std::runtime_error(
          fmt::format("{}: {} of '{}' '{}', expected a number above 0 in GB/s or GiB/s", at, name,
                      row["value"], row["unit"]));
    file.host.*rate = BytesPerSecond(*value * scale);
    return;
  }
  if (f["model"].empty()) f["model"] = defaults.model;
  if (f["precision"].empty()) f["precision"] = defaults.precision;
  if (f["form"].empty()) f["form"] = "amount";
  for (const auto needed : {"model", "precision", "runtime", "figure", "unit", "value"})
    if (row[needed].empty())
      throw std::runtime_error(fmt::format("{}: no {}; {}", at, needed, understood));
  file.rows.push_back(std::move(row));
}

void read_csv(MeasuredFile& file, const std::string& text, const RowDefaults& defaults) {
  const auto records = parse_records(text, file.path);
  if (records.empty()) throw std::runtime_error(fmt::format("{}: a header and no rows", file.path));
  const Measurement& first = records.front();
  std::vector<std::string> header;
  for (const auto& [name, value] : first.fields) header.push_back(name);
  std::vector<Fields> rows;
  for (const Measurement& each : records) rows.push_back(each.fields);
  if (is_llama_bench(first.fields)) return read_objects(file, rows, defaults, "csv");
  if (is_probe(header)) {
    file.format = "probe";
    add_rows(file, rows, [&](const Fields& row) { return probe_rows(row, defaults); });
    const auto failed =
        std::ranges::count_if(rows, [](const Fields& row) { return row.at("status") != "ok"; });
    if (failed > 0)
      file.notes.push_back(fmt::format("{} runs of the probe ended without figures", failed));
    return;
  }
  if (!first.fields.contains("figure") || !first.fields.contains("value"))
    throw std::runtime_error(
        fmt::format("{}: columns of no known program; {}", file.path, understood));
  file.format = "canonical rows";
  for (const Measurement& each : records) add_generic(file, each, defaults);
}

}  // namespace

std::string reference_of(const std::string& name, const RowDefaults& defaults,
                         const std::string& precision) {
  return own_config(defaults.models, name) ? name : model_reference(name, precision);
}

Measurement measurement_of(Fields fields) {
  fields.emplace("kind", "inference");
  fields.emplace("grade", "A");
  return {.file = {}, .line = 0, .fields = std::move(fields)};
}

MeasuredFile read_measured(const std::string& path, const RowDefaults& defaults) {
  MeasuredFile file{.path = path, .format = {}, .rows = {}, .host = {}, .notes = {}};
  const std::string text = read_text(path);
  const auto start = text.find_first_not_of(" \t\r\n");
  if (text.starts_with("SQLite format 3")) {
    read_objects(file, llama_bench_database(path), defaults, "sqlite");
  } else if (start == std::string::npos) {
    throw std::runtime_error(path + ": empty; expected output of llama-bench, vLLM or the probe");
  } else if (text[start] == '{' || text[start] == '[') {
    const bool lines = text[start] == '{' && text.find("\n{") != std::string::npos;
    read_objects(file, objects_of(text, path), defaults, lines ? "jsonl" : "json");
  } else if (lower(text.substr(start, 6)) == "create" || lower(text.substr(start, 6)) == "insert") {
    read_objects(file, llama_bench_sql(text, path), defaults, "sql");
  } else if (is_vllm_log(text)) {
    file.format = "vLLM log";
    file.rows = vllm_log_rows(text, defaults, file.notes);
    for (Measurement& each : file.rows) each.file = path;
  } else {
    read_csv(file, text, defaults);
  }
  for (std::size_t i = 0; i < file.rows.size(); ++i) {
    auto& f = file.rows[i].fields;
    if (f["id"].empty()) f["id"] = fmt::format("{}:{}", path, i + 1);
    if (f["source"].empty()) f["source"] = path;
  }
  return file;
}

}  // namespace headroom::sweep
