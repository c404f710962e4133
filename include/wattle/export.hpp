// Marks what the shared library shows: everything else in it is hidden.
#pragma once

#define WATTLE_EXPORT __attribute__((visibility("default")))
