// Declares the function for each row of table/*.def: family::function, defined in family.cpp.
//
// Each function takes the config and returns the Part below the root module. A family with several
// classes gets the requested one from Config::class_name(). Names, shapes and order follow
// transformers 5.24 on the meta device. tests/oracle/models_test.cpp compares them.
#pragma once

#include "model/describe/config.hpp"
#include "model/describe/part.hpp"

namespace headroom::model::families {

#define MODEL(class_name, model_type, family, function) \
  namespace family {                                    \
  Part function(const Config& c);                       \
  }
#define TRUNK MODEL
#define CLASSIFIER(class_name, model_type, head)
#define COUNTED(class_name, model_type, family, function, why) \
  MODEL(class_name, model_type, family, function)
#include "model/describe/architectures/table/table.def"
#undef MODEL
#undef TRUNK
#undef CLASSIFIER
#undef COUNTED

}  // namespace headroom::model::families
