// Slurm's headers for C++: spank.h declares its hooks without `extern "C"`.
#pragma once

// What these headers include themselves must not come inside of the braces.
#include <sys/types.h>

#include <cerrno>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>

extern "C" {
#include <slurm/slurm.h>
#include <slurm/spank.h>
}
