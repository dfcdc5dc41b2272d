import { closeSync, openSync, readSync } from "node:fs";

const MAGIC = "GGUF";

/** Whether a file says that it is a model in the format GGUF. */
export function isModelFile(path: string): boolean {
  const file = openSync(path, "r");
  try {
    const bytes = Buffer.alloc(MAGIC.length);
    return bytes.toString("latin1", 0, readSync(file, bytes, 0, bytes.length, 0)) === MAGIC;
  } finally {
    closeSync(file);
  }
}
