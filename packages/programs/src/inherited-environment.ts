/**
 * Variables that other programs need: paths of programs and libraries, the language, temporary files, compiler options,
 * and the location of docker and podman. Our own settings, which include keys, are not passed on.
 */
const INHERITED = (
  "PATH HOME TMPDIR TEMP TMP LANG LANGUAGE TZ LD_LIBRARY_PATH DYLD_LIBRARY_PATH SYSTEMROOT PATHEXT " +
  "DOCKER_HOST DOCKER_CONTEXT CONTAINER_HOST XDG_RUNTIME_DIR " +
  "CC CXX CFLAGS CXXFLAGS LDFLAGS MAKEFLAGS CMAKE_GENERATOR CMAKE_PREFIX_PATH SDKROOT"
).split(" ");
const INHERITED_PREFIX = "LC_";

/** The environment of programs started by this process. */
export function inheritedEnvironment(): Record<string, string> {
  const names = [...INHERITED, ...Object.keys(process.env).filter((name) => name.startsWith(INHERITED_PREFIX))];
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = process.env[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

/** The environment for a restart of this program, settings included, without variables meant only for this process. */
export function ownEnvironment(): Readonly<Record<string, string | undefined>> {
  const { WATCHDOG_PID: _forThisProcess, ...environment } = process.env;
  return environment;
}
