# The libraries that are compiled into what is installed: their licences, and a bill of materials (CycloneDX).

# Sets `out` to the version that warpgauge is built with: that of the tag, or of what was found.
function(warpgauge_dependency_version name tag out)
  set(version "${${name}_VERSION}")
  if(${name}_SOURCE_DIR)
    string(REGEX REPLACE "^v" "" version "${tag}")
  endif()
  if(NOT version)
    message(FATAL_ERROR "The version of ${name} is not known")
  endif()
  set(${out} "${version}" PARENT_SCOPE)
endfunction()

set(components "[]")
set(count 0)
# warpgauge_component(<name> <version> <licence, as JSON> <address>)
function(warpgauge_component name version licence url)
  string(JSON components SET "${components}" ${count} "{
    \"type\": \"library\", \"bom-ref\": \"${name}@${version}\", \"name\": \"${name}\", \"version\": \"${version}\",
    \"licenses\": [{\"license\": ${licence}}],
    \"externalReferences\": [{\"type\": \"website\", \"url\": \"${url}\"}]}")
  math(EXPR count "${count} + 1")
  set(components "${components}" PARENT_SCOPE)
  set(count ${count} PARENT_SCOPE)
endfunction()

# warpgauge_licence(<name> <text>...): installs the first of the files.
function(warpgauge_licence name)
  if(ARGN)
    list(GET ARGN 0 text)
    install(FILES "${text}" DESTINATION ${doc}/licences RENAME ${name}.txt)
  else()
    message(NOTICE "The licence of ${name} is not to be found here: it is not installed with warpgauge, and "
                   "a release needs it")
  endif()
endfunction()

foreach(name IN LISTS WARPGAUGE_DEPENDENCIES)
  list(GET WARPGAUGE_${name} 0 licence)
  list(GET WARPGAUGE_${name} 1 repository)
  list(GET WARPGAUGE_${name} 2 tag)
  list(GET WARPGAUGE_${name} 3 debian)
  warpgauge_dependency_version(${name} ${tag} version)
  warpgauge_component(${name} "${version}" "{\"id\": \"${licence}\"}" "https://github.com/${repository}")
  if(${name}_SOURCE_DIR)
    file(GLOB texts LIST_DIRECTORIES false "${${name}_SOURCE_DIR}/LICEN[CS]E*" "${${name}_SOURCE_DIR}/lib/LICENSE")
    list(SORT texts COMPARE STRING ORDER DESCENDING)  # lib/LICENSE is that of the library
  else()
    file(GLOB texts "/usr/share/doc/${debian}/copyright")
  endif()
  warpgauge_licence(${name} ${texts})
endforeach()
warpgauge_component(libiberty "${libiberty_VERSION}"
                    "{\"name\": \"LGPL-2.0-or-later WITH GCC-exception-2.0\"}" "https://gcc.gnu.org/")
file(GLOB texts "/usr/share/doc/libiberty-dev/copyright" "/usr/share/licenses/binutils/COPYING3.LIB")
warpgauge_licence(libiberty ${texts})

# What pages of reports carry in themselves, unmodified.
file(GLOB parts CONFIGURE_DEPENDS reports/warpgauge/page/third_party/*/component.json)
foreach(part IN LISTS parts)
  file(READ "${part}" component)
  foreach(member name version licence url)
    string(JSON ${member} GET "${component}" ${member})
  endforeach()
  cmake_path(GET part PARENT_PATH folder)
  warpgauge_component(${name} "${version}" "{\"id\": \"${licence}\"}" "${url}")
  warpgauge_licence(${name} "${folder}/LICENSE")
endforeach()

warpgauge_component(cuda-runtime "${CUDAToolkit_VERSION}" "{\"name\": \"NVIDIA CUDA Toolkit EULA\"}"
                    "https://docs.nvidia.com/cuda/eula/")

string(JSON bom SET "{
  \"bomFormat\": \"CycloneDX\", \"specVersion\": \"1.6\", \"version\": 1,
  \"metadata\": {\"component\": {
    \"type\": \"application\", \"bom-ref\": \"warpgauge\", \"name\": \"warpgauge\",
    \"version\": \"${PROJECT_VERSION}\", \"licenses\": [{\"license\": {\"id\": \"Apache-2.0\"}}]}}}"
  components "${components}")
file(WRITE "${package}/warpgauge.cdx.json" "${bom}\n")
install(FILES "${package}/warpgauge.cdx.json" DESTINATION ${doc})
