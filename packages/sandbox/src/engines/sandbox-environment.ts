/**
 * All variables of programs in a sandbox. Numeric libraries use one thread, because each thread reserves memory. pip
 * gives up at once, since there is no network.
 */
export const SANDBOX_ENVIRONMENT = {
  PATH: "/usr/local/bin:/usr/bin:/bin",
  HOME: "/mnt/data",
  USER: "sandbox",
  LOGNAME: "sandbox",
  LANG: "C.UTF-8",
  TMPDIR: "/tmp",
  MPLBACKEND: "module://antiphon_pictures",
  MPLCONFIGDIR: "/tmp/matplotlib",
  XDG_CACHE_HOME: "/tmp/cache",
  PYTHONDONTWRITEBYTECODE: "1",
  OMP_NUM_THREADS: "1",
  OPENBLAS_NUM_THREADS: "1",
  MALLOC_ARENA_MAX: "2",
  PIP_NO_INDEX: "1",
  PIP_DISABLE_PIP_VERSION_CHECK: "1",
} as const;
