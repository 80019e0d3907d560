# Finds libiberty, GNU's demangler, as Debian (libiberty-dev) and Fedora (binutils-devel) install it. Of it we
# take one file, cp-demangle.o, which needs nothing of the others and whose licence lets programs be linked with
# it: libiberty_OBJECT, and libiberty_INCLUDE_DIR with its header.
find_path(libiberty_INCLUDE_DIR demangle.h PATH_SUFFIXES libiberty)
find_library(libiberty_LIBRARY NAMES libiberty.a)
mark_as_advanced(libiberty_INCLUDE_DIR libiberty_LIBRARY)

if(libiberty_LIBRARY)
  set(_folder "${CMAKE_CURRENT_BINARY_DIR}/libiberty")
  file(MAKE_DIRECTORY "${_folder}")
  execute_process(COMMAND "${CMAKE_AR}" x "${libiberty_LIBRARY}" cp-demangle.o WORKING_DIRECTORY "${_folder}"
                  COMMAND_ERROR_IS_FATAL ANY)
  set(libiberty_OBJECT "${_folder}/cp-demangle.o")
  # It has no version of its own: that of the package.
  execute_process(COMMAND dpkg-query --show --showformat "\${Version}" libiberty-dev
                  OUTPUT_VARIABLE libiberty_VERSION ERROR_QUIET)
  if(NOT libiberty_VERSION)
    execute_process(COMMAND rpm --query --queryformat "%{VERSION}" binutils-devel
                    OUTPUT_VARIABLE libiberty_VERSION ERROR_QUIET)
  endif()
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(libiberty
  REQUIRED_VARS libiberty_OBJECT libiberty_INCLUDE_DIR VERSION_VAR libiberty_VERSION
  REASON_FAILURE_MESSAGE "It has the demangler. Install libiberty-dev (Debian, Ubuntu) or binutils-devel (Fedora). \
Elsewhere, libiberty_LIBRARY names libiberty.a, and libiberty_INCLUDE_DIR the folder of demangle.h.")
