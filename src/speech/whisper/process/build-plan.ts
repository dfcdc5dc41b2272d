import { createHash } from "node:crypto";

/** What the programs of the build are made for. */
export interface Machine {
  /** As Node names them: `linux`, `x64`. */
  readonly platform: string;
  readonly architecture: string;
  /** What the processor can, as Linux names it; null where that is not known. */
  readonly processorFlags: ReadonlySet<string> | null;
}

/** What x86-64 programs of the portable build ask of a processor. */
const PORTABLE_NEEDS = ["avx2", "bmi2", "f16c", "fma"] as const;

const COMMON_FLAGS = [
  "-DCMAKE_BUILD_TYPE=Release",
  "-DBUILD_SHARED_LIBS=OFF",
  "-DWHISPER_BUILD_TESTS=OFF",
  "-DGGML_CCACHE=OFF",
] as const;

/**
 * How whisper.cpp is configured. The portable instructions of x86-64 run on any processor of the last ten years, and
 * were measured to be faster than what the compiler makes of the newest ones; where a processor lacks them, and on
 * other architectures, the build is for this very machine.
 */
export function buildFlags({ architecture, processorFlags }: Machine): readonly string[] {
  const isPortable =
    architecture === "x64" && (processorFlags === null || PORTABLE_NEEDS.every((flag) => processorFlags.has(flag)));
  return [...COMMON_FLAGS, `-DGGML_NATIVE=${isPortable ? "OFF" : "ON"}`];
}

/**
 * The folder of one build among others: another source, other flags or another machine are another build.
 * `additions`: the text of what is compiled in besides the source.
 */
export function buildFolderName(packageVersion: string, machine: Machine, additions: string): string {
  const { platform, architecture } = machine;
  const key = createHash("sha256")
    .update(JSON.stringify([buildFlags(machine), additions]))
    .digest("hex")
    .slice(0, 8);
  return `whisper-server-${packageVersion}-${platform}-${architecture}-${key}`;
}

/** How far the compiler is, as make and Ninja say it; null where the text does not say. */
export function progressOf(text: string): number | null {
  const percents = [...text.matchAll(/^\[ *(\d{1,3})%\]/gm)].map(([, percent]) => Number(percent));
  const steps = [...text.matchAll(/^\[(\d+)\/(\d+)\]/gm)].map(([, done, all]) => (Number(done) / Number(all)) * 100);
  const last = [...percents, ...steps].at(-1);
  return last === undefined ? null : Math.min(100, Math.floor(last));
}
