"""What is wrong with the set-up, why, and the command that repairs it.

:func:`~qiusuo.doctor.run.examine` runs the checks side by side and returns findings; ``qiusuo doctor``, the server's
``/api/health`` and the start-up notices all show the same ones.
"""

from qiusuo.doctor.findings import Finding, Level, worst_level
from qiusuo.doctor.run import examine, startup_notices

__all__ = ["Finding", "Level", "examine", "startup_notices", "worst_level"]
