import type { Response } from "@antiphon/contracts/responses-api/types.ts";
import type { TurnInLedger } from "@antiphon/domain/tool-ledger.ts";
import { plainBody } from "../../src/responses-api/show/plain-body.ts";
import { storedEvents } from "../../src/responses-api/show/show-events.ts";
import { ResponseFold } from "../../src/runs/index.ts";
import type { Book } from "./book.ts";
import { type Client, OWNER } from "./client.ts";
import type { SharedDatabase } from "./database.ts";
import { type Deeds, FUNCTIONS, type Script, USAGE_BASE } from "./model.ts";
import type { Node } from "./node.ts";

export interface Finished {
  readonly book: Book;
  readonly database: SharedDatabase;
  readonly clients: readonly Client[];
  readonly scripts: ReadonlyMap<string, Script>;
  readonly deeds: ReadonlyMap<string, Deeds>;
  /** How often an answer was counted, by model. */
  readonly counted: ReadonlyMap<string, number>;
}

/** A stored response and its replay. */
interface StoredRun {
  readonly id: string;
  readonly model: string;
  readonly response: Response;
  readonly frames: readonly string[];
  readonly turns: readonly TurnInLedger[];
}

/** Checks everything that must hold once all runs are over. `node` is whole. */
export async function checkEnd(finished: Finished, node: Node): Promise<void> {
  const { book, database, clients } = finished;
  const rows = database.read("select id, model, status from responses order by number");
  const runs: StoredRun[] = [];
  for (const { id, model, status } of rows) {
    if (status === "queued" || status === "in_progress") {
      book.report("each run ends once", `${String(id)} of ${String(model)} is still ${status}`);
      continue;
    }
    const response = await node.store.responses.findResponse(OWNER, String(id));
    if (response === null) continue;
    const frames: string[] = [];
    for await (const text of storedEvents(node.store.events.read(String(id), -1)).texts)
      frames.push(...text.split("\n\n").slice(0, -1));
    const turns = await node.store.tools.turnsOf(OWNER, String(id));
    runs.push({ id: String(id), model: String(model), response, frames, turns });
  }
  for (const run of runs) checkRun(finished, run);
  for (const id of book.seenIds)
    if (!rows.some((row) => row["id"] === id))
      book.report("nothing visible is lost", `${id} was shown and is not stored`);
  for (const client of clients) checkClient(finished, client, runs);
}

function checkRun({ book, scripts, deeds }: Finished, run: StoredRun): void {
  const { id, response, frames } = run;
  const events = frames.map((frame) => JSON.parse(frame.slice(frame.indexOf("\ndata: ") + "\ndata: ".length)));
  for (const [place, event] of events.entries())
    if (event.sequence_number !== place)
      book.report("once and in order", `the replay of ${id} has ${event.sequence_number} at ${place}`);
  const ends = events.flatMap(({ type }, place) =>
    /^response\.(?:completed|failed|incomplete|cancelled)$/.test(type) ? [place] : [],
  );
  if (ends.length !== 1 || ends[0] !== events.length - 1)
    book.report("each run ends once", `${id} has its ends at ${JSON.stringify(ends)} of ${events.length} events`);
  for (const [number, frame] of book.framesOf(id))
    if (frames[number] !== frame)
      book.report(
        "nothing visible is lost",
        `event ${number} of ${id} was shown as\n${frame}\nand is stored as\n${frames[number]}`,
      );
  const body = JSON.stringify(plainBody(response));
  const shown = book.bodyOf(id);
  if (shown !== null && shown !== body)
    book.report("nothing visible is lost", `the end of ${id} was shown as\n${shown}\nand is stored as\n${body}`);
  const fold = new ResponseFold();
  for (const event of events) fold.apply(event);
  if (JSON.stringify(sorted(fold.response)) !== JSON.stringify(sorted(response)))
    book.report("end equals events", `${id}:\n${JSON.stringify(fold.response)}\n${JSON.stringify(response)}`);
  const script = scripts.get(run.model);
  const done = deeds.get(run.model);
  if (script === undefined || done === undefined) return;
  checkAnswer(book, run, script);
  checkEffects(book, run, done);
  checkUsage(book, run, done);
}

/** With the members of objects in one order. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, member]) => member !== undefined)
      .toSorted(([one], [other]) => (one < other ? -1 : 1))
      .map(([name, member]) => [name, sorted(member)]),
  );
}

/** A completed answer has all calls and all words. */
function checkAnswer(book: Book, { id, response }: StoredRun, { turns, words }: Script): void {
  if (response.status !== "completed") return;
  const texts = response.output.flatMap((item) =>
    item.type === "message" && item.status === "completed"
      ? [item.content.map((part) => ("text" in part ? part.text : "")).join("")]
      : [],
  );
  if (texts.at(-1) !== words.join(""))
    book.report("end equals events", `${id} completed with ${JSON.stringify(texts)}`);
  const calls = response.output.filter(({ type }) => type === "mcp_call").length;
  const planned = turns.reduce((sum, turn) => sum + turn.length, 0);
  if (calls < planned) book.report("end equals events", `${id} completed with ${calls} of ${planned} calls`);
}

function checkEffects(book: Book, { id, response }: StoredRun, { effects }: Deeds): void {
  for (const item of response.output) {
    if (item.type !== "mcp_call" || item.output == null || !item.output.startsWith("did ")) continue;
    const key = item.output.slice("did ".length);
    if ((effects.get(key) ?? 0) === 0) book.report("effects are told truly", `${id} says that ${key} was done`);
  }
}

/**
 * The digits of the sum of input tokens, one for each asking of the model. What is in the ledger is counted; an asking
 * whose node died before it could note its end may be.
 */
function checkUsage(book: Book, { id, response, turns }: StoredRun, { askedTurns }: Deeds): void {
  if (response.usage == null || response.status !== "completed") return;
  const noted = new Set(turns.flatMap(({ usage }) => digitsOf(usage.inputTokens, askedTurns.length).keys().toArray()));
  const counts = digitsOf(response.usage.input_tokens, askedTurns.length);
  for (const [asking, times] of counts)
    if (times > 1) book.report("usage counted once", `asking ${asking} of ${id} counts ${times} times`);
  for (const asking of noted)
    if (!counts.has(asking))
      book.report("usage counted once", `asking ${asking} of ${id} is not in ${response.usage.input_tokens}`);
}

/** How often each asking is in a sum of tokens, if it is. */
function digitsOf(tokens: number, askings: number): ReadonlyMap<number, number> {
  const digits = Array.from(
    { length: askings },
    (_, asking) => [asking, Math.floor(tokens / USAGE_BASE ** asking) % USAGE_BASE] as const,
  );
  return new Map(digits.filter(([, digit]) => digit > 0));
}

function checkClient({ book, deeds, counted }: Finished, client: Client, runs: readonly StoredRun[]): void {
  const { model, key, background } = client.intention;
  const own = runs.filter((run) => run.model === model);
  if (!client.isDone) book.report("clients get an end", `the client of ${model} still waits`);
  if (key !== null && (client.ids.size > 1 || own.length > 1))
    book.report(
      "one response for a key",
      `${model}: told ${[...client.ids].join(", ")}; stored ${own.map(({ id }) => id).join(", ")}`,
    );
  const count = counted.get(model) ?? 0;
  // What a model said is counted even if nothing of it was stored, so a foreground run may be counted and repeated.
  const countsMax = background ? own.length : client.creates;
  if (count > countsMax)
    book.report("usage counted once", `${model} was counted ${count} times for ${own.length} responses`);
  const doneEffects = deeds.get(model)?.effects ?? new Map<string, number>();
  for (const [name, times] of doneEffects) {
    const isRepeatable = Object.entries(FUNCTIONS).some(([one, effect]) => name.endsWith(one) && effect !== "may_have");
    if (key !== null && !isRepeatable && times > 1)
      book.report("effects at most once", `${name} of ${model} acted ${times} times`);
  }
}
