/** Starts a sandbox that leaves a daemon, prints the ids of its processes, and kills itself as `kill -9` does. */

import { readProcessTree } from "@antiphon/sandbox/engines/process-tree.ts";
import { sandboxEngines } from "./sandbox-engines.ts";

const signal = new AbortController().signal;
const [tested] = await sandboxEngines();
const sandbox = await tested?.engine?.start({ memoryBytes: 2 ** 30, diskBytes: 2 ** 20, processesMax: 16 }, signal);
await sandbox?.runCode(
  "import subprocess\nsubprocess.Popen(['setsid', 'nohup', 'sleep', '600'], start_new_session=True);",
  { timeoutMs: 10_000, logCharactersMax: 1000, imagesMax: 0, imageBytesMax: 0 },
  signal,
);
const processes = (await readProcessTree(process.pid)).filter(({ id, isDead }) => id !== process.pid && !isDead);
process.stdout.write(processes.map(({ id }) => id).join(" "), () => process.kill(process.pid, "SIGKILL"));
