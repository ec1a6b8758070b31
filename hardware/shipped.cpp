// Reads the shipped rows from the record that the build embedded.
#include "hardware/catalogue.hpp"
#include "hardware/catalogue_record.hpp"
#include "hardware/embedded.hpp"

namespace headroom {

const Catalogue& shipped_catalogue() {
  // Its thousands of texts are not freed one by one when the program ends.
  static const Catalogue& catalogue = *new Catalogue(from_record(embedded_hardware()[0].bytes));
  return catalogue;
}

}  // namespace headroom
