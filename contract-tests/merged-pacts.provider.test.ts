import { MessageProviderPact } from "@pact-foundation/pact";
import { expect, test } from "vitest";
import { verifies } from "../tests/verifies.ts";
import { mergePacts } from "./merged-pacts.fixture.ts";
import { faultsIn } from "./pact-outcome.fixture.ts";

interface Said {
  readonly name: string;
  readonly text: string;
}

const GREETING: Said = { name: "a greeting", text: "hello" };
const FAREWELL: Said = { name: "a farewell", text: "bye" };

test("an interaction that all consumers write stands once, without a comment", () => {
  const { consumer, interactions } = merge({ sdk: [GREETING], client: [GREETING] });
  expect(consumer).toEqual({ name: "client, sdk" });
  expect(interactions).toEqual([messageToCommit(GREETING)]);
});

test("an interaction that a consumer lacks names those that wrote it", () => {
  const { interactions } = merge({ sdk: [GREETING, FAREWELL], client: [GREETING], page: [GREETING, FAREWELL] });
  expect(interactions).toEqual([
    { comments: { consumers: ["page", "sdk"] }, ...messageToCommit(FAREWELL) },
    messageToCommit(GREETING),
  ]);
});

test("interactions of one name that differ both stand, and each names its consumer", () => {
  const other = { ...GREETING, text: "good day" };
  expect(merge({ sdk: [GREETING], client: [other] }).interactions).toEqual([
    { comments: { consumers: ["client"] }, ...messageToCommit(other) },
    { comments: { consumers: ["sdk"] }, ...messageToCommit(GREETING) },
  ]);
});

test("interactions differ if their states do", () => {
  const early = pactOf("sdk", [messageOf(GREETING, "in the morning")]);
  const late = pactOf("client", [messageOf(GREETING, "in the evening")]);
  expect(JSON.parse(mergePacts([early, late])).interactions).toMatchObject([
    { comments: { consumers: ["client"] }, providerStates: [{ name: "in the evening" }] },
    { comments: { consumers: ["sdk"] }, providerStates: [{ name: "in the morning" }] },
  ]);
});

test("the order of consumers and of what they write does not matter", () => {
  const other = { ...GREETING, text: "good day" };
  const text = mergePacts([pactTextOf("sdk", [GREETING, FAREWELL]), pactTextOf("client", [FAREWELL, other])]);
  expect(mergePacts([pactTextOf("client", [other, FAREWELL]), pactTextOf("sdk", [FAREWELL, GREETING])])).toBe(text);
});

test("a consumer that stops writing an interaction changes the text", () => {
  const both = [GREETING, FAREWELL];
  const before = mergePacts([pactTextOf("sdk", both), pactTextOf("client", both), pactTextOf("page", both)]);
  expect(mergePacts([pactTextOf("sdk", both), pactTextOf("client", both), pactTextOf("page", [GREETING])])).not.toBe(
    before,
  );
  expect(mergePacts([pactTextOf("sdk", both), pactTextOf("client", both)])).not.toBe(before);
});

test("the pact of one consumer keeps its name", () => {
  const { consumer, provider, interactions, metadata } = merge({ sdk: [GREETING] });
  expect(consumer).toEqual({ name: "sdk" });
  expect(provider).toEqual({ name: "greeter" });
  expect(interactions).toEqual([messageToCommit(GREETING)]);
  expect(metadata).toEqual({ pactSpecification: { version: "4.0" } });
});

test("values that Pact does not assume stay, and so does everything that a message says", () => {
  const content = { combine: "AND", encoded: false, pending: false };
  const rules = { body: { "$.text": { combine: "OR", matchers: [{ match: "type" }, { match: "null" }] } } };
  const message = { ...messageOf(GREETING), contents: { content, encoded: "base64" }, matchingRules: rules };
  const { pending: _, ...kept } = message;
  expect(JSON.parse(mergePacts([pactOf("sdk", [message])])).interactions).toEqual([kept]);
  expect(JSON.parse(mergePacts([pactOf("sdk", [{ ...message, pending: true }])])).interactions).toEqual([
    { ...message, pending: true },
  ]);
});

test("Pact finds the same faults in a merged pact as in the written one", async () => {
  verifies("contract.parity.same-checks-both-providers");
  const pact = pactTextOf("sdk", [GREETING, FAREWELL]);
  const mergedText = mergePacts([pact, pactTextOf("client", [GREETING])]);
  for (const text of ["hello", "hey", "bye"]) {
    const faults = await faultsOf(pact, text);
    expect(await faultsOf(mergedText, text)).toEqual(faults);
    expect([...faults].filter(([, found]) => found.length > 0).map(([name]) => name)).toEqual(
      [GREETING, FAREWELL].filter((one) => one.text !== text).map(({ name }) => name),
    );
  }
});

function faultsOf(pact: string, text: string): Promise<ReadonlyMap<string, readonly string[]>> {
  const say = async (): Promise<object> => ({ text });
  return faultsIn(pact, (file) =>
    new MessageProviderPact({
      provider: "greeter",
      pactUrls: [file],
      messageProviders: { [GREETING.name]: say, [FAREWELL.name]: say },
      stateHandlers: { "a caller": async () => undefined },
      logLevel: "error",
    }).verify(),
  );
}

function merge(consumers: Readonly<Record<string, readonly Said[]>>) {
  return JSON.parse(mergePacts(Object.entries(consumers).map(([consumer, said]) => pactTextOf(consumer, said))));
}

function pactTextOf(consumer: string, said: readonly Said[]): string {
  return pactOf(
    consumer,
    said.map((one) => messageOf(one)),
  );
}

function pactOf(consumer: string, interactions: readonly object[]): string {
  return JSON.stringify({
    consumer: { name: consumer },
    interactions,
    metadata: { pactRust: { ffi: "0.4.28" }, pactSpecification: { version: "4.0" } },
    provider: { name: "greeter" },
  });
}

/** A message as consumers write it. Both of its rules must hold. */
function messageOf({ name, text }: Said, state = "a caller") {
  const matchers = [
    { match: "regex", regex: `^${text[0]}.*$` },
    { match: "regex", regex: `^.*${text.at(-1)}$` },
  ];
  return {
    contents: { content: { text }, contentType: "application/json", encoded: false },
    description: name,
    matchingRules: { body: { "$.text": { combine: "AND", matchers } } },
    pending: false,
    providerStates: [{ name: state }],
    type: "Asynchronous/Messages",
  };
}

/** A message without what Pact assumes. */
function messageToCommit(said: Said) {
  const { pending: _, contents, matchingRules, ...others } = messageOf(said);
  const { encoded: __, ...content } = contents;
  const { matchers } = matchingRules.body["$.text"];
  return { ...others, contents: content, matchingRules: { body: { "$.text": { matchers } } } };
}
