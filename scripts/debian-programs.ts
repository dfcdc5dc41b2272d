/**
 * Installs the programs from Debian that some tests need, where the user may install packages. Elsewhere it says what
 * is missing, and those tests are skipped.
 */

import { execFileSync } from "node:child_process";
import { existsSync, globSync } from "node:fs";

interface DebianProgram {
  /** May have a star. */
  readonly path: string;
  readonly packageName: string;
}

/**
 * A SearXNG for web searches; the sandbox that programs of models are tried in, with what they compute with; the
 * database, the broker and the load balancers of several machines; what one machine is set up
 * with, and what the documentation's commands need.
 */
const PROGRAMS: readonly DebianProgram[] = [
  { path: "/usr/bin/searx-run", packageName: "searx" },
  { path: "/usr/bin/bwrap", packageName: "bubblewrap" },
  { path: "/usr/lib/python3/dist-packages/numpy", packageName: "python3-numpy" },
  { path: "/usr/lib/python3/dist-packages/pandas", packageName: "python3-pandas" },
  { path: "/usr/lib/python3/dist-packages/matplotlib", packageName: "python3-matplotlib" },
  { path: "/usr/lib/postgresql/*/bin/initdb", packageName: "postgresql" },
  { path: "/usr/bin/redis-server", packageName: "redis-server" },
  { path: "/usr/sbin/nginx", packageName: "nginx-light" },
  { path: "/usr/{bin,sbin}/ip", packageName: "iproute2" },
  { path: "/usr/sbin/haproxy", packageName: "haproxy" },
  { path: "/usr/bin/jq", packageName: "jq" },
  { path: "/usr/bin/caddy", packageName: "caddy" },
  { path: "/usr/bin/openssl", packageName: "openssl" },
  { path: "/usr/bin/systemd-analyze", packageName: "systemd" },
  { path: "/usr/bin/shellcheck", packageName: "shellcheck" },
];
const APT_GET = "/usr/bin/apt-get";
/** Limit of each of the two commands. Where nothing can be fetched, no test run may wait longer. */
const APT_MS_MAX = 180_000;
const OPTIONS = ["-qq", "-o", "Acquire::http::Timeout=20", "-o", "Acquire::Retries=1", "-o", "DPkg::Lock::Timeout=60"];

const missing = absent();
if (missing.length > 0 && process.getuid?.() === 0 && existsSync(APT_GET)) install(missing);
const left = absent().map(({ packageName }) => packageName);
if (left.length > 0) console.log(`Tests that need ${left.join(" or ")} are skipped: apt-get install ${left.join(" ")}`);

function absent(): readonly DebianProgram[] {
  return PROGRAMS.filter(({ path }) => globSync(path).length === 0);
}

function install(wanted: readonly DebianProgram[]): void {
  try {
    run("update");
    run("install", "-y", "--no-install-recommends", ...wanted.map(({ packageName }) => packageName));
  } catch (error) {
    console.log(`apt-get failed: ${error instanceof Error ? error.message.trim() : "for an unknown reason"}`);
  }
}

function run(command: string, ...rest: readonly string[]): void {
  execFileSync(APT_GET, [...OPTIONS, command, ...rest], {
    env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" },
    stdio: ["ignore", "ignore", "pipe"],
    timeout: APT_MS_MAX,
  });
}
