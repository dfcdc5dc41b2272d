import { spawnSync } from "node:child_process";

/**
 * Runs a program, named after these arguments, and all that it starts in a network namespace of their own. It has the
 * loopback address only, so they can reach each other and nobody else. Undefined where the system allows none.
 */
export function loneNetwork(): readonly string[] | undefined {
  return [asRoot(), asUser()].find(([program = "", ...parameters]) => {
    const { status } = spawnSync(program, [...parameters, "true"], { stdio: "ignore" });
    return status === 0;
  });
}

/** Why there is none, for people to read. */
export function whyNoLoneNetwork(): string {
  if (process.platform !== "linux") return "network namespaces are a part of Linux";
  return "this system does not let us make network namespaces, or has no iproute2";
}

function asRoot(): readonly string[] {
  return ["unshare", "--net", ...WITH_LOOPBACK];
}

/** Only root may start the loopback interface. One user namespace makes the user root, a second takes it back. */
function asUser(): readonly string[] {
  const asBefore = [`--map-user=${process.getuid?.()}`, `--map-group=${process.getgid?.()}`];
  return ["unshare", "--map-root-user", "--net", ...WITH_LOOPBACK, "unshare", ...asBefore];
}

/** A new network's loopback interface is down at first. Users other than root often have no sbin in their path. */
const WITH_LOOPBACK = ["sh", "-c", 'PATH="$PATH:/usr/sbin:/sbin" ip link set lo up && exec "$@"', "sh"];
