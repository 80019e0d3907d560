# A cap on registers that the source does not mention.
set_source_files_properties("${CMAKE_CURRENT_LIST_DIR}/capped_by_flag.cu"
                            PROPERTIES COMPILE_OPTIONS -maxrregcount=32)
