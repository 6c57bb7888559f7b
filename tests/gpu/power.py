"""Clock, power draw, temperature and limit reasons of a GPU through the driver's library, which is loaded at run time."""
import ctypes

REASONS = {0x1: "idle", 0x2: "application clocks", 0x4: "power cap", 0x8: "hardware slowdown", 0x10: "sync boost",
           0x20: "thermal (software)", 0x40: "thermal (hardware)", 0x80: "power brake", 0x100: "display clocks"}


class Power:
    """Read nothing and set `problem` if the library or the device is missing."""

    def __init__(self, uuid=None):
        self.problem, self.handle = "", ctypes.c_void_p()
        try:
            self.nvml = ctypes.CDLL("libnvidia-ml.so.1")
            status = self.nvml.nvmlInit_v2()
            if status == 0:
                found = uuid and self.nvml.nvmlDeviceGetHandleByUUID(uuid.encode(), ctypes.byref(self.handle)) == 0
                status = 0 if found else self.nvml.nvmlDeviceGetHandleByIndex_v2(0, ctypes.byref(self.handle))
            if status != 0:
                self.problem = f"the driver's library answers {status}"
        except (OSError, AttributeError) as error:
            self.problem = str(error)

    def _read(self, name, *arguments, kind=ctypes.c_uint):
        value = kind()
        try:
            function = getattr(self.nvml, name)
        except AttributeError:
            return None
        return value.value if function(self.handle, *arguments, ctypes.byref(value)) == 0 else None

    def driver(self):
        text = ctypes.create_string_buffer(96)
        if not self.problem and self.nvml.nvmlSystemGetDriverVersion(text, len(text)) == 0:
            return text.value.decode()
        return None

    def read(self):
        """{sm_mhz, memory_mhz, power_w, limit_w, temperature_c, reasons}; unreadable values are None."""
        if self.problem:
            return {}
        power, limit = self._read("nvmlDeviceGetPowerUsage"), self._read("nvmlDeviceGetEnforcedPowerLimit")
        bits = self._read("nvmlDeviceGetCurrentClocksEventReasons", kind=ctypes.c_ulonglong)
        if bits is None:  # its name before driver 535
            bits = self._read("nvmlDeviceGetCurrentClocksThrottleReasons", kind=ctypes.c_ulonglong)
        return {"sm_mhz": self._read("nvmlDeviceGetClockInfo", 1), "memory_mhz": self._read("nvmlDeviceGetClockInfo", 2),
                "power_w": power and power / 1000, "limit_w": limit and limit / 1000,
                "temperature_c": self._read("nvmlDeviceGetTemperature", 0), "reasons": bits}


def words(bits):
    """Limit reasons in words."""
    return ", ".join(text for bit, text in REASONS.items() if bits & bit) or "none"
