# The programs that are Python beside those that are built, so that `warpgauge accept` and the like
# find them: small scripts that run Python on the source tree. WARPGAUGE_PYTHON names another
# interpreter than that of ci/bootstrap; it must have this project's package (pip install -e .), with
# its extra `reports` for reports and `dev` for the tests.
set(WARPGAUGE_PYTHON "${PROJECT_SOURCE_DIR}/build/venv/bin/python" CACHE FILEPATH
    "Python for the programs of ci/warpgauge_ci and reports/, and for the tests in tests/*/test_*.py")

# warpgauge-NAME runs `python -m CALL`.
function(warpgauge_python_program name call)
  foreach(path IN ITEMS WARPGAUGE_PYTHON PROJECT_SOURCE_DIR)  # in the single quotes of a shell
    string(REPLACE "'" "'\\''" quoted_${path} "${${path}}")
  endforeach()
  configure_file("${PROJECT_SOURCE_DIR}/cmake/python_program.in"
                 "${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/warpgauge-${name}" @ONLY
                 FILE_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE
                                  WORLD_READ WORLD_EXECUTE)
endfunction()

foreach(command IN ITEMS accept diff emit)
  warpgauge_python_program(${command} "warpgauge_ci.cli ${command}")
endforeach()
warpgauge_python_program(report warpgauge_report)
