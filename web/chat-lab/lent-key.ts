import type { AntiphonSpeech, LocalStt } from "../../packages/client/src/index.ts";
import { byId, setText } from "./elements.ts";

interface Fields {
  readonly baseUrl: HTMLInputElement;
  readonly key: HTMLInputElement;
}

/** The key of the same machine, which the speech server gives to its page. It is sent to that machine's server only. */
export class LentKey {
  readonly #speech: AntiphonSpeech;
  readonly #fields: Fields;
  #asking: Promise<LocalStt.DemoKey | null> | null = null;
  #lent: LocalStt.DemoKey | null = null;

  constructor(speech: AntiphonSpeech, fields: Fields) {
    this.#speech = speech;
    this.#fields = fields;
  }

  /** Asks the speech server once. It may refuse, and then the user types a key. */
  async ask(): Promise<void> {
    this.#asking ??= this.#speech.lendDemoKey({ retriesMax: 0 }).catch(() => null);
    this.#lent = await this.#asking;
  }

  /** The typed key or, for the server that it belongs to, the lent one. */
  keyToSend(): string {
    return this.#fields.key.value.trim() || (this.#isUsable ? (this.#lent?.api_key ?? "") : "");
  }

  /** Says whether a key has to be typed. */
  show(): void {
    const isUsed = this.#isUsable && this.#fields.key.value.trim() === "";
    setText(byId("responses-key-note", HTMLElement), isUsed ? "optional" : "");
    this.#fields.key.placeholder = isUsed ? "this machine’s key" : "";
  }

  get #isUsable(): boolean {
    const { value } = this.#fields.baseUrl;
    return this.#lent !== null && URL.canParse(value) && new URL(value).origin === new URL(this.#lent.base_url).origin;
  }
}
