// A pass as a list of operations and waits, each with its amount, rate, formula and source.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/engine/constant.hpp"
#include "model/infer/timeline/timeline.hpp"

namespace headroom::model {

/// One operation on cards or CPU, or one wait. Spans of a pass add up to its total.
struct Span {
  std::string name;     ///< "read weights", "products", "all-reduces"
  std::string where{};  ///< "gpu 0", "gpu 0-7", "cpu", "host bus", "disk", "link", "host"
  Resource resource = Resource::cards;
  double amount = 0;        ///< in `unit`, on all cards that follow each other
  std::string_view unit{};  ///< "bytes", "FLOPs", "scores", "channels", "kernels", "times"
  double rate = 0;          ///< in `unit` per second
  Seconds seconds{};        ///< in the pass's total
  Seconds hidden{};         ///< behind other spans, not in the total
  std::string formula{};    ///< "bytes / (share * bandwidth)"
  const Constant* constant = nullptr;  ///< measured: value, measurements and source
};

/// "gpu 0", "gpu 0-7", "cpu", "host bus", "disk", "link" or "host".
std::string place_of(const Segment& segment);

/// A wait with its name, unit, formula and constant alone.
Span span_of_wait(const Scenario& scenario, const Segment& segment);

/// The spans of a pass of `scenario`. Cards that do the same one after the other share a span.
std::vector<Span> spans_of(const Scenario& scenario, const Timeline& time);

}  // namespace headroom::model
