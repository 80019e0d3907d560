# Constants of the compiler stand elsewhere in the machine code where other families are compiled with it, and
# three sources register cases of one family in one namespace.
foreach(source family degrees rounding)
  set_source_files_properties("${CMAKE_CURRENT_LIST_DIR}/${source}.cu" PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endforeach()
