import { ApiError } from "@antiphon/base/api-error.ts";
import { EventFrames } from "@antiphon/base/event-frames.ts";
import { silentLogger } from "@antiphon/base/logger.ts";
import type { CreateResponseReply } from "@antiphon/contracts/responses-api/operations.ts";
import type { CreateResponseRequest, Response } from "@antiphon/contracts/responses-api/types.ts";
import type { Caller } from "../../src/responses-api/access/caller.ts";
import { cancelResponse } from "../../src/responses-api/operations/cancel-response.ts";
import { createResponse } from "../../src/responses-api/operations/create-response.ts";
import { getResponse } from "../../src/responses-api/operations/get-response.ts";
import type { Book } from "./book.ts";
import { Connection, ConnectionBroken, type Wire } from "./connection.ts";
import { LAB } from "./model.ts";
import type { Node } from "./node.ts";
import type { Actor } from "./scheduler.ts";

export const OWNER = { organization: "org", project: "proj" };

/** What a client wants, and how it behaves. */
export interface Intention {
  /** Names the intention and its model. */
  readonly model: string;
  readonly key: string | null;
  readonly background: boolean;
  readonly stream: boolean;
  /** When it begins, in milliseconds. */
  readonly beginsAt: number;
  /** When it cancels the response once it knows its id; null for never. */
  readonly cancelsAfter: number | null;
  /** The share of its connections that it leaves before their end. */
  readonly leaves: number;
  /** Readers beside it, which begin anywhere. */
  readonly readers: number;
  /** Whether it counts its retries, as the official SDKs do. */
  readonly counts: boolean;
}

const OVER: ReadonlySet<string> = new Set(["completed", "failed", "cancelled", "incomplete"]);
const LAST_EVENTS: ReadonlySet<string> = new Set([
  "response.completed",
  "response.failed",
  "response.cancelled",
  "response.incomplete",
]);
const PAUSE_MS = 1_000;
const LEAVES_AFTER_MS = 3_000;
const AWAY_MS = 15_000;

/** Makes requests for one intention, again and again if they fail, until it has its answer or gives up. */
export class Client {
  readonly intention: Intention;
  readonly actor: Actor;
  /** The responses that it was told of. */
  readonly ids = new Set<string>();
  /** How often it sent its request. */
  creates = 0;
  isDone = false;
  readonly #wire: Wire;
  readonly #book: Book;
  #responseId: string | null = null;
  #retries = 0;

  constructor(intention: Intention, wire: Wire, book: Book) {
    this.intention = intention;
    this.actor = { name: intention.model, isAlive: true, frozenUntil: 0 };
    this.#wire = wire;
    this.#book = book;
  }

  begin(): void {
    const { beginsAt } = this.intention;
    this.#wire.scheduler.plan(this.actor, beginsAt, "begins", () => {
      this.#work().then(
        () => (this.isDone = true),
        (fault: unknown) => this.#book.report("no node has a bug", `a client got ${String(fault)}`),
      );
    });
  }

  /** The first response that it was told of. */
  get responseId(): string | null {
    return this.#responseId;
  }

  async #work(): Promise<void> {
    while (!(await this.#try())) await this.#pause();
  }

  async #pause(): Promise<void> {
    const { scheduler, random } = this.#wire;
    await scheduler.wait(this.actor, random.between(0, random.happens(0.2) ? AWAY_MS : PAUSE_MS), "pause");
  }

  /** Returns true if there is nothing more to do. */
  async #try(): Promise<boolean> {
    const node = this.#wire.cluster.pick();
    if (node === null) return false;
    const connection = new Connection(this.#wire, this.actor, node);
    this.#leaveSome(connection);
    try {
      if (this.#responseId !== null && this.intention.background) return await this.#goOn(connection, this.#responseId);
      return await this.#create(connection);
    } catch (fault) {
      return this.#isFinal(fault);
    } finally {
      connection.close();
    }
  }

  /** Leaves some connections before their end. */
  #leaveSome(connection: Connection): void {
    const { scheduler, random } = this.#wire;
    if (random.happens(this.intention.leaves))
      scheduler.plan(this.actor, random.between(0, LEAVES_AFTER_MS), "leaves", () => connection.leave());
  }

  /** Whether to give up after a fault. */
  #isFinal(fault: unknown): boolean {
    const { key, background } = this.intention;
    const mayRepeat = key !== null || this.intention.counts || (background && this.#responseId !== null);
    if (fault instanceof ConnectionBroken) {
      this.#retries += 1;
      return !mayRepeat;
    }
    if (!(fault instanceof ApiError)) {
      // The HTTP layer answers 500 or 503.
      this.#retries += 1;
      return !mayRepeat;
    }
    const isLost = fault.status === 404 || fault.status === 410 || fault.status === 422;
    if (isLost && (this.#responseId !== null || fault.status === 422))
      this.#book.report("nothing visible is lost", `${this.#responseId} of ${this.intention.model}: ${fault.message}`);
    this.#wire.scheduler.trace.note(`${fault.status} ${fault.code}`);
    this.#retries += 1;
    return isLost || fault.status === 400 || fault.status === 409 || !mayRepeat;
  }

  #noteId(responseId: string): void {
    this.ids.add(responseId);
    if (this.#responseId !== null) return;
    this.#responseId = responseId;
    this.#beginBeside(responseId);
  }

  /** Begins readers and a cancel. */
  #beginBeside(responseId: string): void {
    const { scheduler, random } = this.#wire;
    const { cancelsAfter, readers, background, stream } = this.intention;
    if (cancelsAfter !== null)
      scheduler.plan(this.actor, cancelsAfter, "cancels", () => void this.#cancel(responseId).catch(() => {}));
    if (!background || !stream) return;
    for (let number = 0; number < readers; number += 1) {
      const reader = new Reader(this.#wire, this.#book, responseId, `${this.actor.name}r${number}`);
      scheduler.plan(reader.actor, random.between(0, AWAY_MS), "reads", () => void reader.read(random.below(8) - 1));
    }
  }

  async #cancel(responseId: string): Promise<void> {
    const node = this.#wire.cluster.pick();
    if (node === null) return;
    const connection = new Connection(this.#wire, this.actor, node);
    await connection.ask("cancel", ({ creating, store }, signal) =>
      cancelResponse(creating.watching, store.ledger)(
        { path: { response_id: responseId }, query: {}, headers: {}, body: undefined },
        callerOf(signal, {}),
      ),
    );
  }

  /** The rest of a background response. */
  async #goOn(connection: Connection, responseId: string): Promise<boolean> {
    if (this.intention.stream) {
      const reader = new Reader(this.#wire, this.#book, responseId, this.actor.name);
      const goesOnAfter = this.#lastNumber;
      const seen = (number: number): void => void (this.#lastNumber = Math.max(this.#lastNumber, number));
      return this.#book.hasEnd(responseId, goesOnAfter) || (await reader.readOnce(connection, goesOnAfter, seen));
    }
    const reply = await connection.ask("poll", (node, signal) => askFor(node, signal, responseId));
    return this.#noteBody(reply.body);
  }

  #lastNumber = -1;

  #noteBody(response: Response): boolean {
    this.#noteId(response.id);
    if (!OVER.has(response.status)) return false;
    this.#book.noteBody(response.id, JSON.stringify(response));
    return true;
  }

  async #create(connection: Connection): Promise<boolean> {
    const { model, key, background, stream, counts } = this.intention;
    this.creates += 1;
    const body = {
      model,
      input: "Begin.",
      background,
      stream,
      store: true,
      tools: [LAB],
      ...(stream ? { stream_options: { include_obfuscation: false } } : {}),
    } as CreateResponseRequest;
    const headers = key === null ? {} : { "idempotency-key": key };
    const counted = key === null && counts ? { "x-stainless-retry-count": String(this.#retries) } : {};
    const reply = await connection.ask("create", ({ creating, store }, signal) =>
      createResponse(creating, store.createKeys)({ body, headers, path: {}, query: {} }, callerOf(signal, counted)),
    );
    if ("body" in reply) return this.#noteBody(responseIn(reply.body));
    return await this.#readNew(connection, reply);
  }

  async #readNew(
    connection: Connection,
    reply: Extract<CreateResponseReply, { readonly events: unknown }>,
  ): Promise<boolean> {
    let next = 0;
    let responseId: string | null = null;
    let isOver = false;
    await connection.read(textsOf(reply.events), (text) => {
      for (const frame of framesIn(text)) {
        const { number, type, response } = readFrame(frame);
        responseId ??= response?.id ?? null;
        if (responseId === null) continue;
        this.#noteId(responseId);
        if (number !== next)
          this.#book.report("once and in order", `${responseId}: event ${number} came instead of ${next}`);
        next = number + 1;
        this.#lastNumber = Math.max(this.#lastNumber, number);
        this.#book.noteFrame(responseId, number, frame);
        if (LAST_EVENTS.has(type)) this.#book.noteEnd(responseId, number);
        isOver ||= LAST_EVENTS.has(type);
      }
    });
    if (!isOver) throw new ConnectionBroken("the stream ended early");
    return true;
  }
}

/** Reads the events of a background response, from one node after the other. */
class Reader {
  readonly actor: Actor;
  readonly #wire: Wire;
  readonly #book: Book;
  readonly #responseId: string;

  constructor(wire: Wire, book: Book, responseId: string, name: string) {
    this.#wire = wire;
    this.#book = book;
    this.#responseId = responseId;
    this.actor = { name, isAlive: true, frozenUntil: 0 };
  }

  /** Reads until the end, through any nodes. */
  async read(after: number): Promise<void> {
    const { scheduler, random, cluster } = this.#wire;
    let last = after;
    for (let tries = 0; tries < READS_MAX; tries += 1) {
      const node = cluster.pick();
      if (node !== null) {
        const connection = new Connection(this.#wire, this.actor, node);
        if (random.happens(0.2))
          scheduler.plan(this.actor, random.between(0, LEAVES_AFTER_MS), "leaves", () => connection.leave());
        try {
          if (this.#book.hasEnd(this.#responseId, last)) return;
          if (await this.readOnce(connection, last, (number) => (last = number))) return;
        } catch {
          // The next connection goes on from the last event.
        } finally {
          connection.close();
        }
      }
      await scheduler.wait(this.actor, random.between(0, PAUSE_MS), "pause");
    }
  }

  /** Reads through one connection. Resolves to whether the response has ended. */
  async readOnce(connection: Connection, after: number, seen: (number: number) => void = () => {}): Promise<boolean> {
    const id = this.#responseId;
    const reply = await connection.ask("read", ({ creating }, signal) =>
      getResponse(creating.watching)(
        { path: { response_id: id }, query: { stream: true, starting_after: after }, headers: {}, body: undefined },
        callerOf(signal, {}),
      ),
    );
    if (!("events" in reply)) throw new Error("a stream was asked for");
    let next = after + 1;
    let isOver = false;
    await connection.read(textsOf(reply.events), (text) => {
      for (const frame of framesIn(text)) {
        const { number, type } = readFrame(frame);
        if (number !== next) this.#book.report("once and in order", `${id}: event ${number} came instead of ${next}`);
        next = number + 1;
        seen(number);
        this.#book.noteFrame(id, number, frame);
        if (LAST_EVENTS.has(type)) this.#book.noteEnd(id, number);
        isOver ||= LAST_EVENTS.has(type);
      }
    });
    if (!isOver) throw new ConnectionBroken("the stream ended early");
    return true;
  }
}

const READS_MAX = 40;

async function askFor({ creating }: Node, signal: AbortSignal, id: string): Promise<{ readonly body: Response }> {
  const reply = await getResponse(creating.watching)(
    { path: { response_id: id }, query: {}, headers: {}, body: undefined },
    callerOf(signal, {}),
  );
  if (!("body" in reply)) throw new Error("a body was asked for");
  return { body: responseIn(reply.body) };
}

function callerOf(signal: AbortSignal, headers: Readonly<Record<string, string>>): Caller {
  return {
    principal: { keyId: "key", owner: OWNER, limits: { requests: null, tokens: null } },
    signal,
    requestId: "req_simulated",
    trace: null,
    log: silentLogger,
    peer: { remoteAddress: "192.0.2.1", headers },
  };
}

/** The frames as they are written to the socket. */
function textsOf(events: unknown): AsyncIterable<string> {
  if (events instanceof EventFrames) return events.texts;
  throw new Error("events are sent as frames");
}

function responseIn(body: Response | object): Response {
  if ("status" in body) return body;
  throw new Error("the body of an error was returned");
}

function framesIn(text: string): readonly string[] {
  return text.split("\n\n").slice(0, -1);
}

interface ReadFrame {
  readonly number: number;
  readonly type: string;
  readonly response: { readonly id: string } | null;
}

function readFrame(frame: string): ReadFrame {
  const event: {
    readonly type: string;
    readonly sequence_number: number;
    readonly response?: { readonly id: string };
  } = JSON.parse(frame.slice(frame.indexOf("\ndata: ") + "\ndata: ".length));
  return { number: event.sequence_number, type: event.type, response: event.response ?? null };
}
