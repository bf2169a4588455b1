"""Mechanisms and models of other libraries as subjects.

None of these libraries is imported here: the caller makes the mechanism and hands it over.
"""

from audit.subjects.adapters.diffprivlib_mechanism import DiffprivlibMechanism
from audit.subjects.adapters.estimator import EstimatorSubject
from audit.subjects.adapters.opendp_measurement import OpenDPMeasurement

__all__ = ["DiffprivlibMechanism", "EstimatorSubject", "OpenDPMeasurement"]
