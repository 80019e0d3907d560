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
      "$<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-subobject-linkage;--param=ggc-min-heapsize=1048576>")
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

# warpgauge_cuda_unity(<out> <target> <file.cu>...): with WARPGAUGE_QUICK the sources that a target compiles in place
# of these, each of which includes eight of them: nvcc spends most of its time on headers. Those with COMPILE_OPTIONS
# or SKIP_UNITY_BUILD_INCLUSION stay. CMake itself compiles CUDA together from 3.31 on.
function(warpgauge_cuda_unity out target)
  set(units "")
  set(together "")
  foreach(source IN LISTS ARGN)
    get_source_file_property(options "${source}" COMPILE_OPTIONS)
    get_source_file_property(alone "${source}" SKIP_UNITY_BUILD_INCLUSION)
    if(WARPGAUGE_QUICK AND NOT options AND NOT alone)
      list(APPEND together "${source}")
    else()
      list(APPEND units "${source}")
    endif()
  endforeach()
  while(together)
    list(SUBLIST together 0 8 batch)
    list(REMOVE_ITEM together ${batch})
    list(TRANSFORM batch REPLACE "(.+)" "#include \"\\1\"\n")
    list(JOIN batch "" text)
    list(LENGTH units number)
    set(unit "${CMAKE_CURRENT_BINARY_DIR}/${target}_unity/${number}.cu")
    file(GENERATE OUTPUT "${unit}" CONTENT "${text}")
    list(APPEND units "${unit}")
  endwhile()
  set(${out} ${units} PARENT_SCOPE)
endfunction()
