// libcurl, loaded at the first request. With its thirty libraries it takes longer to start than all
// the rest of the program (bench/README.md).
#pragma once

#include <curl/curl.h>

namespace headroom::sweep {

/// Functions of libcurl in use, typed by its own header.
struct Curl {
  decltype(&::curl_easy_init) init;
  decltype(&::curl_easy_setopt) set;
  decltype(&::curl_easy_perform) perform;
  decltype(&::curl_easy_getinfo) info;
  decltype(&::curl_easy_reset) reset;
  decltype(&::curl_easy_cleanup) cleanup;
  decltype(&::curl_easy_strerror) error;
  decltype(&::curl_version) version;
  decltype(&::curl_slist_append) append;
  decltype(&::curl_slist_free_all) free_list;
};

/// Loads and initialises it once; safe from many threads. Throws HttpError naming the library and
/// its package where it cannot be loaded.
const Curl& curl();

}  // namespace headroom::sweep
