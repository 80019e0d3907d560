# warpgauge_unity(<target> [BY_FIRST_WORD | BATCHES_OF <number>] [APART <source>...]): with WARPGAUGE_QUICK the
# target's sources are compiled a folder at a time or, BY_FIRST_WORD, those whose names have the same first word
# (alu_logic.cpp). A folder is a namespace: names that are a file's own are of one file of it alone. Where all names
# of files differ, as where each is a namespace, BATCHES_OF that many are enough, without a precompiled header. The
# sources APART are compiled by themselves. A target of which one unit is left has no precompiled header: it would be
# for that unit alone.
function(warpgauge_unity target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "BY_FIRST_WORD" "BATCHES_OF" APART)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${WARPGAUGE_QUICK})
  if(WARPGAUGE_QUICK)
    # A type of which a file has the members is in a file that is included. And GCC collects its garbage once
    # its memory has doubled, from 128 MiB on, for which a folder of sources would spend a tenth of its time.
    target_compile_options(${target} PRIVATE
      "$<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-subobject-linkage;--param=ggc-min-heapsize=524288>")
  endif()
  set_source_files_properties(${arg_APART} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  if(arg_BATCHES_OF)
    set_target_properties(${target} PROPERTIES UNITY_BUILD_BATCH_SIZE ${arg_BATCHES_OF}
                                               DISABLE_PRECOMPILE_HEADERS ${WARPGAUGE_QUICK})
    return()
  endif()

  set_target_properties(${target} PROPERTIES UNITY_BUILD_MODE GROUP)
  set(groups "")
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources INCLUDE REGEX "\\.cpp$")
  foreach(source IN LISTS sources)
    cmake_path(ABSOLUTE_PATH source NORMALIZE OUTPUT_VARIABLE path)
    if(arg_BY_FIRST_WORD)
      cmake_path(GET path STEM group)
      string(REGEX REPLACE "_.*" "" group "${group}")
    else()
      cmake_path(GET path PARENT_PATH group)
      cmake_path(GET group FILENAME group)
    endif()
    list(APPEND groups ${group})
    set_source_files_properties("${source}" PROPERTIES UNITY_GROUP ${group})
  endforeach()
  list(REMOVE_DUPLICATES groups)
  list(LENGTH groups units)
  if(WARPGAUGE_QUICK AND units EQUAL 1 AND NOT arg_APART)
    set_target_properties(${target} PROPERTIES DISABLE_PRECOMPILE_HEADERS ON)
  endif()
endfunction()
