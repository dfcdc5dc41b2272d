import type { CodeOutput } from "@antiphon/domain/containers.ts";
import type { SandboxRun } from "../ports/sandbox-engine.ts";
import type { CODE_LIMITS } from "./code-limits.ts";
import type { SessionFiles } from "./session-files.ts";

const PNG_SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

/** The output of code, and sentences on why some is left out. */
interface Shown {
  readonly outputs: readonly CodeOutput[];
  readonly faults: readonly string[];
}

/** Stores the pictures among the outputs. */
export async function storePictures(
  outputs: SandboxRun["outputs"],
  files: Pick<SessionFiles, "keepPicture">,
  { imagesMax, imageBytesMax }: Pick<typeof CODE_LIMITS, "imagesMax" | "imageBytesMax">,
  signal: AbortSignal,
): Promise<Shown> {
  const result: CodeOutput[] = [];
  const faults = new Set<string>();
  let images = 0;
  for (const output of outputs) {
    if (output.type === "logs") {
      result.push(output);
      continue;
    }
    const { png } = output;
    const fault = pictureFault(png, imageBytesMax);
    if (fault !== null) faults.add(fault);
    else if ((images += 1) > imagesMax) faults.add(`Pictures beyond the first ${imagesMax} are left out.`);
    else {
      const file = await files.keepPicture(png, signal);
      if (typeof file === "string") faults.add(file);
      else result.push({ type: "image", png, file });
    }
  }
  return { outputs: result, faults: [...faults] };
}

function pictureFault(png: Uint8Array, bytesMax: number): string | null {
  if (png.length > bytesMax) return `Pictures of more than ${bytesMax / (1024 * 1024)} MiB are left out.`;
  return Buffer.from(png.subarray(0, PNG_SIGNATURE.length)).equals(PNG_SIGNATURE)
    ? null
    : "Pictures that are no PNG are left out.";
}
