/** The store thread: opens databases and answers calls. */
import { isMainThread, parentPort } from "node:worker_threads";
import { assert, assertNever } from "@antiphon/base/assert.ts";
import { restoreLong } from "./long-texts.ts";
import {
  type CallAnswer,
  type CallRequest,
  type ListPiece,
  messageOfError,
  type OpenRequest,
  type SentRequest,
  type StoreRequest,
  type TextPiece,
} from "./messages.ts";
import { SqliteOwner } from "./sqlite-owner.ts";

assert(!isMainThread && parentPort !== null, "this module is the start of a thread");
const port = parentPort;
/** The open databases by the places of their stores. */
const owners = new Map<number, Promise<SqliteOwner>>();

let answers: CallAnswer<unknown>[] = [];

/** Sends all replies of a turn in one message, because a message costs more than a reply. */
function queueAnswer(next: CallAnswer<unknown>): void {
  if (answers.push(next) === 1) setImmediate(sendAnswers);
}

function sendAnswers(): void {
  if (answers.length === 0) return;
  port.postMessage(answers);
  answers = [];
}

async function settle(id: number, name: SentRequest["name"], work: Promise<unknown>): Promise<void> {
  queueAnswer(
    await work.then(
      (result): CallAnswer<unknown> => ({ id, ok: true, result }),
      (error: unknown): CallAnswer<unknown> => ({ id, ok: false, error: messageOfError(error) }),
    ),
  );
  if (name === "commit") sendAnswers(); // The reply has many callers and should not wait for the next commit.
}

function call(owner: SqliteOwner, { name, args }: CallRequest): Promise<unknown> {
  switch (name) {
    case "isSound":
      return owner.isSound(...args);
    case "query":
      return owner.query(...args);
    case "transact":
      return owner.transact(...args);
    case "commit":
      return owner.commit(...args);
    case "findTail":
      return owner.findTail(...args);
    case "workerNumber":
      return owner.workerNumber(...args);
    case "renewLease":
      return owner.renewLease(...args);
    case "findDeadWorkers":
      return owner.findDeadWorkers(...args);
    case "listUnmadeRuns":
      return owner.listUnmadeRuns(...args);
    case "claimRuns":
      return owner.claimRuns(...args);
    case "deleteExpired":
      return owner.deleteExpired(...args);
    case "eraseUnused":
      return owner.eraseUnused(...args);
    case "close":
      return owner.close(...args);
    default:
      return assertNever(name);
  }
}

async function open([options, own]: OpenRequest["args"]): Promise<null> {
  const owner = SqliteOwner.open(options, own);
  owners.set(own.place, owner);
  await owner.catch((error: unknown) => {
    owners.delete(own.place);
    throw error;
  });
  return null;
}

/** Values sent ahead of each store's next commit: complete texts, the pieces of the arriving text, and lists. */
interface Arriving {
  readonly texts: string[];
  readonly lists: unknown[][];
  pieces: string[];
}

const arriving = new Map<number, Arriving>();

function arrivingFor(store: number): Arriving {
  const entry = arriving.get(store) ?? { texts: [], lists: [], pieces: [] };
  arriving.set(store, entry);
  return entry;
}

function takePiece({ store, piece, isLast }: TextPiece): void {
  const ahead = arrivingFor(store);
  ahead.pieces.push(piece);
  if (!isLast) return;
  ahead.texts.push(ahead.pieces.join(""));
  ahead.pieces = [];
}

function takeElements({ store, elements, isFirst }: ListPiece): void {
  const { lists } = arrivingFor(store);
  if (isFirst) lists.push([]);
  lists.at(-1)?.push(...elements);
}

function putBack({ store, args }: CallRequest): void {
  const ahead = arriving.get(store);
  if (ahead === undefined) return;
  arriving.delete(store);
  restoreLong(args, ahead);
}

async function callStore(request: CallRequest): Promise<unknown> {
  const owner = owners.get(request.store);
  assert(owner !== undefined, "a store is opened before it is used");
  if (request.name === "commit") putBack(request);
  if (request.name === "close") owners.delete(request.store);
  return await call(await owner, request);
}

function receive(request: StoreRequest): void {
  if (request.name === "text") takePiece(request);
  else if (request.name === "list") takeElements(request);
  else void settle(request.id, request.name, request.name === "open" ? open(request.args) : callStore(request));
}

port.on("message", (requests: readonly StoreRequest[]) => {
  for (const request of requests) receive(request);
});
