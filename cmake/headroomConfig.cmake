# find_package(headroom) gives headroom::model (evaluate, parameters, the catalogue of models),
# headroom::hardware (devices, hosts, machines), headroom::report and headroom::sweep.
include(${CMAKE_CURRENT_LIST_DIR}/dependencies.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/headroomTargets.cmake)
