/** Arguments of `bwrap` that isolate a program from this machine's files, network and processes. */

export interface BubblewrapPlan {
  /** Absolute paths of this machine that the program can read under the same paths. Missing ones are left out. */
  readonly readable: readonly string[];
  /** Symbolic links in the root folder, such as `/bin`, with their targets. */
  readonly links: readonly { readonly path: string; readonly target: string }[];
  /** Absolute paths below readable ones that appear as empty folders. */
  readonly hiddenPaths: readonly string[];
  /** Paths of this machine that the program can read, under these or other paths. */
  readonly renamed: readonly { readonly path: string; readonly source: string }[];
  /** Writable folders in memory, with their maximum bytes. */
  readonly writable: readonly { readonly path: string; readonly bytes: number }[];
  readonly environment: Readonly<Record<string, string>>;
  readonly folder: string;
  /** The descriptor of a system call filter; null for none. */
  readonly filterFile: number | null;
  readonly program: readonly string[];
}

/** A user that does not exist on this machine. */
const USER_ID = "1000";
/**
 * Otherwise, a program could fill the memory of these folders, and a program started by real root could change kernel
 * settings.
 */
const UNWRITABLE = ["/proc", "/dev", "/"];

export function bubblewrapArguments(plan: BubblewrapPlan): string[] {
  return [
    "--unshare-all",
    "--die-with-parent",
    "--new-session",
    "--cap-drop",
    "ALL",
    "--uid",
    USER_ID,
    "--gid",
    USER_ID,
    "--hostname",
    "sandbox",
    ...plan.readable.flatMap((path) => ["--ro-bind-try", path, path]),
    ...plan.links.flatMap(({ path, target }) => ["--symlink", target, path]),
    ...plan.hiddenPaths.flatMap((path) => ["--size", "4096", "--tmpfs", path, "--remount-ro", path]),
    "--proc",
    "/proc",
    "--dev",
    "/dev",
    ...plan.writable.flatMap(({ path, bytes }) => ["--size", String(bytes), "--tmpfs", path]),
    ...plan.renamed.flatMap(({ path, source }) => ["--ro-bind", source, path]), // They may be below a writable one.
    ...UNWRITABLE.flatMap((path) => ["--remount-ro", path]),
    "--clearenv",
    ...Object.entries(plan.environment).flatMap(([name, value]) => ["--setenv", name, value]),
    "--chdir",
    plan.folder,
    ...(plan.filterFile === null ? [] : ["--seccomp", String(plan.filterFile)]),
    "--",
    ...plan.program,
  ];
}
