# mypy: no-implicit-reexport
"""The exceptions of pyJoules."""


class PyJoulesException(Exception):
    """The base of most of them."""


class NoSuchDomainError(PyJoulesException):
    """A device lacks `domain_name`, which is the domain's object, as in pyJoules."""

    def __init__(self, domain_name: object) -> None:
        super().__init__(f"there is no domain {domain_name}")
        self.domain_name = domain_name


class NoSuchDeviceError(PyJoulesException):
    """A device is not there, or cannot be read; the message has the reason."""


class NotConfiguredDeviceException(PyJoulesException):
    """`configure` was not called."""


class GPUDoesNotSupportEnergyMonitoringError(PyJoulesException):
    """Never raised: the energy of such a GPU is integrated from its power."""


class EnergyMeterNotStartedError(PyJoulesException):
    """The meter was not started."""


class EnergyMeterNotStoppedError(PyJoulesException):
    """The meter runs."""


class NoNextStateException(PyJoulesException):
    """The last state has no duration and no energy."""


class StateIsNotFinalError(PyJoulesException):
    """A state has a next one already."""


class SampleNotFoundError(PyJoulesException):
    """Never raised: an index that is not there raises IndexError or KeyError."""


class UnconsistantSamplesError(Exception):
    """The samples have different domains."""


class NoSampleProcessedError(Exception):
    """A handler has no sample."""


class MongoInitError(Exception):
    """The database cannot be reached."""
