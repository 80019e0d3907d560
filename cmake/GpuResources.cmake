# Tells CTest how many GPUs there are, so that tests with RESOURCE_GROUPS "gpus:1" share them out.
# Without a GPU there is no such file: CTest then runs these tests and they skip with the reason.
execute_process(COMMAND nvidia-smi -L OUTPUT_VARIABLE answer RESULT_VARIABLE status ERROR_QUIET
                TIMEOUT 60)
string(REGEX MATCHALL "GPU [0-9]+:" gpus "${answer}")
if(status EQUAL 0 AND gpus)
  list(TRANSFORM gpus REPLACE "GPU ([0-9]+):" "{\"id\": \"\\1\", \"slots\": 1}")
  list(JOIN gpus ", " gpus)
  set(CTEST_RESOURCE_SPEC_FILE "${PROJECT_BINARY_DIR}/resources.json")
  file(WRITE "${CTEST_RESOURCE_SPEC_FILE}"
       "{\"version\": {\"major\": 1, \"minor\": 0}, \"local\": [{\"gpus\": [${gpus}]}]}\n")
endif()
