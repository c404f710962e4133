#%Module1.0
# Modulefile for Environment Modules: module load wattle. prefix is where Wattle is installed.
if {[info exists env(WATTLE_PREFIX)]} {
    set prefix $env(WATTLE_PREFIX)
} else {
    set prefix /opt/wattle
}

module-whatis "energy, power, CPU time, memory and GPUs of a command"

prepend-path PATH $prefix/bin
prepend-path MANPATH $prefix/share/man
prepend-path LD_LIBRARY_PATH $prefix/lib
prepend-path PKG_CONFIG_PATH $prefix/lib/pkgconfig
prepend-path CMAKE_PREFIX_PATH $prefix
