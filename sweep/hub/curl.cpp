#include "sweep/hub/curl.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include "sweep/hub/http.hpp"

namespace headroom::sweep {
namespace {

#ifdef __APPLE__
constexpr const char* library = "libcurl.4.dylib";
#else
constexpr const char* library = "libcurl.so.4";  // since 2006: libcurl 7.16 and later
#endif

template <class Function>
void find(void* handle, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(handle, name));
  if (!function) throw HttpError(fmt::format("{} has no {}: is it libcurl?", library, name));
}

Curl load() {
  void* handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (!handle)
    throw HttpError(fmt::format(
        "models of the hub need {}, which cannot be loaded ({}); on Debian and Ubuntu: apt install "
        "libcurl4",
        library, dlerror()));
  Curl all{};
  decltype(&::curl_global_init) global_init = nullptr;
  find(handle, "curl_global_init", global_init);
  find(handle, "curl_easy_init", all.init);
  find(handle, "curl_easy_setopt", all.set);
  find(handle, "curl_easy_perform", all.perform);
  find(handle, "curl_easy_getinfo", all.info);
  find(handle, "curl_easy_reset", all.reset);
  find(handle, "curl_easy_cleanup", all.cleanup);
  find(handle, "curl_easy_strerror", all.error);
  find(handle, "curl_version", all.version);
  find(handle, "curl_slist_append", all.append);
  find(handle, "curl_slist_free_all", all.free_list);
  if (global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
    throw HttpError(fmt::format("{} cannot be initialised", library));
  return all;
}

}  // namespace

const Curl& curl() {
  static const Curl loaded = load();
  return loaded;
}

}  // namespace headroom::sweep
