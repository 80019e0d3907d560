# warpgauge_precompile(<target> [<header>...]): what nearly every source file includes and what is slow
# to read, read once for the target. The files still include what they use: the asan preset builds
# without precompiled headers.
function(warpgauge_precompile target)
  set(headers algorithm functional map memory optional span stdexcept string string_view vector
              fmt/format.h ${ARGN})
  list(TRANSFORM headers REPLACE "(.+)" "$<$<COMPILE_LANGUAGE:CXX>:<\\1$<ANGLE-R>>")
  target_precompile_headers(${target} PRIVATE ${headers})
endfunction()
