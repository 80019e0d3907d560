# Recursion is what it shows: ptxas cannot know the stack, and from CUDA 13.5 on the build would fail
# for that warning.
set_source_files_properties("${CMAKE_CURRENT_LIST_DIR}/family.cu"
                            PROPERTIES COMPILE_OPTIONS -Xptxas=--suppress-stack-size-warning)
