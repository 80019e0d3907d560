# The files tests/<folder>/test_*.py as CTest tests python.<folder>.<number>, run by WARPGAUGE_PYTHON
# (PythonPrograms.cmake): ten files or so in one process, since a process spends one to three seconds on
# what it imports. Neighbours in the alphabet, which often are slow for one reason, are kept apart. Files
# that look for a GPU (/dev/nvidia0) are python.<folder>.gpu, which has the label gpu as well, and a GPU to
# itself; all others see none, so that they run side by side and do the same on every machine.

function(warpgauge_python_test name)
  add_test(NAME ${name} COMMAND "${WARPGAUGE_PYTHON}" -m pytest -q -rs -p no:cacheprovider ${ARGN}
           WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
  set(environment "WARPGAUGE_BINARY_DIR=${PROJECT_BINARY_DIR}")
  if(name MATCHES "\\.gpu$")
    set_tests_properties(${name} PROPERTIES LABELS "host;gpu" RESOURCE_GROUPS "gpus:1")
  else()
    set_tests_properties(${name} PROPERTIES LABELS host)
    if(gpus)  # GpuResources.cmake
      list(APPEND environment CUDA_VISIBLE_DEVICES=)
    endif()
  endif()
  # These take longest, and start first.
  set_tests_properties(${name} PROPERTIES ENVIRONMENT "${environment}" COST 1000)
endfunction()

file(GLOB folders CONFIGURE_DEPENDS LIST_DIRECTORIES true "${PROJECT_SOURCE_DIR}/tests/*")
foreach(path IN LISTS folders)
  cmake_path(GET path FILENAME folder)
  file(GLOB files CONFIGURE_DEPENDS "${path}/test_*.py")
  set(on_gpu "")
  foreach(file IN LISTS files)
    file(STRINGS "${file}" looks_for_gpu REGEX "/dev/nvidia0")
    if(looks_for_gpu)
      list(APPEND on_gpu "${file}")
    endif()
  endforeach()
  if(on_gpu)
    warpgauge_python_test(python.${folder}.gpu ${on_gpu})
    list(REMOVE_ITEM files ${on_gpu})
  endif()
  list(LENGTH files count)
  math(EXPR processes "(${count} + 9) / 10")
  set(number 0)
  foreach(file IN LISTS files)
    math(EXPR process "${number} % ${processes} + 1")
    list(APPEND files_of_${process} "${file}")
    math(EXPR number "${number} + 1")
  endforeach()
  foreach(process RANGE 1 ${processes})
    if(files_of_${process})
      warpgauge_python_test(python.${folder}.${process} ${files_of_${process}})
      unset(files_of_${process})
    endif()
  endforeach()
endforeach()
