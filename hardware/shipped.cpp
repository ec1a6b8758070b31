// Reads the shipped rows from the record that the build embedded.
#include "hardware/catalogue.hpp"
#include "hardware/catalogue_record.hpp"
#include "hardware/embedded.hpp"

namespace headroom {

const Catalogue& shipped_catalogue() {
  static const Catalogue catalogue = from_record(embedded_hardware()[0].bytes);
  return catalogue;
}

}  // namespace headroom
