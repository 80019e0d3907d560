# How nvcc aligns its three variables in shared memory depends on what else is in the file.
set_source_files_properties("${CMAKE_CURRENT_LIST_DIR}/family.cu" PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
