// A scenario as the problem that model/answer/placement/search.hpp solves. Classes are of layers,
// of parts of layers, and of the embedding and head. Their seconds come from a pass's timeline.
#pragma once

#include <vector>

#include "model/answer/placement/search.hpp"
#include "model/infer/placement/assignment.hpp"
#include "model/infer/timeline/throughput.hpp"

namespace headroom::model {

/// One choice of what the search itself does not choose.
struct Regime {
  bool cards = true;     ///< false: everything is computed on the CPU
  bool offloads = true;  ///< false: everything is on cards
  bool copies = false;   ///< true: offloaded weights are copied to the card and computed there
  Bytes buffer;          ///< on the first card: what is larger is not streamed
};

/// A unit is a layer or a part of it, or one of these.
inline constexpr Size embedding_unit = -1, head_unit = -2, embedding_and_head_unit = -3;
struct UnitMember {
  Size layer;
  Content content = Content::whole;
};

/// The units of a scenario, by class.
struct Units {
  std::vector<UnitClass> classes;
  std::vector<std::vector<UnitMember>> members;
  std::vector<Bytes> module;  ///< bytes that pass through the card when a unit is streamed
};

inline bool streams(const Scenario& s) { return s.runtime->offload.mode == Offload::stream; }

class UnitBuilder {
 public:
  explicit UnitBuilder(const Scenario& scenario);
  Units units(const Regime& regime) const;
  UnitProblem problem(const Regime& regime, const Units& units) const;

  const Pass& pass() const { return pass_; }
  Size layers() const { return layers_; }

 private:
  UnitKind kind_of(Size layer, Content content) const;
  void add_ends(const Regime& regime, Units& units) const;
  UnitClass& add_class(const Regime& regime, Units& units, Bytes bytes, const Work& work,
                       const Work& attention, RealBytes moved) const;

  const Scenario& s_;
  Uses uses_;
  Pass pass_;
  AttentionRules rules_;
  Size layers_;
  std::vector<Throughput> cards_;
  Throughput cpu_;
};

}  // namespace headroom::model
