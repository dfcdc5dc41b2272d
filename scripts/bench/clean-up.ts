const pending = new Set<() => void>();

process.once("exit", () => {
  for (const clean of pending) clean();
});
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1));

/** Returns a function that calls `clean` once. If nobody calls it, `clean` is called when this process ends. */
export function cleanUp(clean: () => void): () => void {
  pending.add(clean);
  return () => {
    if (pending.delete(clean)) clean();
  };
}
