import type { PactMessage } from "../pact-files.fixture.ts";
import type { Service } from "../providers.fixture.ts";
import { emitFrames } from "./emit-frames.fixture.ts";
import { Emitter } from "./emitter.fixture.ts";
import { TIME_OVER } from "./socket-situations.fixture.ts";
import { answerFrame, outliveSocket } from "./socket-states.fixture.ts";

/** Sends frames to a service and returns its replies. A frame that several messages share is sent once. */
export class SocketReplies {
  readonly emitter: Emitter;
  readonly #service: Service;
  readonly #answers = new Map<string, Promise<unknown>>();

  constructor(service: Service) {
    this.#service = service;
    this.emitter = new Emitter(emitFrames, service);
  }

  /** Returns the service's frame for a message. `sent` is the frame that it answers, if any. */
  async find(message: PactMessage, sent: unknown): Promise<unknown> {
    const { state } = message;
    if (state === TIME_OVER.state) return this.#once(state, outliveSocket);
    if (sent === undefined) return this.emitter.find(message);
    return this.#once(JSON.stringify([state, sent]), () => answerFrame(this.#service, state, sent));
  }

  #once(question: string, ask: () => Promise<unknown>): Promise<unknown> {
    const answer = this.#answers.get(question) ?? ask();
    this.#answers.set(question, answer);
    return answer;
  }
}
