"""Property tests here call compiled kernels: the first call of a kernel may compile for seconds."""

from hypothesis import settings

settings.register_profile("compiled", deadline=None)
settings.load_profile("compiled")
