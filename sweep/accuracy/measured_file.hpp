// Measurements as people have them: what benchmark programs write, as canonical rows.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sweep/accuracy/measurement.hpp"
#include "sweep/factors.hpp"

namespace headroom::sweep {

/// Values for fields that a file omits. Empty: the file must have them.
struct RowDefaults {
  std::string model, precision;
  std::optional<Bytes> card_memory;  ///< card memory of the machine that was measured
  std::string models{};              ///< a user's folder of configs; empty: none
};

struct MeasuredFile {
  std::string path;
  std::string format;  ///< "llama-bench json"
  std::vector<Measurement> rows;
  MeasuredHost host;               ///< rows that are of the host itself
  std::vector<std::string> notes;  ///< parts that were not read, with the reason
};

/// Formats:
///   llama-bench's csv, json, jsonl and sql, and a database of its tables;
///   vLLM's benchmark JSON and start-up log;
///   the CSV of examples/probe;
///   a CSV of canonical rows.
/// Canonical rows need model, precision, runtime, figure, unit and value. The content decides the
/// format. Throws std::runtime_error naming the file, what was found and what is understood.
MeasuredFile read_measured(const std::string& path, const RowDefaults& defaults);

// ---- the forms, each for read_measured alone
// ------------------------------------------------------

/// One row of a table by column; absent where it is null.
using Fields = std::map<std::string, std::string, std::less<>>;
bool is_llama_bench(const Fields& row);
/// Throws std::runtime_error for a column that is missing or no number.
Measurement llama_bench_row(const Fields& row, const RowDefaults& defaults);
/// The rows of every table of a database, or of the statements in `text`, that llama-bench may have
/// written.
std::vector<Fields> llama_bench_database(const std::string& path);
std::vector<Fields> llama_bench_sql(const std::string& text, const std::string& path);

bool is_vllm_benchmark(const Fields& object);
std::vector<Measurement> vllm_benchmark_rows(const Fields& object, const RowDefaults& defaults);
bool is_vllm_log(std::string_view text);
/// Rows of one start-up log: weights on a card, overhead besides the cache, cache of one sequence
/// of the longest length, load time. Figures that the log omits have no row, and `notes` says so.
/// Throws std::runtime_error if the log has no weights or no model.
std::vector<Measurement> vllm_log_rows(std::string_view text, const RowDefaults& defaults,
                                       std::vector<std::string>& notes);

bool is_probe(std::span<const std::string> header);
/// A run of the probe is one measurement for each figure; one that ran out of memory is none.
std::vector<Measurement> probe_rows(const Fields& row, const RowDefaults& defaults);

/// The reference of a model that a file names: the user's own config of that name, else as
/// model_reference().
std::string reference_of(const std::string& name, const RowDefaults& defaults,
                         const std::string& precision = {});

/// A canonical row of these fields.
Measurement measurement_of(Fields fields);

}  // namespace headroom::sweep
