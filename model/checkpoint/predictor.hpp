// The modules of a checkpoint that predict further tokens, as a model of their own.
#pragma once

#include <string>
#include <vector>

#include "model/checkpoint/quantisation/quantisation.hpp"

namespace headroom::model {

/// Module rows of the tensors of `model.multi_token_prediction`. A module without a class of its
/// own has that of its counterpart in the model's layers.
std::vector<Module> predictor_modules(const Model& model);

/// The modules that predict further tokens, with embedding and head of `target`, which take no
/// memory: vLLM 0.33 v1/spec_decode/llm_base_proposer.py _maybe_share_embeddings and
/// _maybe_share_lm_head; llama.cpp common/speculative.cpp makes a second context of the model.
/// Copies in the checkpoint are shared, too, because their values are equal. Throws
/// std::invalid_argument: none, a layout that is not described, files without them.
Model predictor_model(const Model& target);

/// `predictor` held like `target`, whose head is read for every proposed token.
QuantisedModel quantise_predictor(const Model& predictor, const QuantisedModel& target);

}  // namespace headroom::model
