// Warnings of an estimate, for a reader who acts on it.
#pragma once

#include <string>
#include <vector>

#include "model/answer/explain.hpp"
#include "model/infer/scenario/scenario.hpp"

namespace headroom::model {

/// Warnings about what was asked: positions, doubts about the model, what no measurement covers.
std::vector<std::string> scenario_warnings(const Scenario& s);
/// Warnings about `devices` with what each holds: budgets that are cut, memory that the operating
/// system lacks.
std::vector<std::string> memory_warnings(const Scenario& s, const std::vector<DeviceUse>& devices);

}  // namespace headroom::model
