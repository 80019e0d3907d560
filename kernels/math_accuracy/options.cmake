# Three sources register cases of one family in one namespace, which a file can do once.
set_source_files_properties("${CMAKE_CURRENT_LIST_DIR}/degrees.cu" "${CMAKE_CURRENT_LIST_DIR}/rounding.cu"
                            PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
