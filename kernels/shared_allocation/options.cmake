# The addresses of its device heap stand elsewhere in the machine code where other families are compiled with it.
set_source_files_properties("${CMAKE_CURRENT_LIST_DIR}/family.cu" PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
