# The Python tests as CTest tests, one a folder, run by the interpreter of ci/bootstrap.
# WARPGAUGE_PYTHON names another one; it must have pytest and this project's package.
set(WARPGAUGE_PYTHON "${PROJECT_SOURCE_DIR}/build/venv/bin/python" CACHE FILEPATH
    "Python with pytest, for the tests of reports/ and ci/")

foreach(folder IN ITEMS reports ci)
  file(GLOB files CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/${folder}/test_*.py"
                                    "${PROJECT_SOURCE_DIR}/tests/${folder}/*_test.py")
  if(files)
    add_test(NAME python.${folder}
             COMMAND "${WARPGAUGE_PYTHON}" -m pytest -q -p no:cacheprovider ${files}
             WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
    set_tests_properties(python.${folder} PROPERTIES
      LABELS host
      ENVIRONMENT "WARPGAUGE_BINARY_DIR=${CMAKE_BINARY_DIR};PYTHONDONTWRITEBYTECODE=1")
  endif()
endforeach()
