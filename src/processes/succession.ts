import type { Logger } from "@antiphon/base/logger.ts";
import type { Primary } from "./primary.ts";

/** Messages between primaries of any two releases, so their meaning never changes. */
export type SuccessionWord =
  /** The successor serves: its predecessor accepts nothing new and finishes open work. */
  | "serving"
  /** End soon: finish open work within `DRAIN_MS`. */
  | "stop"
  /** A successor was told to restart its processes before it served. */
  | "restart"
  /** Another primary replaced the successor. */
  | "succeeded";

const WORDS: ReadonlySet<unknown> = new Set<SuccessionWord>(["serving", "stop", "restart", "succeeded"]);

export function isSuccessionWord(word: unknown): word is SuccessionWord {
  return WORDS.has(word);
}

/** The primary before or after this one. */
export interface OtherPrimary {
  send(word: SuccessionWord): void;
  onWord(listener: (word: SuccessionWord) => void): void;
  /** Resolves when it has ended. */
  readonly exit: Promise<void>;
}

export interface SuccessionOptions {
  readonly primary: Pick<Primary, "retire" | "restart" | "stop">;
  /** Null for the first primary of a service. */
  readonly predecessor: OtherPrimary | null;
  readonly startSuccessor: () => OtherPrimary;
  /** Called once, when the successor serves. */
  readonly onSucceeded: () => void;
  /** Called in the turn in which the last process was told that it is replaced. */
  readonly onRetired: () => void;
  /** Called when a successor ended before it served. */
  readonly onFailed: () => void;
  readonly log: Logger;
}

/** The maximum of primaries that finish their work. Beyond it, the oldest is stopped. */
const FINISHING_MAX = 3;

/** Hands over from this primary to one of another release, and stays in contact with the predecessor. */
export class Succession {
  readonly #options: SuccessionOptions;
  #successor: OtherPrimary | null = null;
  #isSucceeded = false;
  #isStopping = false;
  /** The number of primaries that came after this one. */
  #later = 0;

  constructor(options: SuccessionOptions) {
    this.#options = options;
    options.predecessor?.onWord((word) => {
      if (word === "restart") options.primary.restart();
      if (word === "stop") this.stop();
    });
  }

  /** Starts a successor. This primary continues until the successor serves, and stays if the successor ends before. */
  handOver(): void {
    if (this.#isStopping) return;
    if (this.#successor !== null) return this.#successor.send("restart");
    this.#options.log.info({}, "starting the primary of the new release");
    const successor = this.#options.startSuccessor();
    this.#successor = successor;
    successor.onWord((word) => this.#hear(word));
    void successor.exit.then(() => this.#onEnd());
  }

  /** The processes of this primary serve. */
  serving(): void {
    this.#options.predecessor?.send("serving");
  }

  /** Stops the processes of this primary and of earlier ones. */
  stop(): void {
    this.#isStopping = true;
    this.#options.predecessor?.send("stop");
    if (!this.#isSucceeded) this.#successor?.send("stop");
    this.#options.primary.stop();
  }

  /** A service manager kills the rest when the main process ends, so a stopped primary waits for the others. */
  async waitForOthers(): Promise<void> {
    if (!this.#isStopping) return;
    await Promise.all([this.#options.predecessor?.exit, this.#isSucceeded ? null : this.#successor?.exit]);
  }

  #hear(word: SuccessionWord): void {
    if (word === "stop") return this.stop();
    if (word === "serving") this.#retire();
    this.#later += 1;
    if (this.#later > FINISHING_MAX) return this.stop();
    this.#options.predecessor?.send("succeeded");
  }

  #retire(): void {
    this.#isSucceeded = true;
    this.#options.log.info({}, "another primary serves; this one finishes open work");
    this.#options.onSucceeded();
    void this.#options.primary.retire().then(this.#options.onRetired);
  }

  #onEnd(): void {
    if (this.#isSucceeded) return;
    this.#successor = null;
    if (this.#isStopping) return;
    this.#options.log.error({}, "the new release did not start; this one continues");
    this.#options.onFailed();
  }
}
