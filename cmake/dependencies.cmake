# What headroom's libraries link to: read by this build and by the installed package alike.
find_package(Boost 1.81 REQUIRED COMPONENTS json program_options iostreams filesystem system)
find_package(TBB REQUIRED)
find_package(CURL REQUIRED)
find_package(SQLite3 REQUIRED)
find_package(tomlplusplus REQUIRED)
find_package(fmt REQUIRED)
find_package(Threads REQUIRED)
