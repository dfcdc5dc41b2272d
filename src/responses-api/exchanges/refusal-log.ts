import { ApiError } from "@antiphon/base/api-error.ts";
import { redactText } from "@antiphon/base/exchanges/redact.ts";
import { isRecord } from "@antiphon/base/json/records.ts";
import type { RefusedRequest } from "@antiphon/contracts/responses-api/types.ts";
import type { RefusalStore } from "@antiphon/domain/inspection.ts";
import type { Principal } from "../access/authenticate.ts";
import { runKind } from "../task/run-task.ts";

const MESSAGE_CHARACTERS_MAX = 1_000;
const MODEL_CHARACTERS_MAX = 200;
const PREVIEW_CHARACTERS_MAX = 200;
/** The maximum stored refusals per window, so that a client in a loop causes no more writes. */
const KEPT_PER_WINDOW_MAX = 100;
const WINDOW_MS = 10_000;
/** The maximum concurrent writes; more are dropped, so that a slow database does not fill the memory. */
const STORING_MAX = 256;
/** The maximum tools and headers searched for secrets. */
const TOOLS_MAX = 128;
const HEADERS_MAX = 64;
const SECRET_CHARACTERS_MIN = 4;

/** Stores refused requests, within limits. */
export class RefusalLog {
  readonly #store: Pick<RefusalStore, "add">;
  readonly #onFault: (fault: unknown) => void;
  readonly #now: () => number;
  #windowEndsMs = 0;
  #keptInWindow = 0;
  #storing = 0;

  /** `now`: the time in milliseconds. */
  constructor(store: Pick<RefusalStore, "add">, onFault: (fault: unknown) => void, now: () => number = Date.now) {
    this.#store = store;
    this.#onFault = onFault;
    this.#now = now;
  }

  /** Stores a refusal. `request`: the body or message as sent, valid or not; null if there is no readable one. */
  note({ owner, keyId }: Principal, request: unknown, error: unknown, isOnWebSocket = false): void {
    if (!(error instanceof ApiError) || error.status < 400) return;
    const body = isRecord(request) ? request : {};
    if (body["store"] === false || !this.#hasRoom()) return;
    const refusal: RefusedRequest = {
      object: "response.refused",
      created_at: Math.floor(this.#now() / 1000),
      status: error.status,
      code: error.code,
      message: cut(redactText(error.message, secretsOf(body)), MESSAGE_CHARACTERS_MAX),
      param: error.param,
      model: cut(textOrEmpty(body["model"]), MODEL_CHARACTERS_MAX),
      kind: runKind(body, isOnWebSocket),
      key_id: keyId,
      input_preview: cut(previewOf(body["input"]), PREVIEW_CHARACTERS_MAX),
    };
    this.#storing += 1;
    void this.#store
      .add(owner, refusal)
      .catch(this.#onFault)
      .finally(() => (this.#storing -= 1));
  }

  #hasRoom(): boolean {
    const nowMs = this.#now();
    if (nowMs >= this.#windowEndsMs) {
      this.#windowEndsMs = nowMs + WINDOW_MS;
      this.#keptInWindow = 0;
    }
    this.#keptInWindow += 1;
    return this.#keptInWindow <= KEPT_PER_WINDOW_MAX && this.#storing < STORING_MAX;
  }
}

/** The last text of an input, which may be invalid. */
function previewOf(input: unknown): string {
  if (!Array.isArray(input)) return textOrEmpty(input);
  const last: unknown = input.at(-1);
  const content: unknown = isRecord(last) ? last["content"] : undefined;
  if (!Array.isArray(content)) return textOrEmpty(content);
  const part: unknown = content.find((one: unknown) => isRecord(one) && typeof one["text"] === "string");
  return isRecord(part) ? textOrEmpty(part["text"]) : "";
}

/** Tokens and header values of the request's MCP servers. */
function secretsOf(body: Readonly<Record<string, unknown>>): string[] {
  const tools: readonly unknown[] = Array.isArray(body["tools"]) ? body["tools"].slice(0, TOOLS_MAX) : [];
  return tools.filter(isRecord).flatMap((tool) => {
    const headers = isRecord(tool["headers"]) ? Object.values(tool["headers"]).slice(0, HEADERS_MAX) : [];
    return [tool["authorization"], ...headers].flatMap((value) =>
      typeof value === "string" && value.length >= SECRET_CHARACTERS_MIN ? [value] : [],
    );
  });
}

function textOrEmpty(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function cut(text: string, charactersMax: number): string {
  return text.slice(0, charactersMax).replaceAll(/\s+/g, " ").trim().toWellFormed();
}
