/**
 * What other programs need to run: where programs and libraries lie, the language, temporary files, and how to compile.
 * Our settings, keys among them, are not in it.
 */
const INHERITED = (
  "PATH HOME TMPDIR TEMP TMP LANG LANGUAGE TZ LD_LIBRARY_PATH DYLD_LIBRARY_PATH SYSTEMROOT PATHEXT " +
  "CC CXX CFLAGS CXXFLAGS LDFLAGS MAKEFLAGS CMAKE_GENERATOR CMAKE_PREFIX_PATH SDKROOT"
).split(" ");
const INHERITED_PREFIX = "LC_";

/** The environment of every program that is started here. */
export function inheritedEnvironment(): Record<string, string> {
  const names = [...INHERITED, ...Object.keys(process.env).filter((name) => name.startsWith(INHERITED_PREFIX))];
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = process.env[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}
