import type { ApiError } from "@antiphon/base/api-error.ts";
import { newId } from "@antiphon/base/ids.ts";
import type { HeldBytes } from "@antiphon/base/limits/byte-budget.ts";
import type {
  CreateResponseRequest,
  Response,
  ResponseSteerFailedEvent,
  SteerInput,
} from "@antiphon/contracts/responses-api/types.ts";
import { PENDING_STEERS_MAX } from "@antiphon/domain/steering/steers.ts";
import { requiredInput } from "../input/required-input.ts";
import { takesSteers } from "../input/steer-input.ts";
import type { BoundedMessageQueue } from "./bounded-message-queue.ts";
import type { Lane } from "./lanes.ts";

/** The number of ended responses that a connection tells from unknown ones. */
const ENDED_MAX = 64;

type SteerErrorCode = ResponseSteerFailedEvent["error"]["code"];

/** An accepted input. */
export interface Steer {
  readonly id: string;
  /** The response that the client named. */
  readonly responseId: string;
  readonly input: SteerInput;
  readonly bytes: number;
}

/** A client's `response.steer` frame. */
export type SteerRequest = {
  readonly responseId: string;
  readonly bytes: number;
} & (
  | { readonly fault: null; readonly input: SteerInput }
  /** The input is as it was sent. */
  | { readonly fault: ApiError; readonly input: unknown }
);

/** A response in progress that may be steered. */
export interface SteeredResponse {
  readonly responseId: string;
  readonly lane: Lane;
  readonly request: CreateResponseRequest;
  /** The number of the latest event that was sent. */
  readonly lastNumber: number;
  /** The inputs that wait for its end. */
  readonly steers: Steer[];
}

/** The inputs for the response that continues one whose client owes results. */
interface ParkedSteers {
  readonly responseId: string;
  readonly steers: Steer[];
}

/**
 * The steering of the responses of one connection: inputs that clients add while a response is in progress. They wait
 * in memory for the response that takes them.
 */
export class Steering {
  readonly #queue: BoundedMessageQueue;
  readonly #memory: HeldBytes;
  /** Whether each of the latest ended responses completed. */
  readonly #ended = new Map<string, boolean>();
  /** One for each lane. */
  readonly #parked = new Map<Lane, ParkedSteers>();

  constructor(queue: BoundedMessageQueue, memory: HeldBytes) {
    this.#queue = queue;
    this.#memory = memory;
  }

  /** Accepts the input, or returns it. `target`: the named response; null if it is not in progress here. */
  async hear(request: SteerRequest, target: SteeredResponse | null): Promise<void> {
    const { responseId, bytes } = request;
    const refuse = (code: SteerErrorCode, message: string): Promise<void> =>
      this.#sendFailure(request, target, code, message);
    if (request.fault !== null) return await refuse("invalid_input", request.fault.message);
    if (target === null) return await refuse(this.#whyNotSteered(responseId), inactiveMessage(responseId));
    if (!takesSteers(target.request))
      return await refuse(
        "steering_not_supported",
        "Responses of a conversation and responses with automatic compaction cannot be steered.",
      );
    if (target.steers.length >= PENDING_STEERS_MAX || !this.#memory.add(bytes))
      return await refuse("too_many_pending_steers", `Too much input waits already for response '${responseId}'.`);
    const id = newId("steer", Math.floor(Date.now() / 1000));
    const steer = { id, responseId, input: request.input, bytes };
    target.steers.push(steer);
    await this.#send("response.steer.accepted", { steer: steerNames(steer) }, target);
  }

  /** Call as soon as a response has ended. */
  noteEnd(responseId: string, isCompleted: boolean): void {
    this.#ended.set(responseId, isCompleted);
    const [oldest] = this.#ended.keys();
    if (this.#ended.size > ENDED_MAX && oldest !== undefined) this.#ended.delete(oldest);
  }

  /**
   * Decides on the inputs that wait for an ended response. Returns those that a successor takes at once; the others
   * wait for the client's results, or are returned.
   */
  async settle(target: SteeredResponse, response: Response): Promise<Steer[]> {
    const steers = target.steers.splice(0);
    if (steers.length === 0) return steers;
    if (response.status !== "completed" && response.status !== "incomplete") {
      await this.leave(steers, target);
      return [];
    }
    const owedInput = requiredInput(response.output);
    if (owedInput.length === 0) return steers;
    await this.#park(target, steers);
    const parts = { reason: "waiting_for_required_input", required_input: owedInput };
    for (const steer of steers)
      await this.#send("response.steer.pending", { steer: steerNames(steer), ...parts }, target);
    return [];
  }

  /** The inputs that go before that of a request which continues a response in this lane. */
  parkedFor(lane: Lane, previousId: string | null): Steer[] {
    const parkedSteers = this.#parked.get(lane);
    return parkedSteers !== undefined && parkedSteers.responseId === previousId ? parkedSteers.steers : [];
  }

  /** The response that takes these inputs has begun: empties the list. */
  commit(steers: Steer[], lane: Lane): void {
    if (this.#parked.get(lane)?.steers === steers) this.#parked.delete(lane);
    for (const { bytes } of steers.splice(0)) this.#memory.remove(bytes);
  }

  /** Returns the inputs of a response that nothing continues. */
  async leave(steers: readonly Steer[], target: SteeredResponse): Promise<void> {
    await this.giveBack(steers, target, "response_not_active", inactiveMessage(target.responseId));
  }

  /** Returns accepted inputs to the client. */
  async giveBack(
    steers: readonly Steer[],
    target: Pick<SteeredResponse, "lane" | "lastNumber">,
    code: SteerErrorCode,
    message: string,
  ): Promise<void> {
    for (const steer of steers) {
      this.#memory.remove(steer.bytes);
      await this.#sendFailure(steer, target, code, message);
    }
  }

  close(): void {
    this.#parked.clear();
    this.#memory.release();
  }

  /** A lane has room for the inputs of one response: those of an older one are returned. */
  async #park(target: SteeredResponse, steers: Steer[]): Promise<void> {
    const older = this.#parked.get(target.lane);
    this.#parked.set(target.lane, { responseId: target.responseId, steers });
    if (older === undefined) return;
    await this.giveBack(older.steers, target, "response_not_active", inactiveMessage(older.responseId));
  }

  #whyNotSteered(responseId: string): SteerErrorCode {
    const isCompleted = this.#ended.get(responseId);
    if (isCompleted === undefined) return "response_not_found";
    return isCompleted ? "response_already_completed" : "response_not_active";
  }

  async #sendFailure(
    { id, responseId, input }: { readonly id?: string; readonly responseId: string; readonly input: unknown },
    target: Pick<SteeredResponse, "lane" | "lastNumber"> | null,
    code: SteerErrorCode,
    message: string,
  ): Promise<void> {
    const steer = { ...(id === undefined ? {} : { id }), previous_response_id: responseId, input };
    await this.#send(
      "response.steer.failed",
      { error: { type: "invalid_request_error", code, message }, steer },
      target,
    );
  }

  /** Events of steering have the number of the latest event of their response: a replay has no gap. */
  async #send(
    type: string,
    members: object,
    target: Pick<SteeredResponse, "lane" | "lastNumber"> | null,
  ): Promise<void> {
    const lane = target?.lane ?? null;
    const sequence = { sequence_number: target?.lastNumber ?? 0 };
    await this.#queue.put({ type, ...sequence, ...members, ...(lane === null ? {} : { stream_id: lane }) });
  }
}

function steerNames({ id, responseId }: Steer): object {
  return { id, previous_response_id: responseId };
}

function inactiveMessage(responseId: string): string {
  return `Response '${responseId}' is not in progress on this connection.`;
}
