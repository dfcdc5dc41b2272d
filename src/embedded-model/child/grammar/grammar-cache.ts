import type { EngineGrammar, Llama } from "../engine-api.ts";
import { RequestRefused } from "../request-refused.ts";

const GRAMMARS_MAX = 64;

/** Compiles grammars, and keeps the ones used last. */
export class GrammarCache {
  readonly #llama: Pick<Llama, "createGrammar">;
  readonly #tryOut: (grammar: EngineGrammar) => unknown;
  readonly #cache = new Map<string, EngineGrammar>();

  /** `tryOut` throws if the engine cannot use a grammar that it could read. */
  constructor(llama: Pick<Llama, "createGrammar">, tryOut: (grammar: EngineGrammar) => unknown) {
    this.#llama = llama;
    this.#tryOut = tryOut;
  }

  /** Rejects with `RequestRefused` if the engine refuses the grammar. `param` names what it was made from. */
  async compile(text: string, param: string): Promise<EngineGrammar> {
    const hit = this.#cache.get(text);
    if (hit !== undefined) {
      this.#cache.delete(text); // It is the last used one now.
      this.#cache.set(text, hit);
      return hit;
    }
    try {
      const grammar = await this.#llama.createGrammar({ grammar: text });
      this.#tryOut(grammar);
      this.#cache.set(text, grammar);
      const [oldest] = this.#cache.keys();
      if (this.#cache.size > GRAMMARS_MAX && oldest !== undefined) this.#cache.delete(oldest);
      return grammar;
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      throw new RequestRefused(`The embedded model cannot follow this schema: ${why}.`, { param });
    }
  }
}
