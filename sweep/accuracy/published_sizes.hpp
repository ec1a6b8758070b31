// Published sizes of quantised models against what the schemes give.
#pragma once

#include <vector>

#include "model/checkpoint/quantisation/quantisation.hpp"
#include "sweep/accuracy/measurement.hpp"

namespace headroom::sweep {

constexpr double largest_gguf_header = 16e6;  ///< bytes, with a vocabulary of 262144
constexpr double largest_header = 1e6;        ///< bytes, of other files of a few thousand tensors

/// The schemes that a row's column "precision" can mean: "q4_k_m q4_k_m-imatrix" is either,
/// "q4_k_m-imatrix|q4_k_m" the first that the program has. None: not one of its schemes.
std::vector<const model::Scheme*> published_schemes(const Measurement& row);

/// Bytes of the file of `model`, without tensors that are not stored (rotary tables). For a GGUF
/// file, tensors in a separate file do not count.
double stored_bytes(const model::Model& model, const model::Scheme& scheme);

/// Parameters of what a row's file holds: a GGUF file has the language model alone, and scaling
/// factors of rotary frequencies.
Size published_parameters(const Measurement& row, const model::Model& model);

/// `weights` with every tensor's bytes in proportion, so that their file has `file` bytes: for
/// files of a mix that no rule describes. A pass reads more or less in the same proportion. Left
/// out: which tensors such a mix holds in more bits.
model::QuantisedModel of_file_size(model::QuantisedModel weights, double file);

struct PublishedSize {
  double published = 0;      ///< bytes
  double low = 0, high = 0;  ///< by the schemes that the row can mean, bytes
  double tolerance = 0;      ///< rounding of the published figure and the largest header, bytes
  double nominal = 0;        ///< parameters × bits that the name of the recipe says, bytes
};
/// Throws Skipped.
PublishedSize published_size(const Measurement& row, const model::Model& model);

}  // namespace headroom::sweep
