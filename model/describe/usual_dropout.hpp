// Dropout and soft caps of classes where a config says nothing.
#pragma once

#include <string_view>

namespace headroom::model {

struct UsualDropout {
  double attention = 0, hidden = 0, embedding = 0;  ///< shares that training drops
  double attention_softcap = 0, logit_softcap = 0;  ///< 0: none
};

/// Defaults of the class of `model_type`; zeros where no row has it. Source: transformers 5.23,
/// configuration files.
UsualDropout usual_dropout(std::string_view model_type);

}  // namespace headroom::model
