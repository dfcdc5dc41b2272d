import { isRecord } from "../../base/json/records.ts";
import { CONCURRENT_ITEMS, ITEM_GRAMMAR } from "../grammar.ts";
import { OrderChecker } from "../order-checker.ts";
import type { Note, Report } from "../rules.ts";
import { ItemContents } from "./item-contents.ts";
import { isSameJson } from "./same-json.ts";
import { filledPaths, quoted } from "./texts.ts";
import { indexOf, textOf } from "./values.ts";

type Members = Readonly<Record<string, unknown>>;

interface Item {
  readonly index: number;
  readonly added: Members;
  readonly order: OrderChecker | null;
  readonly contents: ItemContents;
  /** The items that were open at the same time, including this one. */
  readonly group: Item[];
  done: Members | null;
  /** Whether the next item was added before this one was done, which only a group allows. */
  wasLeftOpen: boolean;
}

/** Official clients require a call id of these items that does not change. */
const HAVE_CALL_ID: ReadonlySet<string> = new Set([
  "function_call",
  "custom_tool_call",
  "shell_call",
  "shell_call_output",
]);
/** Official clients allow these items to lack an id. */
const MAY_LACK_ID: ReadonlySet<string> = new Set(["function_call", "custom_tool_call"]);
/** Members that may change while an item is in progress, or each time it is shown. */
const MAY_CHANGE: ReadonlySet<string> = new Set([
  "id",
  "type",
  "status",
  "call_id",
  "encrypted_content",
  "fingerprint",
]);

/** Checks the items of a response by their events. */
export class Items {
  readonly #items: Item[] = [];

  /** Takes an event that has an output index. */
  take(name: string, event: Members, report: Report): void {
    if (name === "output_item.added") this.#add(event, report);
    else if (name === "output_item.done") this.#finish(event, report);
    else {
      const item = this.#itemOf(event["item_id"], event, report);
      if (item === null) return;
      const part = isRecord(event["part"]) ? event["part"]["type"] : undefined;
      item.order?.take(name.startsWith("content_part.") ? `${name}<${textOf(part)}>` : name, report);
      item.contents.take(name, event, report);
    }
  }

  /** The type that the item at an output index had when it was added. */
  typeAt(outputIndex: unknown): unknown {
    return this.#items.find(({ index }) => index === outputIndex)?.added["type"];
  }

  checkEnded(report: Report, note: Note): void {
    for (const item of this.#items) {
      const { index, added, done, group } = item;
      if (done !== null) continue;
      if (!isDoneByGroup(item)) report("item-ends", `the ${textOf(added["type"])} at ${index} is not done`);
      else if (group.find((other) => other.done === null) === item)
        note("lists-done-once", `one of ${group.length} lists is done`);
    }
  }

  /** Compares the output of the last snapshot with the finished items. */
  checkOutput(output: unknown, report: Report): void {
    const shown: readonly unknown[] = Array.isArray(output) ? output : [];
    if (shown.length !== this.#items.length)
      report("final-output", `the output has ${shown.length} items, but events announced ${this.#items.length}`);
    for (const [place, { done }] of this.#items.entries()) {
      if (done !== null && place < shown.length && !isSameJson(shown[place], done))
        report("final-output", `the item at ${place} differs from its done event: ${difference(shown[place], done)}`);
    }
  }

  #add(event: Members, report: Report): void {
    const added = isRecord(event["item"]) ? event["item"] : {};
    const type = textOf(added["type"]);
    const due = (this.#items.at(-1)?.index ?? -1) + 1;
    if (event["output_index"] !== due)
      report("output-index", `'output_index' is ${quoted(event["output_index"])}, but should be ${due}`);
    const open = this.#items.filter((item) => item.done === null && !item.wasLeftOpen);
    const concurrent = open.filter((item) => CONCURRENT_ITEMS.has(type) && item.added["type"] === type);
    if (concurrent.length < open.length) this.#leaveOpen(open, report);
    this.#checkIds(added, report);
    for (const path of filledPaths(added)) report("added-empty", `'item.${path}' is not empty`);
    const grammar = ITEM_GRAMMAR.get(type);
    if (grammar === undefined) report("item-type", `'${type}' is not an item type`);
    const order = grammar === undefined ? null : new OrderChecker(grammar, "item-order");
    order?.take("output_item.added", report);
    const item: Item = {
      index: indexOf(event["output_index"]),
      added,
      order,
      contents: new ItemContents(),
      group: concurrent[0]?.group ?? [],
      done: null,
      wasLeftOpen: false,
    };
    item.group.push(item);
    this.#items.push(item);
  }

  /** Called when the next item is added before these are done. */
  #leaveOpen(items: readonly Item[], report: Report): void {
    const [wrong] = items.filter((item) => !isDoneByGroup(item));
    if (wrong !== undefined)
      report("one-item-at-a-time", `the ${textOf(wrong.added["type"])} at ${wrong.index} is not done`);
    for (const item of items) if (isDoneByGroup(item)) item.wasLeftOpen = true;
  }

  #checkIds(added: Members, report: Report): void {
    const { id, type, call_id: callId } = added;
    const others = this.#items.map((item) => item.added);
    if (id === undefined ? !MAY_LACK_ID.has(textOf(type)) : typeof id !== "string" || id === "")
      report("item-id", `'item.id' is ${quoted(id)}`);
    else if (id !== undefined && others.some((other) => other["id"] === id))
      report("item-id", `${quoted(id)} is the id of an earlier item`);
    if (!HAVE_CALL_ID.has(textOf(type))) return;
    if (typeof callId !== "string" || callId === "") report("call-id", `'item.call_id' is ${quoted(callId)}`);
    else if (others.some((other) => other["type"] === type && other["call_id"] === callId))
      report("call-id", `${quoted(callId)} is the id of an earlier call`);
  }

  #finish(event: Members, report: Report): void {
    const done = isRecord(event["item"]) ? event["item"] : {};
    const item = this.#itemOf(done["id"], event, report);
    if (item === null) return;
    item.order?.take(nameOfEnd(item.order, done["status"]), report);
    if (item.wasLeftOpen) report("one-item-at-a-time", `the item at ${item.index} is done after the next was added`);
    item.done ??= done;
    if (done["type"] !== item.added["type"])
      report("done-item", `the type is ${quoted(done["type"])}, but was ${quoted(item.added["type"])}`);
    if (HAVE_CALL_ID.has(textOf(item.added["type"])) && done["call_id"] !== item.added["call_id"])
      report("call-id", `'item.call_id' is ${quoted(done["call_id"])}, but was ${quoted(item.added["call_id"])}`);
    for (const [member, value] of Object.entries(item.added)) {
      const isSettled = typeof value === "string" && value !== "" && !MAY_CHANGE.has(member);
      if (isSettled && done[member] !== value)
        report("done-item", `'item.${member}' is ${quoted(done[member])}, but was ${quoted(value)}`);
    }
    item.contents.checkDone(done, report);
  }

  /** Finds the item of an event by its id, or else by its output index. */
  #itemOf(id: unknown, event: Members, report: Report): Item | null {
    const outputIndex = event["output_index"];
    const byId = id === undefined ? undefined : this.#items.findLast(({ added }) => added["id"] === id);
    const byPlace = this.#items.findLast(({ index }) => index === outputIndex);
    const item = byId ?? byPlace;
    if (item === undefined) {
      report("output-index", `no item was added at ${quoted(outputIndex)}`);
      return null;
    }
    if (item.index !== outputIndex)
      report("output-index", `'output_index' is ${quoted(outputIndex)}, but the item is at ${item.index}`);
    else if (id !== undefined && byId === undefined)
      report("item-id", `the id is ${quoted(id)}, but that of the item is ${quoted(item.added["id"])}`);
    return item;
  }
}

/**
 * Whether the done event of another item covers this one. The reference often sends a single `output_item.done` for
 * lists of MCP tools that were open at the same time.
 */
function isDoneByGroup({ group }: Item): boolean {
  const open = group.filter(({ done }) => done === null);
  return open.length === group.length - 1 && open.every(({ order }) => order?.mayTake("output_item.done") === true);
}

/** The name of the done event in the grammar, which may distinguish some statuses. */
function nameOfEnd(order: OrderChecker, status: unknown): string {
  const early = `output_item.done<${textOf(status)}>`;
  return order.mayTake(early) ? early : "output_item.done";
}

/** Describes the first member that differs. */
function difference(shown: unknown, done: Members): string {
  if (!isRecord(shown)) return quoted(shown);
  const members = new Set([...Object.keys(done), ...Object.keys(shown)]);
  for (const member of members)
    if (!isSameJson({ type: shown["type"], [member]: shown[member] }, { type: done["type"], [member]: done[member] }))
      return `'${member}' is ${quoted(shown[member])}, but was ${quoted(done[member])}`;
  return "its members differ";
}
