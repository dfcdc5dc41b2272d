import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import type {
  AnyStreamEvent,
  Response,
  ResponseSteerAcceptedEvent,
  ResponseSteerFailedEvent,
  ResponseSteerPendingEvent,
  WebSocketErrorFrame,
} from "@antiphon/contracts/responses-api/types.ts";
import {
  validateAnyStreamEvent,
  validateResponseSteerAcceptedEvent,
  validateResponseSteerFailedEvent,
  validateResponseSteerPendingEvent,
  validateWebSocketErrorFrame,
} from "@antiphon/contracts/responses-api/validators.js";
import { lintEvents } from "@antiphon/stream-grammar/stream-linter.ts";
import { expect, onTestFinished } from "vitest";
import { WebSocket } from "ws";

export const MODEL = "antiphon-built-in";

/** Members that change a valid frame. */
export type Members = Readonly<Record<string, unknown>>;

export type SteeringEvent = ResponseSteerAcceptedEvent | ResponseSteerFailedEvent | ResponseSteerPendingEvent;

export type ServerFrame = AnyStreamEvent | WebSocketErrorFrame;

/** The frames of one turn: all of its events, or the error that refused it. */
export interface Turn {
  readonly frames: readonly ServerFrame[];
  readonly types: readonly string[];
  /** The joined text of all `response.output_text.delta` events. */
  readonly text: string;
  /** The response in the last event. Throws for a refused turn. */
  readonly response: Response;
  /** Throws for a turn that was not refused. */
  readonly refusal: WebSocketErrorFrame;
}

const LAST: ReadonlySet<string> = new Set(["response.completed", "response.incomplete", "response.failed"]);

export interface SocketOptions {
  readonly apiKey?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A WebSocket client that checks each frame against the contract. */
export class TestSocket {
  readonly socket: WebSocket;
  readonly frames: ServerFrame[] = [];
  /** The events of steering so far, which belong to no turn. */
  readonly steeringEvents: SteeringEvent[] = [];
  /** The types of all frames so far. */
  readonly allTypes: string[] = [];
  readonly closed: Promise<number>;
  #read = 0;

  constructor(socket: WebSocket) {
    this.socket = socket;
    this.closed = once(socket, "close").then(([code]: unknown[]) => Number(code));
    socket.on("error", () => {});
    socket.on("message", (bytes: Buffer) => this.#take(JSON.parse(bytes.toString())));
  }

  #take(message: unknown): void {
    const frame = frameOf(message);
    this.allTypes.push(frame.type);
    if (isSteering(frame)) this.steeringEvents.push(frame);
    else this.frames.push(frame);
  }

  send(frame: unknown): void {
    this.socket.send(typeof frame === "string" || Buffer.isBuffer(frame) ? frame : JSON.stringify(frame));
  }

  /** Requests a response with a valid frame, changed by `members`. */
  ask(members: Members = {}): void {
    this.send({ type: "response.create", model: MODEL, input: "Say hello", ...members });
  }

  /** Requests a response, and waits for the end of the lane's next turn. */
  async create(members: Members = {}): Promise<Turn> {
    this.ask(members);
    const { stream_id: lane } = members;
    return this.turn(typeof lane === "string" ? lane : undefined);
  }

  /** Adds input to a response, and waits for the reply. */
  async steer(responseId: string, input: unknown): Promise<SteeringEvent> {
    const { length } = this.steeringEvents;
    this.send({ type: "response.steer", previous_response_id: responseId, input });
    return await this.steering(length);
  }

  /** The event of steering with this number, once it has arrived. */
  async steering(number: number): Promise<SteeringEvent> {
    for (;;) {
      const event = this.steeringEvents[number];
      if (event !== undefined) return event;
      if (this.socket.readyState === WebSocket.CLOSED) throw new Error(`the socket closed before event ${number}`);
      await Promise.race([once(this.socket, "message"), this.closed]);
    }
  }

  /** The next unread turn of a lane, once it has ended. */
  async turn(lane?: string): Promise<Turn> {
    const frames: ServerFrame[] = [];
    for (;;) {
      const frame = await this.frame(lane);
      frames.push(frame);
      if (isRefusal(frame) && frames.length === 1) return turnOf(frames);
      if (!LAST.has(frame.type)) continue;
      expectLegal(frames);
      return turnOf(frames);
    }
  }

  /** The next unread frame of a lane. */
  async frame(lane?: string): Promise<ServerFrame> {
    for (;;) {
      const found = this.frames.findIndex((frame) => laneOf(frame) === lane);
      const [frame] = found < 0 ? [] : this.frames.splice(found, 1);
      if (frame !== undefined) return frame;
      if (this.socket.readyState === WebSocket.CLOSED) throw new Error(`the socket closed after ${this.#read} frames`);
      this.#read = this.frames.length;
      await Promise.race([once(this.socket, "message"), this.closed]);
    }
  }

  /** Resolves when an unread frame of this type has arrived; it stays unread. */
  async until(type: string, lane?: string): Promise<ServerFrame> {
    for (;;) {
      const found = this.frames.find((frame) => frame.type === type && laneOf(frame) === lane);
      if (found !== undefined) return found;
      await sleep(2);
    }
  }

  leave(): void {
    this.socket.terminate();
  }
}

/** A turn follows the grammar of its dialect. */
function expectLegal(frames: readonly ServerFrame[]): void {
  const isExtended = frames.some(({ type }) => /^response[.](tool_call|output_audio|error)\b/.test(type));
  expect(lintEvents(frames, isExtended ? "extension" : "reference").faults).toEqual([]);
}

/** Opens a socket that ends with the test. */
export async function openSocket(
  server: { readonly url: string; readonly apiKey: string },
  { apiKey = server.apiKey, headers = {} }: SocketOptions = {},
): Promise<TestSocket> {
  const socket = new WebSocket(socketUrl(server), { headers: { authorization: `Bearer ${apiKey}`, ...headers } });
  onTestFinished(() => socket.terminate());
  const opened = new TestSocket(socket);
  await once(socket, "open");
  return opened;
}

/** The reply to a refused upgrade. */
export async function refusedUpgrade(
  server: { readonly url: string },
  headers: Readonly<Record<string, string>>,
): Promise<{ readonly status: number; readonly headers: object; readonly body: unknown }> {
  const socket = new WebSocket(socketUrl(server), { headers });
  socket.on("error", () => {});
  const [, reply] = await once(socket, "unexpected-response");
  let body = "";
  for await (const piece of reply.setEncoding("utf8")) body += String(piece);
  return { status: reply.statusCode, headers: reply.headers, body: JSON.parse(body) };
}

export function isRefusal(frame: ServerFrame): frame is WebSocketErrorFrame {
  return frame.type === "error" && "status" in frame;
}

function socketUrl({ url }: { readonly url: string }): string {
  return `${url.replace("http", "ws")}/v1/responses`;
}

function frameOf(value: unknown): ServerFrame | SteeringEvent {
  if (validateWebSocketErrorFrame(value) || validateAnyStreamEvent(value)) return value;
  if (validateResponseSteerAcceptedEvent(value) || validateResponseSteerPendingEvent(value)) return value;
  if (validateResponseSteerFailedEvent(value)) return value;
  throw new Error(`not a frame of the contract: ${JSON.stringify(value)}`);
}

function isSteering(frame: ServerFrame | SteeringEvent): frame is SteeringEvent {
  return frame.type.startsWith("response.steer.");
}

function laneOf(frame: ServerFrame): string | undefined {
  return "stream_id" in frame ? frame.stream_id : undefined;
}

function turnOf(frames: readonly ServerFrame[]): Turn {
  return {
    frames,
    types: frames.map(({ type }) => type),
    text: frames.map((frame) => (frame.type === "response.output_text.delta" ? frame.delta : "")).join(""),
    get response() {
      const last = frames.at(-1);
      if (last === undefined || !("response" in last)) throw new Error(`no response: ${JSON.stringify(last)}`);
      return last.response;
    },
    get refusal() {
      const [first] = frames;
      if (first === undefined || !isRefusal(first)) throw new Error(`not refused: ${JSON.stringify(first)}`);
      return first;
    },
  };
}
