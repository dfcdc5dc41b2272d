import { readFile } from "node:fs/promises";
import type { SandboxFrame } from "./frames.ts";
import { notebookSource } from "./notebook-source.ts";

/** Limits that the Python process sets before it runs any code. Null if the engine limits it in another way. */
export interface HarnessLimits {
  /** The maximum memory that one process can write to. */
  readonly dataBytesMax: number | null;
  /** The maximum memory that one process can reserve, with the files of libraries and what it shares. */
  readonly addressBytesMax: number | null;
  /** Processes and threads of the sandbox together. */
  readonly processesMax: number | null;
  readonly openFilesMax: number | null;
  /** The niceness of its processes relative to ours, from 0 to 19. */
  readonly niceness: number;
}

/** Memory of a process beyond its data, for libraries, which are mapped and mostly not in memory. */
export const MAPPED_BYTES_MAX = 1024 ** 3;

/** Python that reads the first frame and runs its content, so that the sandbox needs none of our files. */
export const HARNESS_STARTER = `import json, os, struct
def read(count):
    parts = b""
    while len(parts) < count:
        part = os.read(0, count - len(parts))
        if not part: os._exit(1)
        parts += part
    return parts
head, data = struct.unpack(">II", read(8))
opening = json.loads(read(head))
exec(compile(read(data), "<harness>", "exec"), {"__name__": "antiphon_harness", "opening": opening})`;

/** The first frame: the program that answers all others, and its limits. */
export async function harnessOpening(limits: HarnessLimits): Promise<SandboxFrame> {
  const [harness, notebook] = await Promise.all([readFile(new URL("harness.py", import.meta.url)), notebookSource()]);
  return { head: { do: "begin", folder: "/mnt/data", notebook, ...limits }, data: harness };
}
