import type { SandboxCallLimits, SandboxRun } from "../ports/sandbox-engine.ts";
import { BadFrame } from "./frames.ts";
import { isPng } from "./replies.ts";

/** The sandbox itself cuts text in the middle; only a misbehaving one reaches this limit. */
const CHARACTERS_MORE = 1000;

/** The output of a run, within the limits, whatever the sandbox sends. */
export class RunOutputs {
  readonly #limits: SandboxCallLimits;
  readonly #outputs: SandboxRun["outputs"][number][] = [];
  #charactersLeft: number;
  #images = 0;
  #pieces: Uint8Array[] = [];
  #pieceBytes = 0;

  constructor(limits: SandboxCallLimits) {
    this.#limits = limits;
    this.#charactersLeft = 2 * limits.logCharactersMax + CHARACTERS_MORE; // One UTF-8 character may be two in UTF-16.
  }

  log(text: string): void {
    const logs = text.slice(0, this.#charactersLeft);
    if (logs === "") return;
    this.#charactersLeft -= logs.length;
    const before = this.#outputs.at(-1);
    if (before?.type === "logs") this.#outputs.splice(-1, 1, { type: "logs", logs: before.logs + logs });
    else this.#outputs.push({ type: "logs", logs });
  }

  /** A piece of a picture. Throws `BadFrame` if it is too large or not a PNG. */
  image(bytes: Uint8Array, isLast: boolean): void {
    this.#pieces.push(bytes);
    this.#pieceBytes += bytes.length;
    if (this.#pieceBytes > this.#limits.imageBytesMax) throw new BadFrame("a picture that is too large");
    if (bytes.length === 0 && !isLast) throw new BadFrame("a picture without end");
    if (isLast) this.#endImage();
  }

  all(): SandboxRun["outputs"] {
    return this.#outputs;
  }

  #endImage(): void {
    const png = new Uint8Array(Buffer.concat(this.#pieces));
    this.#pieces = [];
    this.#pieceBytes = 0;
    this.#images += 1;
    if (this.#images > this.#limits.imagesMax || !isPng(png)) throw new BadFrame("a picture that was not allowed");
    this.#outputs.push({ type: "image", png });
  }
}
