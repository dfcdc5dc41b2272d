import { tmpdir } from "node:os";
import { probeBubblewrap } from "../../src/containers/engines/bubblewrap/bubblewrap-engine.ts";
import { probeDocker } from "../../src/containers/engines/docker/docker-engine.ts";
import type { SandboxEngine } from "../../src/containers/ports.ts";
import { buildPythonImage } from "./python-image.ts";

export interface TestedEngine {
  readonly name: string;
  /** Null where it does not run. */
  readonly engine: SandboxEngine | null;
  /** Why it does not run. */
  readonly why: string;
}

/** The engines of this machine. */
export async function sandboxEngines(): Promise<readonly TestedEngine[]> {
  return [await bubblewrap(), await docker()];
}

async function bubblewrap(): Promise<TestedEngine> {
  const probe = await probeBubblewrap(
    { python: null, secretFolders: [process.cwd(), tmpdir()] },
    AbortSignal.timeout(30_000),
  );
  if (probe.type === "works") return { name: "bubblewrap", engine: probe.engine, why: "" };
  return { name: "bubblewrap", engine: null, why: probe.why };
}

async function docker(): Promise<TestedEngine> {
  const built = buildPythonImage();
  if (built.type === "fails") return { name: "docker", engine: null, why: built.why };
  const options = { image: built.image, programs: [built.program] };
  const probe = await probeDocker(options, AbortSignal.timeout(60_000));
  if (probe.type === "works") return { name: "docker", engine: probe.engine, why: "" };
  return { name: "docker", engine: null, why: probe.why };
}
