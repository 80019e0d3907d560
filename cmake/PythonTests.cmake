# Each tests/<folder>/test_<name>.py as a CTest test python.<folder>.<name>, run by WARPGAUGE_PYTHON
# (PythonPrograms.cmake). A test that looks for a GPU (/dev/nvidia0) has the label gpu as well, and a
# GPU to itself; all others see none, so that they run side by side and do the same on every machine.

file(GLOB files CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/*/test_*.py")
foreach(file IN LISTS files)
  string(REGEX REPLACE "^.*/([^/]+)/test_([^/]+)\\.py$" "python.\\1.\\2" name "${file}")
  add_test(NAME ${name} COMMAND "${WARPGAUGE_PYTHON}" -m pytest -q -rs -p no:cacheprovider "${file}"
           WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
  set(environment "WARPGAUGE_BINARY_DIR=${PROJECT_BINARY_DIR}")
  set_tests_properties(${name} PROPERTIES LABELS host)
  file(STRINGS "${file}" looks_for_gpu REGEX "/dev/nvidia0")
  if(looks_for_gpu)
    set_tests_properties(${name} PROPERTIES LABELS "host;gpu" RESOURCE_GROUPS "gpus:1")
  elseif(gpus)  # GpuResources.cmake
    list(APPEND environment CUDA_VISIBLE_DEVICES=)
  endif()
  set_tests_properties(${name} PROPERTIES ENVIRONMENT "${environment}")
endforeach()
