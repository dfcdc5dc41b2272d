/** Arguments of `docker run` and `podman run` for a container without network and storage. */

import type { SandboxLimits } from "../../ports/sandbox-engine.ts";

export interface DockerPlan {
  readonly image: string;
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly limits: SandboxLimits;
  readonly openFilesMax: number;
  /** The maximum files of a folder in memory; null if it cannot be limited, as in podman. */
  readonly filesMax: number | null;
  readonly environment: Readonly<Record<string, string>>;
  /** A runtime that protects the kernel, such as `runsc`; null for the default. */
  readonly runtime: string | null;
  readonly program: string;
  readonly args: readonly string[];
}

const USER = "1000:1000";
const TMP_BYTES = 128 * 1024 * 1024;
const SHARED_MEMORY_BYTES = 64 * 1024 * 1024;
/** Python and its output thread. */
const PROCESSES_MORE = 2;

export function dockerArguments(plan: DockerPlan): string[] {
  const { limits, openFilesMax } = plan;
  return [
    "run",
    "--rm",
    "--interactive",
    "--pull=never",
    "--log-driver=none",
    "--network=none",
    "--read-only",
    "--cap-drop=ALL",
    "--security-opt=no-new-privileges",
    `--user=${USER}`,
    "--hostname=sandbox",
    `--name=${plan.name}`,
    ...Object.entries(plan.labels).map(([name, value]) => `--label=${name}=${value}`),
    `--memory=${limits.memoryBytes}`,
    `--memory-swap=${limits.memoryBytes}`,
    `--pids-limit=${limits.processesMax + PROCESSES_MORE}`,
    `--ulimit=nofile=${openFilesMax}:${openFilesMax}`,
    `--ulimit=nproc=${limits.processesMax + PROCESSES_MORE}:${limits.processesMax + PROCESSES_MORE}`,
    "--ulimit=core=0:0",
    `--shm-size=${SHARED_MEMORY_BYTES}`,
    `--tmpfs=/mnt/data:${folderOptions(plan, limits.diskBytes)}`,
    `--tmpfs=/tmp:${folderOptions(plan, TMP_BYTES)}`,
    "--workdir=/mnt/data",
    ...Object.entries(plan.environment).map(([name, value]) => `--env=${name}=${value}`),
    ...(plan.runtime === null ? [] : [`--runtime=${plan.runtime}`]),
    `--entrypoint=${plan.program}`,
    plan.image,
    ...plan.args,
  ];
}

function folderOptions({ filesMax }: DockerPlan, bytes: number): string {
  return `rw,nosuid,nodev,mode=1777,size=${bytes}${filesMax === null ? "" : `,nr_inodes=${filesMax}`}`;
}
