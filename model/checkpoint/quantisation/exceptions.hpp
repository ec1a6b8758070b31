// Tensors of a checkpoint that depart from its scheme, by the rules of its config.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/checkpoint/quantisation/quantisation.hpp"

namespace headroom::model {

class Config;

/// The checkpoint's exceptions to a scheme. Empty for a scheme other than the checkpoint's own.
class Exceptions {
 public:
  Exceptions(const Model& model, const Scheme& main);
  /// The config's scheme for a tensor; null: 16 bit. `main` is its scheme without a rule, null
  /// outside the scheme's reach. Only the head, and embeddings of groups that hold them, can be
  /// converted beyond that reach. For experts in one tensor the first expert decides, unless rules
  /// name others.
  const Scheme* of(const Tensor& tensor, const Scheme* main) const;
  /// True if no rule names tensors: each has its scheme without a rule.
  bool empty() const { return !names_; }

 private:
  std::vector<std::string> with_head(const Model& model, std::vector<std::string> targets);

  bool names_ = false;  ///< a rule names tensors
  bool head_ = false;   ///< a rule may match the output head
  ModuleNames ignored_{{}};
  std::vector<std::pair<const Scheme*, ModuleNames>> groups_, embeddings_;
};

/// True if the checkpoint's scheme `own`, or that of a group of its tensors, stores in `format`.
bool may_store(const Model& model, const Scheme& own, std::string_view format);

/// Throws ConfigError for a group of the config whose targets match no tensor of the model or of
/// its multi-token prediction modules. Such a file would count as unquantised.
void check_targets(const Model& model, const Config& config);

}  // namespace headroom::model
