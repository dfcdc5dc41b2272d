import { isDeepStrictEqual } from "node:util";
import type OpenAI from "openai";
import type { ConversationItem } from "openai/resources/conversations/items";
import type { Response as ResponseBody, ResponseStreamEvent } from "openai/resources/responses/responses";
import { statusOf } from "./client-errors.ts";
import { itemsOf, nameIn } from "./converse.ts";
import { restOf } from "./follow.ts";
import type { Records, Talk } from "./records.ts";
import { ENDS, type View } from "./view.ts";
import type { World } from "./world.ts";

const CHECKED_AT_ONCE = 8;

/** Holds what the clients were told to what every node says now. Resolves to what does not fit. */
export async function checkRecords(
  records: Records,
  world: World,
  nodes: readonly OpenAI[],
): Promise<readonly string[]> {
  const faults = [...records.faults];
  const check = async <One>(all: readonly One[], faultsOf: (one: One, index: number) => Promise<readonly string[]>) => {
    const left = all.entries();
    const work = async () => {
      for (const [index, one] of left) faults.push(...(await faultsOf(one, index)));
    };
    await Promise.all(Array.from({ length: CHECKED_AT_ONCE }, work));
  };
  const anyNode = (index: number): OpenAI => nodeAt(nodes, index);
  await check(records.views, (view, index) => checkView(view, anyNode(index), anyNode(index + 1)));
  await check(records.answers, (answer, index) => checkAnswer(answer, anyNode(index)));
  await check(records.deleted, (id, index) => checkDeleted(id, anyNode(index)));
  await check(records.files, ({ id, text }, index) => checkFile(id, text, anyNode(index)));
  for (const node of nodes) await check(records.talks, (talk) => checkTalk(talk, node));
  faults.push(...checkPayments(records, world), ...checkContexts(records, world));
  return faults;
}

function nodeAt(nodes: readonly OpenAI[], index: number): OpenAI {
  const node = nodes[index % nodes.length];
  if (node === undefined) throw new Error("there are no nodes");
  return node;
}

/** What a client saw of a response is how its log begins, the log is whole, and the stored response is its end. */
async function checkView(view: View, node: OpenAI, other: OpenAI): Promise<readonly string[]> {
  const { id, kind, name } = view;
  if (id === null) return [];
  const about = (fault: string): string => `${kind} ${name}, ${id}: ${fault}`;
  try {
    const log = await eventsOf(node, id);
    const stored = await other.responses.retrieve(id);
    return [...view.faults, ...faultsInLog(log), ...faultsInView(view, log), ...faultsInEnd(stored, log)].map(about);
  } catch (error) {
    return [...view.faults, `it cannot be read: ${String(error)}`].map(about);
  }
}

async function eventsOf(node: OpenAI, id: string): Promise<readonly ResponseStreamEvent[]> {
  const events: ResponseStreamEvent[] = [];
  for await (const event of await restOf(node, { id, events: [], isBackground: false })) events.push(event);
  return events;
}

/** The numbers have no gap, and exactly the last event is an end. */
export function faultsInLog(log: readonly ResponseStreamEvent[]): readonly string[] {
  const gap = log.findIndex(({ sequence_number: number }, index) => number !== index);
  const ends = log.flatMap(({ type }, index) => (ENDS.has(type) ? [index] : []));
  return [
    ...(gap === -1 ? [] : [`its log has event ${log[gap]?.sequence_number} in place ${gap}`]),
    ...(ends.length === 1 && ends[0] === log.length - 1 ? [] : [`its log of ${log.length} has ends at [${ends}]`]),
  ];
}

/** Everything that the client saw is in the log in its place; what a reader has to the end is all of it. */
export function faultsInView(view: View, log: readonly ResponseStreamEvent[]): readonly string[] {
  const lines = log.map((event) => JSON.stringify(event));
  const lost = view.events.findIndex((line, index) => line !== undefined && line !== lines[index]);
  const isShort = view.isOver && view.events.length !== log.length;
  return [
    ...(lost === -1 ? [] : [`event ${lost} was shown as ${view.events[lost]}, and is now ${lines[lost] ?? "gone"}`]),
    ...(isShort ? [`a reader had ${view.events.length} events to the end, the log has ${log.length}`] : []),
  ];
}

function faultsInEnd(stored: ResponseBody, log: readonly ResponseStreamEvent[]): readonly string[] {
  const last = log.at(-1);
  if (last === undefined || !("response" in last)) return ["its last event shows no response"];
  const isSame = stored.status === last.response.status && isDeepStrictEqual(stored.output, last.response.output);
  return isSame ? [] : [`it is stored as ${stored.status} and its log ends as ${last.response.status}`];
}

async function checkAnswer(answer: ResponseBody, node: OpenAI): Promise<readonly string[]> {
  try {
    const stored = await node.responses.retrieve(answer.id);
    const isSame = stored.status === answer.status && isDeepStrictEqual(stored.output, answer.output);
    return isSame ? [] : [`${answer.id} was ${answer.status} when it ended and is ${stored.status} now`];
  } catch (error) {
    return [`${answer.id}, which was ${answer.status}, cannot be read: ${String(error)}`];
  }
}

async function checkDeleted(id: string, node: OpenAI): Promise<readonly string[]> {
  try {
    const { status } = await node.responses.retrieve(id);
    return [`${id} was deleted and is there, ${status}`];
  } catch (error) {
    return statusOf(error) === 404 ? [] : [`${id} was deleted, and asking for it fails: ${String(error)}`];
  }
}

async function checkFile(id: string, text: string, node: OpenAI): Promise<readonly string[]> {
  try {
    const stored = await (await node.files.content(id)).text();
    return stored === text ? [] : [`${id} has ${stored.length} characters of ${text.length}`];
  } catch (error) {
    return [`${id} cannot be read: ${String(error)}`];
  }
}

async function checkTalk(talk: Talk, node: OpenAI): Promise<readonly string[]> {
  try {
    return faultsInTalk(talk, await itemsOf(node, talk.id)).map((fault) => `${talk.id}: ${fault}`);
  } catch (error) {
    return [`${talk.id} cannot be read: ${String(error)}`];
  }
}

/** A conversation holds once what was added, nothing that was refused, and each answer after its question. */
function faultsInTalk({ added, absent, answered }: Talk, items: readonly ConversationItem[]): readonly string[] {
  const names = items.map(nameIn);
  const timesIn = (name: string): number => names.filter((one) => one === name).length;
  const isAnswered = (name: string): boolean => names[names.indexOf(name) + 1] === null && names.includes(name);
  const said = [...new Set(names.filter((name) => name !== null))];
  return [
    ...[...added].flatMap((name) =>
      timesIn(name) === 1 ? [] : [`${name} was added, and is there ${timesIn(name)} times`],
    ),
    ...[...absent].flatMap((name) => (timesIn(name) === 0 ? [] : [`${name} was not added, and is there`])),
    ...said.flatMap((name) => (timesIn(name) === 1 ? [] : [`${name} is there ${timesIn(name)} times`])),
    ...[...answered].flatMap((name) => (isAnswered(name) ? [] : [`the answer to ${name} does not follow it`])),
  ];
}

/** No number was paid twice. A response that says that it paid did. */
function checkPayments({ payments, views }: Records, world: World): readonly string[] {
  return payments.flatMap((number) => {
    const paid = world.acted("pay", number);
    const final = views.find(({ kind, name }) => kind === "tools" && name === `say-${number}`)?.final;
    const calls = final?.output.filter((item) => item.type === "mcp_call" && item.name === "pay") ?? [];
    const told = calls.filter((call) => call.type === "mcp_call" && call.status === "completed").length;
    const isRight = paid <= 1 && told <= paid;
    return isRight ? [] : [`number ${number} was paid ${paid} times, and its response says ${told} times`];
  });
}

/** The model was shown what came before, each once. */
function checkContexts({ contexts }: Records, world: World): readonly string[] {
  return contexts.flatMap(({ name, before }) =>
    world.shown(name).flatMap((names) => {
      const missing = before.filter((one) => !names.includes(one));
      const isDoubled = new Set(names).size !== names.length;
      return [
        ...(missing.length === 0 ? [] : [`${name} was answered without ${missing}`]),
        ...(isDoubled ? [`${name} was answered with a doubled item among ${names}`] : []),
      ];
    }),
  );
}
