// Which tensors of a checkpoint depart from its scheme, by the rules that its config lists.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "model/checkpoint/quantisation/quantisation.hpp"

namespace headroom::model {

/// The checkpoint's exceptions to a scheme; none where the scheme is another than its own.
class Exceptions {
 public:
  Exceptions(const Model& model, const Scheme& main);
  /// What the config says of one tensor; null: 16 bit. `main`: its scheme where no rule has it,
  /// null where the scheme does not reach it. Only the head is converted beyond the scheme's reach.
  /// Of experts that are one tensor, the first stands for all, unless rules name others.
  const Scheme* of(const Tensor& tensor, const Scheme* main) const;

 private:
  std::vector<std::string> with_head(const Model& model, std::vector<std::string> targets);

  bool head_ = false;  ///< a rule may reach the output head
  ModuleNames ignored_{{}};
  std::vector<std::pair<const Scheme*, ModuleNames>> groups_;
};

}  // namespace headroom::model
