import type { ExchangeRecorder, OutgoingCall, RecordedCall } from "@antiphon/base/exchanges/exchange-recording.ts";
import { redactHeaders, redactText, redactUrl, writtenForms } from "@antiphon/base/exchanges/redact.ts";
import { newId } from "@antiphon/base/ids.ts";
import type { ResponseExchange } from "@antiphon/contracts/responses-api/types.ts";
import type { ExchangeStore } from "@antiphon/domain/inspection.ts";
import type { Owner } from "@antiphon/domain/owner.ts";
import { KeptBody } from "./kept-body.ts";

/** The maximum stored exchanges per response, and bytes of their bodies. */
export const EXCHANGES_MAX = 64;
const BODY_BYTES_MAX = 256 * 1024;
const RESPONSE_BYTES_MAX = 4 * 1024 * 1024;
/** The maximum concurrent writes; more are dropped, so that a slow database does not fill the memory. */
const STORING_MAX = 256;

/** Stores the exchanges of responses, within limits. */
export class ExchangeLog {
  readonly #store: ExchangeStore;
  readonly #onFault: (fault: unknown) => void;
  #storing = 0;

  constructor(store: ExchangeStore, onFault: (fault: unknown) => void) {
    this.#store = store;
    this.#onFault = onFault;
  }

  /** The recorder of calls for one response. */
  recorderFor(owner: Owner, responseId: string): ExchangeRecorder {
    return new ResponseRecorder((exchange) => this.#keep(owner, responseId, exchange));
  }

  #keep(owner: Owner, responseId: string, exchange: ResponseExchange): void {
    if (this.#storing >= STORING_MAX) return;
    this.#storing += 1;
    void this.#store
      .add(owner, responseId, exchange)
      .catch(this.#onFault)
      .finally(() => (this.#storing -= 1));
  }
}

class ResponseRecorder implements ExchangeRecorder {
  readonly #keep: (exchange: ResponseExchange) => void;
  #count = 0;
  #turn = 0;
  #bytesLeft = RESPONSE_BYTES_MAX;

  constructor(keep: (exchange: ResponseExchange) => void) {
    this.#keep = keep;
  }

  begin(call: OutgoingCall): RecordedCall | null {
    if (call.kind === "model") this.#turn += 1;
    if (this.#count >= EXCHANGES_MAX) return null;
    this.#count += 1;
    const bytesMax = Math.min(BODY_BYTES_MAX, Math.floor(this.#bytesLeft / 2));
    this.#bytesLeft -= 2 * bytesMax;
    const turn = this.#turn === 0 ? null : this.#turn;
    return new Recording(call, { turn, bytesMax }, (exchange, bytes) => {
      this.#bytesLeft += 2 * bytesMax - bytes;
      this.#keep(exchange);
    });
  }
}

interface Place {
  readonly turn: number | null;
  readonly bytesMax: number;
}

class Recording implements RecordedCall {
  readonly #kind: OutgoingCall["kind"];
  readonly #turn: number | null;
  readonly #startedMs = Date.now();
  readonly #secrets: readonly string[];
  readonly #request: ResponseExchange["request"];
  readonly #body: KeptBody;
  readonly #onEnd: (exchange: ResponseExchange, bytes: number) => void;
  #head: { readonly status: number; readonly headers: Readonly<Record<string, string>> } | null = null;
  #firstByteMs: number | null = null;
  #hasEnded = false;

  constructor(
    call: OutgoingCall,
    { turn, bytesMax }: Place,
    onEnd: (exchange: ResponseExchange, bytes: number) => void,
  ) {
    const headers = redactHeaders(call.headers);
    const url = redactUrl(call.url);
    this.#secrets = writtenForms([...headers.secrets, ...url.secrets]);
    const body = new KeptBody(bytesMax);
    for (const piece of typeof call.body === "string" ? [Buffer.from(call.body)] : (call.body ?? [])) body.add(piece);
    this.#request = {
      method: call.method,
      url: url.text,
      headers: headers.headers,
      body: body.redact(this.#secrets),
    };
    this.#kind = call.kind;
    this.#turn = turn;
    this.#body = new KeptBody(bytesMax);
    this.#onEnd = onEnd;
  }

  head(status: number, headers: Readonly<Record<string, string | readonly string[] | undefined>>): void {
    const pairs = Object.entries(headers).map(([name, value]): [string, string] => [name, String(value ?? "")]);
    this.#head = { status, headers: redactHeaders(pairs).headers };
    this.#firstByteMs = Date.now() - this.#startedMs;
  }

  data(bytes: Uint8Array): void {
    this.#body.add(bytes);
  }

  end(error: string | null): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    const createdAt = Math.floor(this.#startedMs / 1000);
    const body = this.#body.redact(this.#secrets);
    const exchange: ResponseExchange = {
      id: newId("exch", createdAt),
      object: "response.exchange",
      kind: this.#kind,
      turn: this.#turn,
      created_at: createdAt,
      request: this.#request,
      response: this.#head === null ? null : { ...this.#head, body },
      first_byte_ms: this.#firstByteMs,
      duration_ms: Math.max(0, Date.now() - this.#startedMs),
      error: error === null ? null : redactText(error, this.#secrets),
    };
    this.#onEnd(exchange, this.#request.body.text.length + body.text.length);
  }
}
