// Rows of tables of published sizes of quantised models against what the schemes give.
#pragma once

#include <vector>

#include "model/checkpoint/quantisation/quantisation.hpp"
#include "sweep/accuracy/measurement_names.hpp"

namespace headroom::sweep {

/// The recipe of a row ("format", "quant", "notes") as the schemes that it can mean: two where it
/// does not say whether an importance matrix was used, none where it is not one of ours.
std::vector<const model::Scheme*> published_schemes(const Measurement& row);

/// Bytes that a file of `model` holds: what is not stored (rotary tables) left out, and of a GGUF
/// file what lies in a file of its own.
double stored_bytes(const model::Model& model, const model::Scheme& scheme);

/// Parameters of what a row's file holds: a GGUF file has the language model alone, and scaling
/// factors of rotary frequencies.
Size published_parameters(const Measurement& row, const model::Model& model);

struct PublishedSize {
  double published = 0;      ///< bytes
  double low = 0, high = 0;  ///< by the schemes that the row can mean, bytes
  double tolerance = 0;  ///< rounding of the published figure and the largest file header, bytes
  double nominal = 0;    ///< parameters × bits that the name of the recipe says, bytes
};
/// Throws Skipped.
PublishedSize published_size(const Measurement& row, const model::Model& model);

/// Half a unit of the last printed digit.
double rounding(const std::string& printed);

}  // namespace headroom::sweep
