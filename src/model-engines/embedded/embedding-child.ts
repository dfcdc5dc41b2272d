import type { ModelEngine } from "@antiphon/domain/models/model-engine.ts";
import { createEmbeddedEngine, type EmbeddedEngineOptions } from "./embedded-engine.ts";
import type { EmbeddedServer } from "./ports.ts";

/** A model in a child that can be ended. */
export interface ClosableServer extends EmbeddedServer {
  close(): Promise<void>;
}

interface RunningChild {
  readonly server: ClosableServer;
  readonly engine: Pick<ModelEngine, "embed">;
}

/** The name that the child's model has beside its own. */
const MODEL = "embedded";

export interface EmbeddingChildOptions extends EmbeddedEngineOptions {
  /** Starts another child. */
  readonly open: () => Promise<ClosableServer>;
  /** How long a child and its memory are kept without work, in milliseconds. */
  readonly idleMs: number;
}

/** A model for embeddings in a child, which ends when it has been idle; the next text starts another. */
export class EmbeddingChild implements Pick<ModelEngine, "embed"> {
  readonly #options: EmbeddingChildOptions;
  #child: Promise<RunningChild> | null;
  #calls = 0;
  #idleTimer: NodeJS.Timeout | undefined;

  constructor(first: ClosableServer, options: EmbeddingChildOptions) {
    this.#options = options;
    this.#child = Promise.resolve(this.#running(first));
    this.#endWhenIdle();
  }

  async embed(...[request, signal]: Parameters<ModelEngine["embed"]>): ReturnType<ModelEngine["embed"]> {
    clearTimeout(this.#idleTimer);
    this.#calls += 1;
    try {
      const { engine } = await (this.#child ??= this.#start());
      return await engine.embed({ ...request, model: MODEL }, signal);
    } finally {
      this.#calls -= 1;
      if (this.#calls === 0) this.#endWhenIdle();
    }
  }

  async close(): Promise<void> {
    clearTimeout(this.#idleTimer);
    const ending = this.#child;
    this.#child = null;
    const child = await ending?.catch(() => null);
    await child?.server.close();
  }

  #endWhenIdle(): void {
    this.#idleTimer = setTimeout(() => void this.close(), this.#options.idleMs).unref();
  }

  async #start(): Promise<RunningChild> {
    try {
      return this.#running(await this.#options.open());
    } catch (error) {
      this.#child = null;
      throw error;
    }
  }

  #running(server: ClosableServer): RunningChild {
    return { server, engine: createEmbeddedEngine(server, this.#options) };
  }
}
