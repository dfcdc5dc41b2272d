import { MessageProviderPact, PactV4 } from "@pact-foundation/pact";
import {
  keyOf,
  PACTS_DIR,
  type Parties,
  pactFile,
  parsePact,
  pickInteraction,
  readInteractions,
  statesOf,
} from "./pact-files.fixture.ts";
import { verifyPact } from "./pact-outcome.fixture.ts";
import { isRecord } from "./records.fixture.ts";

/**
 * A client's message on a stream and its replies, or messages that the server sends unasked. Members may be matchers.
 */
export interface Exchange {
  /** Unique within the pact. */
  readonly name: string;
  readonly given: readonly [state: string, ...others: string[]];
  /** Absent if the server sends unasked. */
  readonly says?: object;
  /** The server's messages in order. */
  readonly hears: readonly object[];
}

/** An exchange with examples in place of matchers, for the consumer test. */
export interface Played {
  readonly says: unknown;
  readonly hears: readonly object[];
}

/**
 * Runs an exchange with the real client and writes it into the pact. `play` throws if the client does not behave as
 * described.
 */
export async function writeExchange(
  parties: Parties,
  { name, given, says, hears }: Exchange,
  play: (played: Played) => Promise<void>,
): Promise<void> {
  const pact = new PactV4({ ...parties, dir: PACTS_DIR, logLevel: "error" });
  if (says === undefined) {
    const [said] = hears;
    const message = pact.addAsynchronousInteraction();
    for (const state of given) message.given(state);
    await message
      .expectsToReceive(name, (builder) => builder.withJSONContent(said))
      .executeTest(({ contents }) => play({ says: null, hears: [jsonOf(contents.content)] }));
    return;
  }
  const message = pact.addSynchronousInteraction(name);
  for (const state of given) message.given(state);
  await message
    .withRequest((builder) => builder.withJSONContent(says))
    .withResponse((builder) => {
      for (const answer of hears) builder.withJSONContent(answer);
    })
    .executeTest(({ Request, Response }) =>
      play({ says: jsonOf(Request.content), hears: Response.map(({ content }) => jsonOf(content)) }),
    );
}

function jsonOf(content: unknown): object {
  const value: unknown = Buffer.isBuffer(content) ? JSON.parse(content.toString()) : content;
  if (!isRecord(value)) throw new Error("a message must be a JSON object");
  return value;
}

/** An exchange as it is stored in a pact file. */
export interface WrittenExchange {
  /** Unique within the pact. */
  readonly key: string;
  readonly name: string;
  readonly given: readonly string[];
  /** Null if the server sends unasked. */
  readonly says: unknown;
  readonly hears: readonly unknown[];
}

export function readExchanges(parties: Parties): WrittenExchange[] {
  return readInteractions(pactFile(parties.provider)).map((interaction) => {
    const { description, request, response, contents } = interaction;
    const responses: unknown[] = Array.isArray(response) ? response : [{ contents }];
    return {
      key: keyOf(interaction),
      name: String(description),
      given: statesOf(interaction),
      says: request === undefined ? null : contentOf(request),
      hears: responses.map(contentOf),
    };
  });
}

function contentOf(message: unknown): unknown {
  const contents = isRecord(message) ? message["contents"] : undefined;
  return isRecord(contents) ? contents["content"] : undefined;
}

/** Compares the received messages of an exchange with the pact, one by one. */
export async function checkExchange(
  parties: Parties,
  { key, name, hears }: WrittenExchange,
  heard: readonly unknown[],
) {
  const exchange = pickInteraction(pactFile(parties.provider), key);
  for (const place of hears.keys())
    await verifyPact(withOneAnswer(exchange, place), (file) =>
      new MessageProviderPact({
        provider: parties.provider,
        pactUrls: [file],
        messageProviders: { [name]: async () => heard[place] ?? { type: "nothing" } },
        logLevel: "error",
      }).verify(),
    );
}

/** Keeps one answer of the interaction, because Pact verifies only one. */
function withOneAnswer(text: string, place: number): string {
  const pact = parsePact(text);
  const interactions = pact.interactions.map((interaction) => {
    const { response } = interaction;
    return Array.isArray(response) ? { ...interaction, response: [response[place]] } : interaction;
  });
  return JSON.stringify({ ...pact, interactions });
}
