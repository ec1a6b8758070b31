// Tensors of a checkpoint that depart from its scheme, by the rules of its config.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/checkpoint/quantisation/quantisation.hpp"

namespace headroom::model {

class Config;

/// The exceptions of a checkpoint to its own scheme. Lists are read at the first question, and each
/// tensor is looked up once. Keeps a reference: the model must outlive it. Not for several threads
/// at once.
class Exceptions {
 public:
  explicit Exceptions(const Model& model) : model_(model) {}
  /// The config's scheme for the tensor of this number; null: 16 bit. Without a rule this is the
  /// checkpoint's scheme, null unless the tensor is `reached`, within that scheme's reach. Only the
  /// head, and embeddings of groups that hold them, can be converted beyond that reach. For experts
  /// in one tensor the first expert decides, unless rules name others.
  const Scheme* of(std::size_t tensor, bool reached) const;
  /// True if no rule names tensors: each has its scheme without a rule.
  bool empty() const;

 private:
  struct Rules {
    explicit Rules(const Model& model);
    std::vector<std::string> with_head(const Model& model, std::vector<std::string> targets);
    const Scheme* of(const Tensor& tensor, bool reached) const;

    const Scheme* own;
    bool head;  ///< a rule may match the output head
    ModuleNames ignored;
    std::vector<std::pair<const Scheme*, ModuleNames>> groups{}, embeddings{};
  };

  static std::shared_ptr<const Rules> rules_of(const Model& model);

  const Model& model_;
  mutable std::shared_ptr<const Rules> rules_;
  /// Answers by tensor, of tensors within the scheme's reach and of others.
  mutable std::vector<std::optional<const Scheme*>> within_, beyond_;
};

/// True if the scheme of the published checkpoint, or that of a group of its tensors, stores in
/// `format`.
bool may_store(const Model& model, std::string_view format);

/// Throws ConfigError for a group of the config whose targets match no tensor of the model or of
/// its multi-token prediction modules. Such a file would count as unquantised.
void check_targets(const Model& model, const Config& config);

}  // namespace headroom::model
