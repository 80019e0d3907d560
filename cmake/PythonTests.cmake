# Each tests/<folder>/test_<name>.py as a CTest test python.<folder>.<name>, run by the interpreter
# of ci/bootstrap. WARPGAUGE_PYTHON names another one; it must have this project's package with
# its extra `dev` (pip install -e '.[dev]').
set(WARPGAUGE_PYTHON "${PROJECT_SOURCE_DIR}/build/venv/bin/python" CACHE FILEPATH
    "Python for the tests in tests/*/test_*.py")

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
