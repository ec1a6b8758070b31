// What results depend on, as numbers: what is equal need not be computed again.
#pragma once

#include <cstdint>
#include <string>

#include "hardware/machine.hpp"
#include "model/checkpoint/model.hpp"
#include "model/engine/engine.hpp"
#include "report/run_info.hpp"

namespace headroom::sweep {

/// Of all that an outcome can depend on: every tensor, cache and header of a model; every figure of
/// a machine's cards and host; name, version and every constant of a runtime, whose policies are of
/// the program's version. Sources of facts, dates, titles and prices are left out. The same on
/// every machine.
std::int64_t fingerprint(const model::Model& model);
std::int64_t fingerprint(const Machine& machine);
std::int64_t fingerprint(const model::Engine& runtime);

/// "0.1.0+3f9a12bc6d01e587": the version, and a hash over the source of every formula.
std::string program_version();

/// Of a run, hexadecimal: of its version, its spec's text, and every axis value with what it names.
/// Only an unfinished run with the same one is resumed, only shards with the same one are united.
std::string fingerprint(const report::RunInfo& info);

}  // namespace headroom::sweep
