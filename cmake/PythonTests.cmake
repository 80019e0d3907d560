# The files tests/<folder>/test_*.py as CTest tests python.<folder>.<number>, run by WARPGAUGE_PYTHON
# (PythonPrograms.cmake): up to ten files in one process, since a process spends one to three seconds on
# what it imports. Neighbours in the alphabet, which often are slow for one reason, are kept apart. Files
# that look for a GPU (/dev/nvidia0) are python.<folder>.gpu, which has the label gpu as well, and a GPU to
# itself; all others see none, so that they run side by side and do the same on every machine.

function(warpgauge_python_test name cost)
  add_test(NAME ${name} COMMAND "${WARPGAUGE_PYTHON}" -m pytest -q -rs -p no:cacheprovider ${ARGN}
           WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
  set(environment "WARPGAUGE_BINARY_DIR=${PROJECT_BINARY_DIR}")
  set(labels host)
  if(name MATCHES "\\.gpu$")
    list(APPEND labels gpu)
    set_tests_properties(${name} PROPERTIES RESOURCE_GROUPS "gpus:1")
  elseif(gpus)  # GpuResources.cmake
    list(APPEND environment CUDA_VISIBLE_DEVICES=)
  endif()
  set_tests_properties(${name} PROPERTIES LABELS "${labels}" ENVIRONMENT "${environment}" COST ${cost} TIMEOUT 3600)
endfunction()

file(GLOB files CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/*/test_*.py")
set(groups "")
foreach(file IN LISTS files)
  cmake_path(GET file PARENT_PATH group)
  cmake_path(GET group FILENAME group)
  file(STRINGS "${file}" looks_for_gpu REGEX "/dev/nvidia0")
  if(looks_for_gpu)
    string(APPEND group .gpu)
  endif()
  list(APPEND groups ${group})
  list(APPEND files_of_${group} "${file}")
endforeach()
list(REMOVE_DUPLICATES groups)
foreach(group IN LISTS groups)
  # They start before all other tests, those of folders with many files first: a long one that started last
  # would run alone.
  list(LENGTH files_of_${group} count)
  math(EXPR cost "1000 + ${count}")
  if(group MATCHES "\\.gpu$")
    warpgauge_python_test(python.${group} ${cost} ${files_of_${group}})
    continue()
  endif()
  math(EXPR processes "(${count} + 9) / 10")
  math(EXPR last "${count} - 1")
  foreach(number RANGE 1 ${processes})
    math(EXPR first "${number} - 1")
    set(some "")
    foreach(index RANGE ${first} ${last} ${processes})
      list(GET files_of_${group} ${index} file)
      list(APPEND some "${file}")
    endforeach()
    warpgauge_python_test(python.${group}.${number} ${cost} ${some})
  endforeach()
endforeach()
