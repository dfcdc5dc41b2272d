/** A program with a sandbox that runs without end. Its arguments: the folder of the snapshot, and the confinement. */

import { probePyodideHere } from "./pyodide-here.ts";

const SIGNAL = new AbortController().signal;
const [, , cacheFolder = "", confinement] = process.argv;
const probe = await probePyodideHere(cacheFolder, confinement === "bubblewrap" ? "bubblewrap" : "none");
if (probe.type === "fails") throw new Error(probe.why);
const sandbox = await probe.engine.start({ memoryBytes: 2 ** 30, diskBytes: 2 ** 20, processesMax: 1 }, SIGNAL);
const limits = { timeoutMs: 60_000, logCharactersMax: 100, imagesMax: 0, imageBytesMax: 0 };
const running = sandbox.runCode("while True: pass", limits, SIGNAL);
process.stdout.write("runs\n");
await running;
