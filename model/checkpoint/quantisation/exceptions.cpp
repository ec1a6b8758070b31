#include "model/checkpoint/quantisation/exceptions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "model/checkpoint/checkpoint_methods.hpp"
#include "model/checkpoint/checkpoint_names.hpp"
#include "model/describe/config.hpp"

namespace headroom::model {
namespace {

/// Checkpoint names of an expert's matrices. In memory they form one tensor, or two in one.
std::vector<std::string> names_of_expert(const Tensor& tensor) {
  const std::string first = std::string(tensor.module()) + ".0.";
  const std::string_view leaf = std::string_view(tensor.name).substr(tensor.module().size() + 1);
  std::vector<std::string> names = {first + std::string(leaf)};
  const auto add = [&](std::initializer_list<std::string_view> words) {
    for (const auto word : words) names.push_back(first + std::string(word));
  };
  if (leaf.starts_with("gate_up")) add({"gate_proj", "up_proj", "w1", "w3"});
  if (leaf.starts_with("down")) add({"w2"});
  return names;
}

bool named(const ModuleNames& names, const Tensor& tensor) {
  if (names.contain(tensor.module())) return true;
  const auto contained = [&](const std::string& name) { return names.contain(name); };
  if (tensor.of <= 1) {
    const std::vector<std::string> parts = parts_of_joined(tensor.module());
    return !parts.empty() && std::ranges::all_of(parts, contained);
  }
  return std::ranges::any_of(names_of_expert(tensor), contained);
}

/// Expressions match the start of a name.
std::vector<std::string> as_patterns(std::vector<std::string> targets) {
  for (std::string& target : targets)
    if (target.starts_with("re:")) target = fmt::format("re:(?:{}).*", target.substr(3));
  return targets;
}

/// True if `names` has the tensor, an expert in it, or its module's class (compressed-tensors
/// utils/match.py).
bool targets(const ModuleNames& names, const std::unordered_set<std::string_view>& targets,
             const Tensor& tensor,
             const std::unordered_map<std::string_view, std::string_view>& classes) {
  if (named(names, tensor) || names.contain_expert_of(tensor.module())) return true;
  const auto found = classes.find(tensor.module());
  return found != classes.end() && targets.contains(found->second);
}

}  // namespace

namespace {

/// Modules by their classes, and the model whose tensors targets must match.
class Targets {
 public:
  explicit Targets(const Model& model) : model_(model) {}
  /// Throws ConfigError about `key` of the section if `found` matches nothing.
  void check(const Config& section, std::string_view key, const std::vector<std::string>& found) {
    const ModuleNames names(as_patterns(names_in_memory(model_.model_type, found)));
    if (found.empty() || std::ranges::find(found, "Linear") != found.end()) return;
    if (classes_.empty())
      for (const Module& module : model_.part.modules)
        classes_.emplace(module.path, module.class_name);
    const std::unordered_set<std::string_view> whole(found.begin(), found.end());
    const Tensor* linear = nullptr;
    const auto matches = [&](const Tensor& tensor) {
      if (linear == nullptr && tensor.role == Role::matmul) linear = &tensor;
      return targets(names, whole, tensor, classes_);
    };
    if (std::ranges::any_of(model_.part.tensors, matches) ||
        std::ranges::any_of(model_.multi_token_prediction.part.tensors, matches))
      return;
    const auto shown = static_cast<std::ptrdiff_t>(std::min<std::size_t>(found.size(), 3));
    section.fail(
        key, fmt::format("found {}{}, which match no module of {}; expected Linear, a module such "
                         "as '{}', or an expression after 're:' that matches one",
                         fmt::join(found.begin(), found.begin() + shown, ", "),
                         found.size() > 3 ? ", …" : "", model_.architecture,
                         linear == nullptr ? "" : linear->module()));
  }

 private:
  const Model& model_;
  std::unordered_map<std::string_view, std::string_view> classes_;
};

void check_section(const Model& model, const Config& section) {
  Targets targets(model);
  for (const auto& [key, found] : group_targets(section)) targets.check(section, key, found);
  const Config inner = section.section_or_empty("quantization");
  const auto listed = [](const CheckpointGroup& group) {
    return scheme(group.scheme).family != SchemeFamily::plain &&
           std::ranges::none_of(group.targets, [](const std::string& target) {
             return target.starts_with("re:") || target == output_head;
           });
  };
  for (const Config* q : {&section, &inner})
    for (const CheckpointGroup& group : model.checkpoint.groups)
      if (q->has("quantized_layers") && listed(group))
        targets.check(*q, "quantized_layers", group.targets);
}

/// A conversion's tensors are those of the checkpoint that it was made from.
const std::string& published_scheme(const Model& model) {
  return model.converted_from ? model.converted_from->scheme : model.checkpoint_scheme;
}
const CheckpointDetails& published_details(const Model& model) {
  return model.converted_from ? model.converted_from->details : model.checkpoint;
}

}  // namespace

void check_targets(const Model& model, const Config& config) {
  const Config text = config.section_or_empty("text_config");
  for (const Config* holder : {&config, &text})
    for (const char* name : {"quantization_config", "compression_config"})
      if (holder->has(name)) check_section(model, holder->section(name));
}

bool may_store(const Model& model, std::string_view format) {
  return scheme(published_scheme(model)).format == format ||
         std::ranges::any_of(published_details(model).groups, [&](const CheckpointGroup& group) {
           return scheme(group.scheme).format == format;
         });
}

bool Exceptions::empty() const {
  const CheckpointDetails& lists = published_details(model_);
  return lists.ignored.empty() && lists.groups.empty();
}

const Scheme* Exceptions::of(std::size_t tensor, bool reached) const {
  if (!rules_) rules_ = rules_of(model_);
  auto& known = reached ? within_ : beyond_;
  known.resize(model_.part.tensors.size());
  if (!known[tensor]) known[tensor] = rules_->of(model_.part.tensors[tensor], reached);
  return *known[tensor];
}

/// Engines and parts of one model ask in turn, and its lists may have thousands of names. So the
/// last rules of each thread are kept, with all that they are made of.
std::shared_ptr<const Exceptions::Rules> Exceptions::rules_of(const Model& model) {
  struct Last {
    std::string model_type, scheme, head;
    CheckpointDetails lists;
    std::shared_ptr<const Rules> rules;
  };
  thread_local Last last;
  const CheckpointDetails& lists = published_details(model);
  const auto found = std::ranges::find(model.part.tensors, Role::head, &Tensor::role);
  const std::string_view head =
      found == model.part.tensors.end() ? std::string_view() : found->module();
  const auto same = [](const CheckpointGroup& a, const CheckpointGroup& b) {
    return a.scheme == b.scheme && a.embeddings == b.embeddings && a.targets == b.targets;
  };
  const bool is_last = last.rules != nullptr && last.model_type == model.model_type &&
                       last.scheme == published_scheme(model) && last.head == head &&
                       last.lists.ignored == lists.ignored &&
                       std::ranges::equal(last.lists.groups, lists.groups, same);
  if (!is_last)
    last = {model.model_type, published_scheme(model), std::string(head), lists,
            std::make_shared<const Rules>(model)};
  return last.rules;
}

Exceptions::Rules::Rules(const Model& model)
    : own(&scheme(published_scheme(model))),
      head(own->reach != Reach::decoder_blocks),
      ignored(names_in_memory(model.model_type, published_details(model).ignored)) {
  for (const CheckpointGroup& group : published_details(model).groups)
    (group.embeddings ? embeddings : groups)
        .emplace_back(
            &scheme(group.scheme),
            ModuleNames(names_in_memory(model.model_type, with_head(model, group.targets))));
}

const Scheme* Exceptions::Rules::of(const Tensor& tensor, bool reached) const {
  if (tensor.role == Role::embedding)
    for (const auto& [of_group, names] : embeddings)
      if (named(names, tensor)) return of_group;
  if (!reached && !(head && tensor.role == Role::head)) return nullptr;
  for (const auto& [of_group, names] : groups)
    if (named(names, tensor) ||
        (of_group->family != SchemeFamily::plain && names.contain_expert_of(tensor.module())))
      return of_group;
  return named(ignored, tensor) || !reached ? nullptr : own;
}

/// `targets` with the placeholder replaced by the head's name.
std::vector<std::string> Exceptions::Rules::with_head(const Model& model,
                                                      std::vector<std::string> targets) {
  for (std::string& target : targets) {
    if (target != output_head) continue;
    head = true;
    const auto found = std::ranges::find(model.part.tensors, Role::head, &Tensor::role);
    if (found != model.part.tensors.end()) target = found->module();
  }
  return targets;
}

}  // namespace headroom::model
