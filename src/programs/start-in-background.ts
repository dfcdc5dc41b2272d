import { type ChildProcess, spawn } from "node:child_process";
import { ownEnvironment } from "./inherited-environment.ts";

/** Sockets of systemd are for the process that LISTEN_PID names. The inner shell becomes that process. */
const IN_BACKGROUND = `sh -c 'LISTEN_PID=$$ exec "$@"' sh "$@" &`;

/**
 * Starts a program that is no child of this process, because a service manager notices the end of its own children
 * alone: a shell starts it in the background and ends. It has these variables beside the environment of this process,
 * these sockets under their numbers, and the other end of the returned channel.
 */
export function startInBackground(
  command: readonly string[],
  sockets: readonly number[],
  added: Readonly<Record<string, string>>,
): ChildProcess {
  return spawn("/bin/sh", ["-c", IN_BACKGROUND, "sh", ...command], {
    stdio: ["ignore", "inherit", "inherit", ...sockets, "ipc"],
    env: { ...ownEnvironment(), ...added },
  });
}
