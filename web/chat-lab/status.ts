import type { AntiphonSpeech, LocalStt } from "../../packages/client/src/index.ts";
import { byId, setText } from "./elements.ts";

const READY_PAUSE_MS = 4000;
const OTHER_PAUSE_MS = 700;
const ANSWER_MS = 5000;
const MEGABYTE = 1_000_000;

const WORDS: Readonly<Record<LocalStt.Health["speech"]["state"], string>> = {
  ready: "Ready",
  loading: "The speech model is being loaded",
  building: "The speech engine is being built",
  downloading: "The speech model is being downloaded",
  failed: "Speech is not available",
  demo: "Demo model",
};

/** Polls the server's health and shows it. */
export class ServerStatus {
  readonly #speech: AntiphonSpeech;
  readonly #onChange: (isReady: boolean) => void;
  #isReady = false;
  #isKnown = false;
  #whenReady: (() => void)[] = [];
  #hurry: () => void = () => {};

  /** Calls `onChange` after each poll, with whether speech can be transcribed. */
  constructor(speech: AntiphonSpeech, onChange: (isReady: boolean) => void) {
    this.#speech = speech;
    this.#onChange = onChange;
    void this.#watch();
  }

  /** Polls at once, and resolves when speech can be transcribed. Rejects when the signal aborts. */
  ready = async (signal: AbortSignal): Promise<void> => {
    this.#isReady = false;
    this.#hurry();
    await new Promise<void>((resolve, reject) => {
      this.#whenReady.push(resolve);
      signal.addEventListener("abort", () => reject(signal.reason), { once: true });
    });
  };

  async #watch(): Promise<void> {
    for (;;) {
      const health = await this.#ask();
      const wasReady = this.#isReady;
      this.#isReady = health?.ok === true || health?.speech.state === "demo";
      showHealth(health);
      // After showHealth, but in the same task: when the page says "Ready", the button works.
      this.#onChange(this.#isReady);
      if (this.#isReady) for (const tell of this.#whenReady.splice(0)) tell();
      if (health === null) this.#isKnown = false;
      else if (!this.#isKnown || (this.#isReady && !wasReady)) await this.#showVersion();
      await this.#pause(this.#isReady ? READY_PAUSE_MS : OTHER_PAUSE_MS);
    }
  }

  async #ask(): Promise<LocalStt.Health | null> {
    return this.#speech.getHealth({ retriesMax: 0, timeoutMs: ANSWER_MS }).catch(() => null);
  }

  async #pause(ms: number): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#hurry = resolve;
      setTimeout(resolve, ms);
    });
  }

  async #showVersion(): Promise<void> {
    const version = await this.#speech.getVersion({ retriesMax: 0, timeoutMs: ANSWER_MS }).catch(() => null);
    this.#isKnown = version !== null;
    if (version !== null) showVersion(version);
  }
}

function showHealth(health: LocalStt.Health | null): void {
  const state = health?.speech.state ?? "away";
  byId("status", HTMLElement).dataset["state"] = state;
  setText(byId("state", HTMLElement), health === null ? "The server does not answer" : WORDS[health.speech.state]);
  setText(byId("state-detail", HTMLElement), health === null ? "This page reconnects by itself." : detailOf(health));
  showProgress(health?.speech ?? null);
  showChatSetup(health?.formatting ?? null);
}

/** Says why the chat would fail, before somebody asks. */
function showChatSetup(formatting: LocalStt.Health["formatting"] | null): void {
  const isMissing = formatting !== null && !formatting.enabled;
  byId("chat-setup", HTMLElement).hidden = !isMissing;
  if (!isMissing) return;
  const { provider, detail } = formatting;
  setText(byId("chat-setup-reason", HTMLElement), provider === null ? "" : `${provider}: ${detail ?? "not available"}`);
}

function detailOf({ speech, formatting }: LocalStt.Health): string {
  if (speech.state === "demo") return (speech.detail ?? "").replace(/^Demo model: /, "");
  if (speech.state === "failed" || speech.state === "building") return speech.detail ?? "";
  const model = speech.model === null ? "no model" : `model ${speech.model}`;
  const provider = formatting.enabled ? `formatting by ${formatting.provider ?? "a provider"}` : "no formatting";
  const refused = formatting.provider === null || formatting.enabled ? "" : `: ${formatting.detail ?? "not available"}`;
  return `${model} · ${provider}${refused}`;
}

function showProgress(speech: LocalStt.Health["speech"] | null): void {
  const progress = byId("download", HTMLProgressElement);
  const isDownloading = speech?.state === "downloading";
  byId("download-row", HTMLElement).hidden = !isDownloading;
  if (!isDownloading) return;
  const received = speech.received_bytes ?? 0;
  if (speech.total_bytes === null) progress.removeAttribute("value");
  else {
    progress.max = speech.total_bytes;
    progress.value = received;
  }
  const total = speech.total_bytes === null ? "" : ` of ${Math.round(speech.total_bytes / MEGABYTE)}`;
  setText(byId("download-size", HTMLElement), `${Math.round(received / MEGABYTE)}${total} MB`);
}

function showVersion(version: LocalStt.Version): void {
  const { engine, speech_model: model, ai } = version;
  const facts: readonly (readonly [string, string])[] = [
    ["Server", `${version.name} ${version.version}`],
    ["Engine", `${engine.name} ${engine.version ?? ""}`.trim()],
    ["Model", model.name ?? "none"],
    ["Model’s SHA-256", model.sha256 ?? "not known yet"],
    ["Formatting", ai.formatting ? (version.formatting_tier.model ?? "on") : "off"],
    ["Protocol", version.protocol],
  ];
  byId("facts", HTMLElement).replaceChildren(
    ...facts.flatMap(([name, value]) => [textElement("dt", name), textElement("dd", value)]),
  );
}

function textElement(tag: "dt" | "dd", text: string): HTMLElement {
  const element = document.createElement(tag);
  element.textContent = text;
  return element;
}
