# cmake -DSOURCE=ROOT -DOUTPUT=FILE -P source_hash.cmake: writes FILE, which defines
# headroom::sweep::source_hash.
file(GLOB_RECURSE files RELATIVE ${SOURCE} ${SOURCE}/hardware/*.[ch]pp ${SOURCE}/model/*.[ch]pp)
list(SORT files)
set(all "")
foreach(file IN LISTS files)
  file(SHA256 ${SOURCE}/${file} hash)
  string(APPEND all "${file} ${hash}\n")
endforeach()
string(SHA256 hash "${all}")
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT "#include \"sweep/run/source_hash.hpp\"
const char headroom::sweep::source_hash[] = \"${hash}\";
" @ONLY)
