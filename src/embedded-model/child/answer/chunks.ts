import type { AnswerEnd, AnswerSink } from "../serve-chat.ts";
import type { AnswerEvent } from "./answer-turn.ts";

/** A comment is sent if nothing else was for so long, so that a long prompt does not look like a dead connection. */
const SILENCE_MS = 5_000;

interface Frame {
  readonly id: string;
  readonly created: number;
  readonly model: string;
}

/** Writes an answer as a stream of chat-completions chunks. */
export class ChunkSink implements AnswerSink {
  readonly #frame: Frame;
  readonly #open: () => void;
  readonly #write: (text: string) => void;
  #wroteAtMs = 0;
  #callId: string | null = null;

  constructor(frame: Frame, { open, write }: { readonly open: () => void; readonly write: (text: string) => void }) {
    this.#frame = frame;
    this.#open = open;
    this.#write = write;
  }

  start(): void {
    this.#open();
    this.#send({ role: "assistant", content: "" });
  }

  tell(event: AnswerEvent): void {
    if (event.type === "text") return this.#send({ content: event.text });
    if (event.type === "arguments")
      return this.#send({ tool_calls: [{ index: 0, function: { arguments: event.text } }] });
    this.#callId = callIdOf(this.#frame.id);
    const callee = { name: event.name, arguments: "" };
    this.#send({ tool_calls: [{ index: 0, id: this.#callId, type: "function", function: callee }] });
  }

  tick(): void {
    if (performance.now() - this.#wroteAtMs < SILENCE_MS) return;
    this.#wroteAtMs = performance.now();
    this.#write(": reading\n\n");
  }

  end({ finish, usage, timings }: AnswerEnd, includesUsage: boolean): void {
    this.#send({}, finish);
    if (includesUsage) this.#writeData({ ...this.#base(), choices: [], usage, timings });
    this.#write("data: [DONE]\n\n");
  }

  fail(error: object): void {
    this.#writeData({ error });
  }

  #send(delta: object, finish: string | null = null): void {
    this.#writeData({ ...this.#base(), choices: [{ index: 0, delta, finish_reason: finish }] });
  }

  #base(): object {
    const { id, created, model } = this.#frame;
    return { id, object: "chat.completion.chunk", created, model };
  }

  #writeData(data: object): void {
    this.#wroteAtMs = performance.now();
    this.#write(`data: ${JSON.stringify(data)}\n\n`);
  }
}

/** Collects an answer for one body. */
export class BodySink implements AnswerSink {
  #text = "";
  #call: { readonly name: string; args: string } | null = null;

  start(): void {}

  tick(): void {}

  tell(event: AnswerEvent): void {
    if (event.type === "text") this.#text += event.text;
    else if (event.type === "call") this.#call = { name: event.name, args: "" };
    else if (this.#call !== null) this.#call.args += event.text;
  }

  body({ id, created, model }: Frame, { finish, usage, timings }: AnswerEnd): object {
    const callee = this.#call;
    const calls =
      callee === null
        ? {}
        : {
            tool_calls: [
              { id: callIdOf(id), type: "function", function: { name: callee.name, arguments: callee.args } },
            ],
          };
    const content = callee !== null && this.#text === "" ? null : this.#text;
    const message = { role: "assistant", content, ...calls };
    const choices = [{ index: 0, message, finish_reason: finish }];
    return { id, object: "chat.completion", created, model, choices, usage, timings };
  }
}

function callIdOf(completionId: string): string {
  return completionId.replace("chatcmpl-", "call_").replaceAll("-", "").slice(0, 29);
}
