"""Loads of known work for an NVIDIA GPU, by its driver's library alone (no CUDA toolkit is needed)."""
import ctypes

# Each thread multiplies and adds, `rounds` times 64: all multiprocessors at work, no memory.
_ROUND = "\n".join(f"  fma.rn.f32 %f{i % 8}, %f{i % 8}, 0f3F7FF972, 0f3F000000;" for i in range(64))
_PTX = f"""
.version 7.0
.target sm_70
.address_size 64
.visible .entry work(.param .u32 rounds, .param .u64 result)
{{
  .reg .f32 %f<8>;
  .reg .b32 %r<3>;
  .reg .b64 %rd<2>;
  .reg .pred %p<2>;
  mov.u32 %r1, %tid.x;
  ld.param.u32 %r2, [rounds];
  ld.param.u64 %rd1, [result];
  cvta.to.global.u64 %rd1, %rd1;
{chr(10).join(f"  cvt.rn.f32.u32 %f{i}, %r1;" for i in range(8))}
AGAIN:
{_ROUND}
  sub.u32 %r2, %r2, 1;
  setp.ne.u32 %p1, %r2, 0;
  @%p1 bra AGAIN;
{chr(10).join(f"  add.rn.f32 %f0, %f0, %f{i};" for i in range(1, 8))}
  setp.eq.f32 %p1, %f0, 0f4640E6B6;
  @%p1 st.global.f32 [%rd1], %f0;
  ret;
}}
"""
_BYTES = 2 << 30
_MULTIPROCESSORS = 16  # CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT


class Cuda:
    """The first GPU that CUDA shows. Its methods return when the GPU has done the work."""

    def __init__(self):
        self._driver = ctypes.CDLL("libcuda.so.1")
        device, self._context = ctypes.c_int(), ctypes.c_void_p()
        module, self._work = ctypes.c_void_p(), ctypes.c_void_p()
        self._from, self._to = ctypes.c_uint64(), ctypes.c_uint64()
        count = ctypes.c_int()
        self._call("cuInit", 0)
        self._call("cuDeviceGet", ctypes.byref(device), 0)
        self._call("cuDeviceGetAttribute", ctypes.byref(count), _MULTIPROCESSORS, device)
        self._blocks = 8 * count.value
        self._call("cuDevicePrimaryCtxRetain", ctypes.byref(self._context), device)
        self.enter()
        self._call("cuModuleLoadData", ctypes.byref(module), _PTX.encode())
        self._call("cuModuleGetFunction", ctypes.byref(self._work), module, b"work")
        self._call("cuMemAlloc_v2", ctypes.byref(self._from), ctypes.c_size_t(_BYTES))
        self._call("cuMemAlloc_v2", ctypes.byref(self._to), ctypes.c_size_t(_BYTES))

    def _call(self, name, *arguments):
        error = getattr(self._driver, name)(*arguments)
        if error:
            raise RuntimeError(f"{name}: CUDA error {error}")

    def enter(self):
        """Each further thread that uses the GPU calls this first."""
        self._call("cuCtxSetCurrent", self._context)

    def stream(self):
        stream = ctypes.c_void_p()
        self._call("cuStreamCreate", ctypes.byref(stream), 1)  # CU_STREAM_NON_BLOCKING
        return stream

    def compute(self, stream, rounds):
        """64 x `rounds` multiplications and additions in each of 8 x 256 threads a multiprocessor."""
        values = ctypes.c_uint(rounds), ctypes.c_uint64(self._from.value)
        pointers = (ctypes.c_void_p * 2)(*map(ctypes.addressof, values))
        self._call("cuLaunchKernel", self._work, self._blocks, 1, 1, 256, 1, 1, 0, stream, pointers, None)
        self._call("cuStreamSynchronize", stream)

    def copy(self, stream, times):
        """Copies 2 GiB on the GPU so many times."""
        for _ in range(times):
            self._call("cuMemcpyDtoDAsync_v2", self._to, self._from, ctypes.c_size_t(_BYTES), stream)
        self._call("cuStreamSynchronize", stream)


class Counter:
    """The energy counter of the first GPU, by NVML."""

    def __init__(self):
        self._nvml = ctypes.CDLL("libnvidia-ml.so.1")
        self._gpu = ctypes.c_void_p()
        if self._nvml.nvmlInit_v2() or self._nvml.nvmlDeviceGetHandleByIndex_v2(0, ctypes.byref(self._gpu)):
            raise RuntimeError("NVML does not start")

    def energy_j(self):
        millijoules = ctypes.c_ulonglong()
        if self._nvml.nvmlDeviceGetTotalEnergyConsumption(self._gpu, ctypes.byref(millijoules)):
            raise RuntimeError("the GPU has no energy counter")
        return millijoules.value / 1e3

    def name(self):
        buffer = ctypes.create_string_buffer(96)
        self._nvml.nvmlDeviceGetName(self._gpu, buffer, 96)
        return buffer.value.decode()
