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

/// What a file does not say of its rows. Empty: it has to.
struct RowDefaults {
  std::string model, precision;
  std::optional<Bytes> card_memory;  ///< of the machine that the rows are of
};

struct MeasuredFile {
  std::string path;
  std::string format;  ///< "llama-bench json"
  std::vector<Measurement> rows;
  MeasuredHost host;               ///< rows that are of the host itself
  std::vector<std::string> notes;  ///< what of it was not read, and why
};

/// llama-bench's csv, json, jsonl and sql, and a database of its tables; vLLM's benchmark JSON and
/// the log of its start; the CSV of examples/probe; a CSV of canonical rows, of which model,
/// precision, runtime, figure, unit and value are needed. Told apart by content.
/// Throws std::runtime_error naming the file, what was found and what is understood.
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
/// Of one start: weights on a card, what a card holds beside the cache, the cache of one sequence
/// of the longest length, load time; as far as the log says them, `notes` what of it no row holds.
/// Throws std::runtime_error where it has no weights or no model.
std::vector<Measurement> vllm_log_rows(std::string_view text, const RowDefaults& defaults,
                                       std::vector<std::string>& notes);

bool is_probe(std::span<const std::string> header);
/// A run of the probe is one measurement for each figure; one that ran out of memory is none.
std::vector<Measurement> probe_rows(const Fields& row);

/// A canonical row of these fields.
Measurement measurement_of(Fields fields);

}  // namespace headroom::sweep
