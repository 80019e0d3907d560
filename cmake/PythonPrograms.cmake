# The programs of ci/warpgauge_ci beside those that are built, so that `warpgauge accept` and the
# like find them: small scripts that run Python on the source tree. WARPGAUGE_PYTHON names another
# interpreter than that of ci/bootstrap; it must have this project's package with its extra `dev`
# (pip install -e '.[dev]').
set(WARPGAUGE_PYTHON "${PROJECT_SOURCE_DIR}/build/venv/bin/python" CACHE FILEPATH
    "Python for the programs of ci/warpgauge_ci and for the tests in tests/*/test_*.py")

function(warpgauge_python_programs)
  foreach(path IN ITEMS WARPGAUGE_PYTHON PROJECT_SOURCE_DIR)  # in the single quotes of a shell
    string(REPLACE "'" "'\\''" quoted_${path} "${${path}}")
  endforeach()
  foreach(command IN LISTS ARGN)
    set(script "${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/warpgauge-${command}")
    configure_file("${PROJECT_SOURCE_DIR}/cmake/python_program.in" "${script}" @ONLY
                   FILE_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE
                                    WORLD_READ WORLD_EXECUTE)
  endforeach()
endfunction()

warpgauge_python_programs(accept diff emit)
