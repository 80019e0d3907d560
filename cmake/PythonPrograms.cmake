# warpgauge-python, beside the programs that are built: a small script that runs the commands that are
# Python, those of reports/warpgauge/program.py, on the source tree. WARPGAUGE_PYTHON names another interpreter
# than that of ci/bootstrap; it must have the packages that pyproject.toml names.
set(python "python3")
if(PROJECT_IS_TOP_LEVEL)
  set(python "${PROJECT_SOURCE_DIR}/build/venv/bin/python")
endif()
set(WARPGAUGE_PYTHON "${python}" CACHE STRING
    "Python for the commands in reports/warpgauge, and for the tests in tests/*/test_*.py")

function(warpgauge_in_quotes path out)  # the single quotes of a shell
  string(REPLACE "'" "'\\''" path "${path}")
  set(${out} "'${path}'" PARENT_SCOPE)
endfunction()
warpgauge_in_quotes("${WARPGAUGE_PYTHON}" python)
warpgauge_in_quotes("${PROJECT_SOURCE_DIR}" source)
configure_file("${PROJECT_SOURCE_DIR}/cmake/python_program.in"
               "${PROJECT_BINARY_DIR}/bin/warpgauge-python" @ONLY
               FILE_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE
                                WORLD_READ WORLD_EXECUTE)
set_property(GLOBAL PROPERTY WARPGAUGE_PROGRAMS_DIR "${PROJECT_BINARY_DIR}/bin")
