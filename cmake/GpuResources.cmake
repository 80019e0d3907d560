# Gives CTest the list of GPUs, one test with RESOURCE_GROUPS "gpus:1" at a time for each. Without a GPU
# there is no such file: CTest runs these tests, and they skip with the reason.
file(GLOB gpus "/dev/nvidia[0-9]*")
if(gpus)
  set(devices "")
  foreach(device IN LISTS gpus)  # numbered as CUDA numbers those that are visible, from 0
    list(LENGTH devices id)
    list(APPEND devices "{\"id\": \"${id}\", \"slots\": 1}")
  endforeach()
  list(JOIN devices ", " devices)
  set(CTEST_RESOURCE_SPEC_FILE "${PROJECT_BINARY_DIR}/resources.json")
  file(WRITE "${CTEST_RESOURCE_SPEC_FILE}"
       "{\"version\": {\"major\": 1, \"minor\": 0}, \"local\": [{\"gpus\": [${devices}]}]}\n")
endif()
