// Fingerprints of everything that results depend on. Results with equal fingerprints are not
// computed again.
#pragma once

#include <tbb/parallel_for.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "hardware/machine.hpp"
#include "model/checkpoint/model.hpp"
#include "model/engine/engine.hpp"
#include "report/run_info.hpp"

namespace headroom::sweep {

/// A fingerprint covers everything that can affect an outcome:
///   of a model, every tensor, cache and header;
///   of a machine, every figure of its cards and host;
///   of a runtime, name, version and constants.
/// The program's version covers policies. Sources, dates, titles and prices are omitted. All
/// machines give equal fingerprints.
std::int64_t fingerprint(const model::Model& model);
std::int64_t fingerprint(const Machine& machine);
std::int64_t fingerprint(const model::Engine& runtime);

/// The fingerprint of each row, by several threads; repeated rows are worked out once.
template <class Row>
std::vector<std::int64_t> fingerprints(const std::vector<const Row*>& rows) {
  std::map<const Row*, std::size_t> places;
  std::vector<const Row*> distinct;
  for (const Row* row : rows)
    if (places.try_emplace(row, distinct.size()).second) distinct.push_back(row);
  std::vector<std::int64_t> found(distinct.size());
  tbb::parallel_for(std::size_t{0}, distinct.size(),
                    [&](std::size_t i) { found[i] = fingerprint(*distinct[i]); });
  std::vector<std::int64_t> all;
  all.reserve(rows.size());
  for (const Row* row : rows) all.push_back(found[places.at(row)]);
  return all;
}

/// "0.1.0+3f9a12bc6d01e587": the version, and a hash over the source of every formula.
std::string program_version();

/// Fingerprint of a run, hexadecimal. It covers its version, its spec's text, and every axis value
/// with the object it names. Only an unfinished run with an equal fingerprint is resumed, and only
/// such shards are merged.
std::string fingerprint(const report::RunInfo& info);

}  // namespace headroom::sweep
