# Other families, compiled with it, would have its constants.
set_source_files_properties("${CMAKE_CURRENT_LIST_DIR}/family.cu" PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
