import { readFile } from "node:fs/promises";
import { hostname } from "node:os";
import { randomHex } from "@antiphon/base/ids.ts";
import { jsonOrUndefined } from "@antiphon/base/json/read-json.ts";
import { isRecord } from "@antiphon/base/json/records.ts";
import { ProgramFailed, ProgramMissing, runProgram } from "@antiphon/programs/child-program.ts";
import { startPiped } from "@antiphon/programs/piped-child.ts";
import { HARNESS_STARTER, harnessOpening, MAPPED_BYTES_MAX } from "../../harness/harness-opening.ts";
import type { LinkEnd, LinkedChild } from "../../harness/sandbox-channel.ts";
import type { SandboxLink } from "../../harness/sandbox-link.ts";
import { type EngineProbe, SandboxFailed, type SandboxLimits } from "../../ports/sandbox-engine.ts";
import { SANDBOX_ENVIRONMENT } from "../sandbox-environment.ts";
import { openLink, type StartLink, TriedEngine } from "../tried-engine.ts";
import { dockerArguments } from "./docker-arguments.ts";

const PROGRAMS = ["docker", "podman"];
const START_MS_MAX = 60_000;
const COMMAND_MS_MAX = 30_000;
const COMMAND_BYTES_MAX = 4 * 1024 * 1024;
const OPEN_FILES_MAX = 256;
const FILES_MAX = 50_000;
/** The label of each container: the machine and process that own it. */
const OWNER_LABEL = "antiphon.sandbox-owner";
const NAME_DIGITS = 24;
/** The index of the start time among the fields of `/proc/<id>/stat` after the name. */
const START_TIME_FIELD = 19;
const PROBE_LIMITS: SandboxLimits = { memoryBytes: 2 ** 30, diskBytes: 2 ** 20, processesMax: 16 };

export interface DockerOptions {
  /** A local image with `python3`: none is pulled. */
  readonly image: string;
  /** Tried in this order. */
  readonly programs?: readonly string[];
}

interface Ready {
  readonly program: string;
  readonly image: string;
  readonly runtime: string | null;
  readonly filesMax: number | null;
  readonly owner: string;
}

/** Tests whether the image's Python runs in docker or podman here. Removes leftovers of this machine's dead servers. */
export async function probeDocker(options: DockerOptions, signal: AbortSignal): Promise<EngineProbe> {
  const { programs = PROGRAMS, image } = options;
  let why = "neither docker nor podman is installed";
  for (const program of programs) {
    try {
      const ready: Ready = { program, image, ...(await askProgram(program, signal)), owner: await ownerLabel() };
      await removeLeftovers(ready, signal);
      const start: StartLink = (limits, stop) => startContainer(ready, limits, stop);
      return { type: "works", engine: await TriedEngine.open("docker", start, PROBE_LIMITS, signal) };
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof ProgramMissing) continue;
      if (!(error instanceof ProgramFailed || error instanceof SandboxFailed)) throw error;
      why = error.message;
    }
  }
  return { type: "fails", why: `Code cannot run in containers of ${image} here: ${why}` };
}

async function startContainer(ready: Ready, limits: SandboxLimits, signal: AbortSignal): Promise<SandboxLink> {
  const opening = await harnessOpening({
    dataBytesMax: limits.memoryBytes,
    addressBytesMax: limits.memoryBytes + MAPPED_BYTES_MAX,
    processesMax: null,
    openFilesMax: null,
    niceness: 0,
  });
  return await openLink(
    (end, onComplaint) => startClient(ready, limits, end, onComplaint),
    { opening, timeoutMs: START_MS_MAX },
    signal,
  );
}

/** Starts the client, whose input and output are the container's. A container without its client is removed by name. */
async function startClient(
  { program, image, runtime, filesMax, owner }: Ready,
  limits: SandboxLimits,
  { onOutput, onEnd }: LinkEnd,
  onComplaint: (bytes: Buffer) => void,
): Promise<LinkedChild> {
  const exit = Promise.withResolvers<void>();
  const name = `antiphon-${randomHex(NAME_DIGITS)}`;
  const child = await startPiped({
    program,
    args: dockerArguments({
      image,
      name,
      labels: { [OWNER_LABEL]: owner },
      limits,
      openFilesMax: OPEN_FILES_MAX,
      filesMax,
      environment: SANDBOX_ENVIRONMENT,
      runtime,
      program: "python3",
      args: ["-I", "-c", HARNESS_STARTER],
    }),
    folder: "/",
    environment: {},
    onOutput,
    onComplaint,
    onEnd: () => {
      void remove(program, name).then(exit.resolve);
      onEnd();
    },
  });
  return { write: (bytes) => child.write(bytes), kill: () => child.kill(), exit: exit.promise };
}

/** Never rejects: a failed removal is repeated at the next start. */
async function remove(program: string, name: string): Promise<void> {
  // Removal alone would ask a container to end, and wait.
  for (const args of [
    ["kill", name],
    ["rm", "--force", name],
  ])
    await output(program, args, AbortSignal.timeout(COMMAND_MS_MAX)).catch(() => "");
}

/** The abilities of docker or podman here. Rejects with `ProgramMissing` or `ProgramFailed`. */
async function askProgram(program: string, signal: AbortSignal): Promise<Pick<Ready, "runtime" | "filesMax">> {
  const info = jsonOrUndefined(await output(program, ["info", "--format", "{{json .}}"], signal));
  const runtimes = isRecord(info) ? info["Runtimes"] : null;
  const isDocker = isRecord(info) && "ServerVersion" in info;
  return {
    runtime: isRecord(runtimes) && "runsc" in runtimes ? "runsc" : null, // gVisor's.
    filesMax: isDocker ? FILES_MAX : null,
  };
}

/** Removes containers of servers that ended abnormally. */
async function removeLeftovers({ program }: Ready, signal: AbortSignal): Promise<void> {
  const format = `{{.Names}} {{.Label "${OWNER_LABEL}"}}`;
  const list = await output(program, ["ps", "--all", "--filter", `label=${OWNER_LABEL}`, "--format", format], signal);
  for (const line of list.split("\n")) {
    const [name = "", owner = ""] = line.split(" ");
    if (name !== "" && (await isDead(owner))) await remove(program, name);
  }
}

/** Whether an owner is an ended process of this machine. */
async function isDead(owner: string): Promise<boolean> {
  const [machine, id, startTime] = owner.split("/");
  return machine === hostname() && startTime !== undefined && (await startTimeOf(Number(id))) !== startTime;
}

async function ownerLabel(): Promise<string> {
  return `${hostname()}/${process.pid}/${await startTimeOf(process.pid)}`;
}

/** Distinguishes a process from a later one with the same id. Empty if there is no such process, or outside Linux. */
async function startTimeOf(id: number): Promise<string> {
  const status = await readFile(`/proc/${id}/stat`, "latin1").catch(() => "");
  return status.slice(status.lastIndexOf(")") + 2).split(" ")[START_TIME_FIELD] ?? "";
}

async function output(program: string, args: readonly string[], signal: AbortSignal): Promise<string> {
  const parts: Uint8Array[] = [];
  const call = { program, args, input: [], signal, timeoutMs: COMMAND_MS_MAX, outputBytesMax: COMMAND_BYTES_MAX };
  for await (const part of runProgram(call)) parts.push(part);
  return Buffer.concat(parts).toString("utf8");
}
