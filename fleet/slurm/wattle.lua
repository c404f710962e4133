-- Modulefile for Lmod: module load wattle. prefix is where Wattle is installed.
local prefix = os.getenv("WATTLE_PREFIX") or "/opt/wattle"

whatis("Name: wattle")
whatis("Description: energy, power, CPU time, memory and GPUs of a command")
help([[
wattle run -- COMMAND            what a command costs
srun --wattle COMMAND            the same of a step (with the plugin of Slurm)
wattle report tag:job=$SLURM_JOB_ID   the sum of a job
]])

prepend_path("PATH", pathJoin(prefix, "bin"))
prepend_path("MANPATH", pathJoin(prefix, "share/man"))
prepend_path("LD_LIBRARY_PATH", pathJoin(prefix, "lib"))
prepend_path("PKG_CONFIG_PATH", pathJoin(prefix, "lib/pkgconfig"))
prepend_path("CMAKE_PREFIX_PATH", prefix)
