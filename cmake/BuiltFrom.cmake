# cmake -D SOURCE=<folder> -D HEADER=<file> -P BuiltFrom.cmake: writes the commit that has the sources of a build,
# before each build. It has them all if git sees no change; what the commit that the header names has as well keeps
# that, so that programs are linked again only where sources have changed.
set(sources ":/")  # the whole repository, but for what no program is built from
foreach(name IN ITEMS "*.md" budgets.toml "budgets/*.toml" warpgauge.toml)
  list(APPEND sources ":(top,exclude,glob)**/${name}")
endforeach()

# ask(<variable> <argument>...): the output of git; "failed" where it fails.
function(ask variable)
  execute_process(COMMAND git -C "${SOURCE}" ${ARGN} RESULT_VARIABLE code OUTPUT_VARIABLE text ERROR_QUIET
                  OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(NOT code EQUAL 0)
    set(text "failed")
  endif()
  set(${variable} "${text}" PARENT_SCOPE)
endfunction()

ask(changes status --porcelain -- ${sources})
ask(commit rev-parse --verify HEAD)
if(changes OR commit STREQUAL "failed")
  set(commit "")
elseif(EXISTS "${HEADER}")
  file(READ "${HEADER}" text)
  if(text MATCHES "BUILT_FROM \"([0-9a-f]+)\"")
    ask(others diff --quiet --no-ext-diff ${CMAKE_MATCH_1} HEAD -- ${sources})
    if(NOT others)
      set(commit "${CMAKE_MATCH_1}")
    endif()
  endif()
endif()
list(JOIN sources "\", \"" listed)
file(CONFIGURE OUTPUT "${HEADER}" CONTENT
"// The commit that has the sources of this build, \"\" if none has, and git's pathspecs of the sources.
#define WARPGAUGE_BUILT_FROM \"${commit}\"
#define WARPGAUGE_SOURCES \"${listed}\"
" @ONLY)
