# Each tests/<folder>/test_<name>.py as a CTest test python.<folder>.<name>, run by WARPGAUGE_PYTHON
# (PythonPrograms.cmake).

file(GLOB files CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/*/test_*.py")
foreach(file IN LISTS files)
  string(REGEX REPLACE "^.*/([^/]+)/test_([^/]+)\\.py$" "python.\\1.\\2" name "${file}")
  add_test(NAME ${name} COMMAND "${WARPGAUGE_PYTHON}" -m pytest -q -rs -p no:cacheprovider "${file}"
           WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
  # Some of them run programs that use a GPU where there is one.
  set_tests_properties(${name} PROPERTIES
    LABELS host RESOURCE_GROUPS "gpus:1"
    ENVIRONMENT "WARPGAUGE_BINARY_DIR=${PROJECT_BINARY_DIR};PYTHONDONTWRITEBYTECODE=1")
endforeach()
