// The rows of encoder-decoder models, one block per file of this folder.
#include "model/architectures/rows.hpp"

namespace headroom::model::families {

std::span<const Architecture> encoder_decoder_rows() { return {}; }

}  // namespace headroom::model::families
