// Tensors that autograd keeps between forward and backward, by layer, as polynomials in sequences
// and tokens.
//
// Every layer's pass runs once on the tape (model/train/tape/tape.hpp) for each kind of layer that
// a model has; what a storage holds is counted once. Against what torch keeps, tensor by tensor:
// tests/oracle/data/training/saved_activations.csv.gz. Korthikanti et al., arXiv:2205.05198,
// section 4, is the special case of GPT-3's layer in 16 bit with dropout and without statistics of
// norms.
#pragma once

#include <string>
#include <vector>

#include "model/train/tape/layer_run.hpp"

namespace headroom::model {

/// One kind of layer: equal shapes, classes and window.
struct SavedLayer {
  Tape::Sums within{}, beyond{};  ///< sequences shorter than the sliding window, and from it on
  Tape::Sums attention{}, attention_beyond{};  ///< part of them up to the end of attention
  Tape::Sums made{}, made_beyond{};            ///< all that is written, kept or not
  Polynomial input{};  ///< the layer's input alone, which full recomputation keeps
  Size window = 0;     ///< tokens; 0: none
  /// Elements a token of the gradients that are alive at once, where gate and up are overwritten by
  /// theirs; 0: they are not.
  Size in_place_width = 0;
  /// Bytes that the gradients of one pair's scores take while softmax goes backward; 0: no scores.
  Size score_gradients = 0;
  /// Elements of the layer's last matrix, whose result nothing keeps: made again, a layer can stop
  /// before it.
  Size last_matrix = 0;
  /// Patches run through it, not text: polynomials are in images and the patches of each.
  bool tower = false;
  bool reads_images_alone = false;
  /// Why flash-attn does not run its attention; empty: it does, or there is none.
  std::string without_flash;
  std::string unknown;  ///< a module that is not understood, or its class; empty: all are
};

/// Images of one pass, all of one size; none: 0 of them.
struct ImagesOfPass {
  double count = 0, patches = 0;
};

struct SavedActivations {
  std::vector<SavedLayer> kinds;
  std::vector<std::size_t> kind_of;  ///< kind of each layer of model.profile.layers
  std::vector<Size> passes;          ///< times that a token runs through it (ALBERT)
  Tape::Sums before, after;          ///< embeddings and rotary tables; final norm and head
  Tape::Sums around_tower;           ///< in images and patches: from pixels, and into the context
  Polynomial loss;                   ///< log-probabilities in fp32, and the labels
  Polynomial logits;                 ///< logits and their fp32 copy, alive while the loss is made
  Size logits_bytes = 0;             ///< bytes of one logit as the head makes it
  /// Bytes of one batch of `batch` sequences of `sequence` tokens, with every layer kept.
  double total(double batch, double sequence, ImagesOfPass images = {}) const;
  double layer(std::size_t i, double batch, double sequence, ImagesOfPass images = {}) const;
};

/// `mode` decides how values are held, what is dropped and which kernels run.
SavedActivations saved_activations(const Model& model, const Execution& execution, TapeMode mode);

}  // namespace headroom::model
