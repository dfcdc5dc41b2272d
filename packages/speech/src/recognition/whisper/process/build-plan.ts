import { createHash } from "node:crypto";

/** The machine that the engine is built for. */
export interface Machine {
  /** Node's names, such as `linux` and `x64`. */
  readonly platform: string;
  readonly architecture: string;
  /** Linux's names of the processor's features; null if they are not known. */
  readonly processorFlags: ReadonlySet<string> | null;
}

/** The processor features that the portable x86-64 build needs. */
const PORTABLE_NEEDS = ["avx2", "bmi2", "f16c", "fma"] as const;

const COMMON_FLAGS = [
  "-DCMAKE_BUILD_TYPE=Release",
  "-DBUILD_SHARED_LIBS=OFF",
  "-DWHISPER_BUILD_TESTS=OFF",
  "-DGGML_CCACHE=OFF",
] as const;

/**
 * CMake flags for whisper.cpp. The portable x86-64 build runs on any processor of the last ten years, and measured
 * faster than a native build. Processors without these features, and other architectures, get a native build.
 */
export function buildFlags({ architecture, processorFlags }: Machine): readonly string[] {
  const isPortable =
    architecture === "x64" && (processorFlags === null || PORTABLE_NEEDS.every((flag) => processorFlags.has(flag)));
  return [...COMMON_FLAGS, `-DGGML_NATIVE=${isPortable ? "OFF" : "ON"}`];
}

/**
 * The folder of one build. Its name changes with the source, the flags, the machine and `additions`, the text of the
 * files that are compiled in besides the source.
 */
export function buildFolderName(packageVersion: string, machine: Machine, additions: string): string {
  const { platform, architecture } = machine;
  const key = createHash("sha256")
    .update(JSON.stringify([buildFlags(machine), additions]))
    .digest("hex")
    .slice(0, 8);
  return `whisper-server-${packageVersion}-${platform}-${architecture}-${key}`;
}

/** The last progress in percent that make or Ninja printed in this text, or null. */
export function progressOf(text: string): number | null {
  const percents = [...text.matchAll(/^\[ *(\d{1,3})%\]/gm)].map(([, percent]) => Number(percent));
  const steps = [...text.matchAll(/^\[(\d+)\/(\d+)\]/gm)].map(([, count, all]) => (Number(count) / Number(all)) * 100);
  const last = [...percents, ...steps].at(-1);
  return last === undefined ? null : Math.min(100, Math.floor(last));
}
