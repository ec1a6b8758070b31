#include "sweep/launch/draft_flags.hpp"

#include <fmt/format.h>

#include "model/checkpoint/model.hpp"
#include "model/checkpoint/quantisation/quantisation.hpp"
#include "model/describe/architecture.hpp"
#include "sweep/launch/launch.hpp"
#include "sweep/output.hpp"

namespace headroom::sweep {
namespace {

/// Words of an engine by Proposer, and its word for DSpark heads, which engines name apart.
struct Words {
  std::string_view model, modules, head, block, lookup, dspark;
};

bool has_checkpoint(const model::Draft& draft) {
  return draft.proposer != model::Proposer::modules && draft.proposer != model::Proposer::lookup;
}

std::string_view word(const model::Draft& draft, const Words& words) {
  switch (draft.proposer) {
    case model::Proposer::model:
      return words.model;
    case model::Proposer::modules:
      return words.modules;
    case model::Proposer::head:
      return words.head;
    case model::Proposer::block:
      return model::described_type(draft.weights->model->architecture) == "dspark" ? words.dspark
                                                                                   : words.block;
    case model::Proposer::lookup:
      return words.lookup;
  }
  return {};
}

}  // namespace

std::string_view llama_cpp_draft_type(const model::Draft& draft) {
  return word(draft, {.model = "draft-simple",
                      .modules = "draft-mtp",
                      .head = "draft-eagle3",
                      .block = "draft-dflash",
                      .lookup = "ngram-simple",
                      .dspark = "draft-dspark"});
}

std::string vllm_draft(const model::Draft& draft) {
  std::string text = fmt::format(R"({{"method": "{}", )", word(draft, {.model = "draft_model",
                                                                       .modules = "mtp",
                                                                       .head = "eagle3",
                                                                       .block = "dflash",
                                                                       .lookup = "ngram",
                                                                       .dspark = "dspark"}));
  if (has_checkpoint(draft))
    text += fmt::format(R"("model": {}, )", python_quoted(draft.weights->model->name));
  if (draft.proposer == model::Proposer::lookup) text += R"("prompt_lookup_max": 4, )";
  return text + fmt::format(R"("num_speculative_tokens": {}}})", draft.tokens);
}

void add_sglang_draft(const model::Draft& draft, EngineCommand& command) {
  command.flag("--speculative-algorithm", word(draft, {.model = "STANDALONE",
                                                       .modules = "NEXTN",
                                                       .head = "EAGLE3",
                                                       .block = "DFLASH",
                                                       .lookup = "NGRAM",
                                                       .dspark = "DSPARK"}));
  if (has_checkpoint(draft))
    command.flag("--speculative-draft-model-path", shell_quoted(draft.weights->model->name));
  if (draft.proposer != model::Proposer::lookup && draft.proposer != model::Proposer::block) {
    command.flag("--speculative-num-steps", std::to_string(draft.tokens));
    command.flag("--speculative-eagle-topk", "1");
  }
  command.flag("--speculative-num-draft-tokens", std::to_string(draft.tokens + 1));
}

}  // namespace headroom::sweep
