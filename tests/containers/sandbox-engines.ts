import { tmpdir } from "node:os";
import { probeBubblewrap } from "../../src/containers/engines/bubblewrap/bubblewrap-engine.ts";
import type { SandboxEngine } from "../../src/containers/ports.ts";

export interface TestedEngine {
  readonly name: string;
  /** Null where it does not run. */
  readonly engine: SandboxEngine | null;
  /** Why it does not run. */
  readonly why: string;
}

/** The engines of this machine. */
export async function sandboxEngines(): Promise<readonly TestedEngine[]> {
  return [await bubblewrap()];
}

async function bubblewrap(): Promise<TestedEngine> {
  const probe = await probeBubblewrap(
    { python: null, secretFolders: [process.cwd(), tmpdir()] },
    AbortSignal.timeout(30_000),
  );
  if (probe.type === "works") return { name: "bubblewrap", engine: probe.engine, why: "" };
  return { name: "bubblewrap", engine: null, why: probe.why };
}
