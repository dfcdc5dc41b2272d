import { StoreSpoilt } from "@antiphon/domain/storage.ts";
import { RunLost, StoreBusy } from "../../../runs/ports/store-faults.ts";
import type { DatabaseCalls } from "../database-calls.ts";
import type { OwnWorkers } from "../workers/own-workers.ts";
import type { DatabaseOptions } from "./sqlite-owner.ts";

/** Opens the database of a store. */
export interface OpenRequest {
  /** Counts from 1. */
  readonly id: number;
  readonly name: "open";
  readonly args: readonly [DatabaseOptions, OwnWorkers];
}

/** One call of `DatabaseCalls` for the store at this place of `OwnWorkers`. */
export type CallRequest = {
  [Name in keyof DatabaseCalls]: {
    readonly id: number;
    readonly store: number;
    readonly name: Name;
    readonly args: Parameters<DatabaseCalls[Name]>;
  };
}[keyof DatabaseCalls];

/** A piece of a long text of this store's next commit. Not answered. */
export interface TextPiece {
  readonly store: number;
  readonly name: "text";
  readonly piece: string;
  /** Whether it completes the text. */
  readonly isLast: boolean;
}

/** A piece of a long list of this store's next commit. Not answered. */
export interface ListPiece {
  readonly store: number;
  readonly name: "list";
  readonly elements: readonly unknown[];
  readonly isFirst: boolean;
}

export type StoreRequest = OpenRequest | CallRequest | TextPiece | ListPiece;

/** A request before it is checked to be a `StoreRequest`. */
export interface SentRequest {
  readonly id: number;
  readonly store: number;
  readonly name: Exclude<StoreRequest["name"], "text" | "list">;
  readonly args: readonly unknown[];
}

/** The answer to the call with this id. */
export type CallAnswer<Result> =
  | { readonly id: number; readonly ok: true; readonly result: Result }
  | { readonly id: number; readonly ok: false; readonly error: ErrorMessage };

/** An error as plain data: copying an error between threads keeps its text but not its class. */
export interface ErrorMessage {
  readonly name: string;
  readonly message: string;
  readonly stack: string | undefined;
  /** SQLite's error code. */
  readonly errcode?: number;
}

export function messageOfError(error: unknown): ErrorMessage {
  if (!(error instanceof Error)) return { name: "Error", message: String(error), stack: undefined };
  const { name, message, stack } = error;
  const isOfSqlite = "errcode" in error && typeof error.errcode === "number";
  return { name, message, stack, ...(isOfSqlite ? { errcode: Number(error.errcode) } : {}) };
}

/** Recreates the error. Its stack is from the other thread. */
export function errorOf({ name, message, stack, errcode }: ErrorMessage): Error {
  const error = Object.assign(withClass(name, message), errcode === undefined ? {} : { errcode });
  if (stack !== undefined) error.stack = stack;
  return error;
}

function withClass(name: string, message: string): Error {
  switch (name) {
    case "StoreBusy":
      return new StoreBusy(message);
    case "StoreSpoilt":
      return new StoreSpoilt(message);
    case "RunLost":
      return new RunLost(message);
    default:
      return new Error(message);
  }
}
