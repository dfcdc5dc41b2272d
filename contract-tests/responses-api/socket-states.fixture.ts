import { startTestServer, type TestServer } from "../../tests/kit/test-server.ts";
import type { Service } from "../providers.fixture.ts";
import { CALL, CHOOSE_WEATHER, WEATHER } from "./example-events.fixture.ts";
import { RESPONSE_ID } from "./example-response.fixture.ts";
import { EXAMPLE_MODEL } from "./interaction.fixture.ts";
import { SCENARIO } from "./message-scenes.fixture.ts";
import type { FRAMES, STAGED_FRAMES } from "./socket-frames.fixture.ts";
import { LANE } from "./socket-situations.fixture.ts";
import { SocketTalk } from "./socket-talk.fixture.ts";

/** A socket brought into a state. */
export interface PreparedSocket {
  readonly talk: SocketTalk;
  /** This provider's values for texts of the examples. */
  readonly values?: Readonly<Record<string, string>>;
  /** Runs after the frame is sent, and returns the last frame of its turn. */
  readonly answer?: () => Promise<unknown>;
  readonly close?: () => Promise<void>;
}

type Prepare = (service: Service) => Promise<PreparedSocket>;

const LANES = 32;
const hello = (model: string) => ({ type: "response.create", model, input: "Say hello", store: false });

const open: Prepare = async (service) => ({ talk: await SocketTalk.open(service) });

/** Opens a socket and creates a response on it that is not stored. */
async function withResponse(
  service: Service,
  members: object = {},
): Promise<Required<Pick<PreparedSocket, "talk" | "values">>> {
  const talk = await SocketTalk.open(service);
  const { response } = Object(await talk.ask({ ...hello(service.model), ...members }));
  const call: unknown = response.output[0]?.call_id;
  return {
    talk,
    values: { [RESPONSE_ID]: response.id, ...(typeof call === "string" ? { [CALL.call_id]: call } : {}) },
  };
}

const STATES: Readonly<Record<string, Prepare>> = {
  "an open socket": open,
  "a response of this socket that is not stored": withResponse,
  "a function call of this socket that nobody has answered": (service) =>
    withResponse(service, { tools: [WEATHER], tool_choice: CHOOSE_WEATHER }),
  "a response of another socket that is not stored": async (service) => {
    const { values } = await withResponse(service);
    return { talk: await SocketTalk.open(service), values };
  },
  "a response of this socket whose continuation was refused": async (service) => {
    const { talk, values } = await withResponse(service);
    await talk.ask({ ...hello("no-such-model"), previous_response_id: values[RESPONSE_ID] });
    return { talk, values };
  },
  "a socket with 32 lanes": async (service) => {
    const talk = await SocketTalk.open(service);
    for (let lane = 0; lane < LANES; lane++)
      await talk.ask({ ...hello(service.model), generate: false, stream_id: `${LANE}-${lane}` });
    return { talk };
  },
} satisfies Record<keyof typeof FRAMES, Prepare>;

/** These states need our own servers. Some would break other requests to the same server. */
const STAGED_STATES: Readonly<Record<string, Prepare>> = {
  "a socket that bears with broken frames": open,
  "a socket that makes no response": async (service) => {
    const talk = await SocketTalk.open(service);
    return { talk, answer: () => talk.next() };
  },
  "a response that this socket tells of": () => speaking("hold", "response.steer.accepted"),
  "a response that this socket tells of and that will call a function": () =>
    speaking("call late", "response.steer.pending"),
  "a model whose quota is used up": open,
  "a caller beyond its rate limit": async () => {
    const { talk, service, server } = await openOwn({ RATE_LIMIT_REQUESTS_PER_MINUTE: "1" });
    await talk.ask(hello(service.model));
    return { talk, close: () => server.close() };
  },
  "a server that is stopping": async () => {
    const { talk, service, server } = await openOwn({ DRAIN_MS: "5000" });
    talk.send({ ...hello(service.model), input: "Please play: slowly" });
    const answer = async (): Promise<unknown> => {
      let stopped: Promise<void> = Promise.resolve();
      await talk.turn(async (frame) => {
        if (Object(frame).type === "response.output_text.delta") stopped = server.close();
      });
      const [refusal] = await talk.turn();
      await stopped;
      return refusal;
    };
    return { talk, answer };
  },
} satisfies Record<keyof typeof STAGED_FRAMES, Prepare>;

/** A response of a server of its own that has begun to speak. The frame is answered by an event of this type. */
async function speaking(scene: string, type: string): Promise<PreparedSocket> {
  const { talk, service, server } = await openOwn({});
  talk.send({ ...hello(service.model), input: `Please play: ${scene}`, tools: [WEATHER] });
  const created = await talk.until("response.created");
  await talk.until("response.output_text.delta");
  const values = { [RESPONSE_ID]: String(Object(created).response.id) };
  return { talk, values, answer: () => talk.until(type), close: () => server.close() };
}

/** Sends a frame of the pact in its state, and returns the last frame of the turn. */
export async function answerFrame(service: Service, state: string, frame: unknown): Promise<unknown> {
  const prepare = STATES[state] ?? STAGED_STATES[state];
  if (prepare === undefined) throw new Error(`No setup exists for the state "${state}".`);
  const { talk, values = {}, answer = async () => (await talk.turn()).at(-1), close } = await prepare(service);
  try {
    talk.send(filled(frame, { [EXAMPLE_MODEL]: service.model, ...values }));
    return await answer();
  } finally {
    talk.close();
    await close?.();
  }
}

/** Returns the message that a socket receives when its time is over. */
export async function outliveSocket(): Promise<unknown> {
  const { talk, server } = await openOwn({ WEBSOCKET_LIFETIME_MS: "200" });
  try {
    return await talk.next();
  } finally {
    talk.close();
    await server.close();
  }
}

async function openOwn(
  env: Readonly<Record<string, string>>,
): Promise<{ readonly talk: SocketTalk; readonly service: Service; readonly server: TestServer }> {
  const server = await startTestServer({ env, scenario: SCENARIO });
  const service = { url: server.url, apiKey: server.apiKey, model: "antiphon-built-in" };
  return { talk: await SocketTalk.open(service), service, server };
}

/** Returns the frame with this provider's values in place of the examples. */
function filled(frame: unknown, values: Readonly<Record<string, string>>): string {
  const text = typeof frame === "string" ? frame : JSON.stringify(frame);
  return Object.entries(values).reduce((filling, [example, value]) => filling.replaceAll(example, value), text);
}
