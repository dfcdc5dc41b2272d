import { type ChildProcess, spawn } from "node:child_process";
import { ownEnvironment } from "./inherited-environment.ts";

/** systemd's sockets are for the process in LISTEN_PID. The inner shell becomes that process. */
const IN_BACKGROUND = `sh -c 'LISTEN_PID=$$ exec "$@"' sh "$@" &`;

/**
 * Starts a program that is not a child of this process, because a service manager notices only the end of its own
 * children: a shell starts it in the background and ends. The program gets these variables besides this process's
 * environment, these sockets under their numbers, and the other end of the returned channel.
 */
export function startInBackground(
  command: readonly string[],
  sockets: readonly number[],
  variables: Readonly<Record<string, string>>,
): ChildProcess {
  return spawn("/bin/sh", ["-c", IN_BACKGROUND, "sh", ...command], {
    stdio: ["ignore", "inherit", "inherit", ...sockets, "ipc"],
    env: { ...ownEnvironment(), ...variables },
  });
}
