// Names of the targets that a plan misses.
#include "model/infer/serving.hpp"

namespace headroom::model {

std::string_view name_of(Miss miss) {
  switch (miss) {
    case Miss::nothing:
      return "";
    case Miss::refused:
      return "refused";
    case Miss::memory:
      return "memory";
    case Miss::not_sure:
      return "not_sure";
    case Miss::offload:
      return "offload";
    case Miss::ttft:
      return "ttft";
    case Miss::tpot:
      return "tpot";
    case Miss::ttft_p95:
      return "ttft_p95";
    case Miss::tpot_p95:
      return "tpot_p95";
    case Miss::total_p99:
      return "e2e_p99";
    case Miss::load:
      return "load";
    case Miss::positions:
      return "positions";
    case Miss::sequences:
      return "sequences";
    case Miss::demand:
      return "demand";
  }
  return "";
}

}  // namespace headroom::model
