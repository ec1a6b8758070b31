// Rows of text as gzip. A general compressor searches for what it has seen before; here it is
// known: most fields of a row are those of the row before.
#pragma once

#include <string>
#include <string_view>

namespace headroom::report {

/// A whole gzip file (RFC 1952), without a time or a name: its bytes follow from `text`, which may
/// be any text. Rows end in a line feed, and their fields in a comma.
std::string gzip_rows(std::string_view text);

}  // namespace headroom::report
