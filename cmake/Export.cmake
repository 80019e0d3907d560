# warpgauge_export(<name>...): gives each target warpgauge_<name> its public name, warpgauge::<name>, here
# and where it is installed.
set_property(GLOBAL PROPERTY WARPGAUGE_VERSION "${PROJECT_VERSION}")

function(warpgauge_export)
  foreach(name IN LISTS ARGN)
    add_library(warpgauge::${name} ALIAS warpgauge_${name})
    set_target_properties(warpgauge_${name} PROPERTIES EXPORT_NAME ${name})
    set_property(GLOBAL APPEND PROPERTY WARPGAUGE_EXPORTED warpgauge_${name})
  endforeach()
endfunction()
