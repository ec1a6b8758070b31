// The verdict of a placement, and how sure it is.
#pragma once

#include <cstdint>

#include "model/infer/estimate.hpp"
#include "model/infer/placement/placement.hpp"

namespace headroom::model {

/// Says if the model fits, and on what: one card, several, host memory or disk.
Verdict verdict_of(const Plan& plan);

/// Knowledge about a division of matrices at the high end of the memory interval.
enum class HighEnd : std::uint8_t { unknown, has_room };

/// Says if the verdict `expected` holds over the memory interval of the engine. A sure answer is
/// sure of the number of cards that it names, too. A model whose config has unread keys never has a
/// sure answer. An engine without measured memory has the interval of all measured ones. `plan`: of
/// these uses. It must hold at the high end itself. Null: of fewer sequences.
Confidence confidence_of(const Uses& uses, Verdict expected, Size cards, HighEnd known,
                         const Plan* plan = nullptr);

/// True if doubts about the model (model/checkpoint/model.hpp) are all that leaves its verdict
/// open.
bool is_open_by_doubts_alone(const Scenario& scenario, const Estimate& estimate);

}  // namespace headroom::model
