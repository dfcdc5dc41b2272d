import { rmSync } from "node:fs";

const pending = new Set<() => void>();

process.once("exit", () => {
  for (const clean of [...pending].toReversed()) {
    try {
      clean();
    } catch (error) {
      console.error(error); // The rest is cleaned up all the same.
    }
  }
});
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1));

/** Returns a function that calls `clean` once. If nobody calls it, `clean` is called when this process ends. */
export function cleanUp(clean: () => void): () => void {
  pending.add(clean);
  return () => {
    if (pending.delete(clean)) clean();
  };
}

/** Removes a folder in which a process may still write that was just killed. */
export function removeFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true, maxRetries: 30, retryDelay: 100 });
}
