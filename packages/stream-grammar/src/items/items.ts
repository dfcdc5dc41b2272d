import { isRecord } from "@antiphon/base/json/records.ts";
import { CONCURRENT_ITEMS, ITEM_GRAMMAR } from "../grammar.ts";
import { OrderChecker } from "../order-checker.ts";
import type { Note, Report } from "../rules.ts";
import { ItemContents } from "./item-contents.ts";
import { isSameJson } from "./same-json.ts";
import { filledPaths, quoteValue } from "./texts.ts";
import { indexOf, textOf } from "./values.ts";

type Members = Readonly<Record<string, unknown>>;

interface Item {
  readonly index: number;
  readonly addedItem: Members;
  readonly order: OrderChecker | null;
  readonly contents: ItemContents;
  /** The items that were open at the same time, including this one. */
  readonly group: Item[];
  doneItem: Members | null;
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
    return this.#items.find(({ index }) => index === outputIndex)?.addedItem["type"];
  }

  checkEnded(report: Report, note: Note): void {
    for (const item of this.#items) {
      const { index, addedItem, doneItem, group } = item;
      if (doneItem !== null) continue;
      if (!isDoneByGroup(item)) report("item-ends", `the ${textOf(addedItem["type"])} at ${index} is not done`);
      else if (group.find((other) => other.doneItem === null) === item)
        note("lists-done-once", `one of ${group.length} lists is done`);
    }
  }

  /** Compares the output of the last snapshot with the finished items. */
  checkOutput(output: unknown, report: Report): void {
    const outputItems: readonly unknown[] = Array.isArray(output) ? output : [];
    if (outputItems.length !== this.#items.length)
      report("final-output", `the output has ${outputItems.length} items, but events announced ${this.#items.length}`);
    for (const [place, { doneItem }] of this.#items.entries()) {
      if (doneItem !== null && place < outputItems.length && !isSameJson(outputItems[place], doneItem))
        report(
          "final-output",
          `the item at ${place} differs from its done event: ${difference(outputItems[place], doneItem)}`,
        );
    }
  }

  #add(event: Members, report: Report): void {
    const addedItem = isRecord(event["item"]) ? event["item"] : {};
    const type = textOf(addedItem["type"]);
    const due = (this.#items.at(-1)?.index ?? -1) + 1;
    if (event["output_index"] !== due)
      report("output-index", `'output_index' is ${quoteValue(event["output_index"])}, but should be ${due}`);
    const open = this.#items.filter((item) => item.doneItem === null && !item.wasLeftOpen);
    const concurrent = open.filter((item) => CONCURRENT_ITEMS.has(type) && item.addedItem["type"] === type);
    if (concurrent.length < open.length) this.#leaveOpen(open, report);
    this.#checkIds(addedItem, report);
    for (const path of filledPaths(addedItem)) report("added-empty", `'item.${path}' is not empty`);
    const grammar = ITEM_GRAMMAR.get(type);
    if (grammar === undefined) report("item-type", `'${type}' is not an item type`);
    const order = grammar === undefined ? null : new OrderChecker(grammar, "item-order");
    order?.take("output_item.added", report);
    const item: Item = {
      index: indexOf(event["output_index"]),
      addedItem,
      order,
      contents: new ItemContents(),
      group: concurrent[0]?.group ?? [],
      doneItem: null,
      wasLeftOpen: false,
    };
    item.group.push(item);
    this.#items.push(item);
  }

  /** Called when the next item is added before these are done. */
  #leaveOpen(items: readonly Item[], report: Report): void {
    const [wrong] = items.filter((item) => !isDoneByGroup(item));
    if (wrong !== undefined)
      report("one-item-at-a-time", `the ${textOf(wrong.addedItem["type"])} at ${wrong.index} is not done`);
    for (const item of items) if (isDoneByGroup(item)) item.wasLeftOpen = true;
  }

  #checkIds(addedItem: Members, report: Report): void {
    const { id, type, call_id: callId } = addedItem;
    const others = this.#items.map((item) => item.addedItem);
    if (id === undefined ? !MAY_LACK_ID.has(textOf(type)) : typeof id !== "string" || id === "")
      report("item-id", `'item.id' is ${quoteValue(id)}`);
    else if (id !== undefined && others.some((other) => other["id"] === id))
      report("item-id", `${quoteValue(id)} is the id of an earlier item`);
    if (!HAVE_CALL_ID.has(textOf(type))) return;
    if (typeof callId !== "string" || callId === "") report("call-id", `'item.call_id' is ${quoteValue(callId)}`);
    else if (others.some((other) => other["type"] === type && other["call_id"] === callId))
      report("call-id", `${quoteValue(callId)} is the id of an earlier call`);
  }

  #finish(event: Members, report: Report): void {
    const doneItem = isRecord(event["item"]) ? event["item"] : {};
    const item = this.#itemOf(doneItem["id"], event, report);
    if (item === null) return;
    item.order?.take(nameOfEnd(item.order, doneItem["status"]), report);
    if (item.wasLeftOpen) report("one-item-at-a-time", `the item at ${item.index} is done after the next was added`);
    item.doneItem ??= doneItem;
    if (doneItem["type"] !== item.addedItem["type"])
      report("done-item", `the type is ${quoteValue(doneItem["type"])}, but was ${quoteValue(item.addedItem["type"])}`);
    if (HAVE_CALL_ID.has(textOf(item.addedItem["type"])) && doneItem["call_id"] !== item.addedItem["call_id"])
      report(
        "call-id",
        `'item.call_id' is ${quoteValue(doneItem["call_id"])}, but was ${quoteValue(item.addedItem["call_id"])}`,
      );
    for (const [member, value] of Object.entries(item.addedItem)) {
      const isSettled = typeof value === "string" && value !== "" && !MAY_CHANGE.has(member);
      if (isSettled && doneItem[member] !== value)
        report("done-item", `'item.${member}' is ${quoteValue(doneItem[member])}, but was ${quoteValue(value)}`);
    }
    item.contents.checkDone(doneItem, report);
  }

  /** Finds the item of an event by its id, or else by its output index. */
  #itemOf(id: unknown, event: Members, report: Report): Item | null {
    const outputIndex = event["output_index"];
    const byId = id === undefined ? undefined : this.#items.findLast(({ addedItem }) => addedItem["id"] === id);
    const byPlace = this.#items.findLast(({ index }) => index === outputIndex);
    const item = byId ?? byPlace;
    if (item === undefined) {
      report("output-index", `no item was added at ${quoteValue(outputIndex)}`);
      return null;
    }
    if (item.index !== outputIndex)
      report("output-index", `'output_index' is ${quoteValue(outputIndex)}, but the item is at ${item.index}`);
    else if (id !== undefined && byId === undefined)
      report("item-id", `the id is ${quoteValue(id)}, but that of the item is ${quoteValue(item.addedItem["id"])}`);
    return item;
  }
}

/**
 * Whether the done event of another item covers this one. The reference often sends a single `output_item.done` for
 * lists of MCP tools that were open at the same time.
 */
function isDoneByGroup({ group }: Item): boolean {
  const open = group.filter(({ doneItem }) => doneItem === null);
  return open.length === group.length - 1 && open.every(({ order }) => order?.mayTake("output_item.done") === true);
}

/** The name of the done event in the grammar, which may distinguish some statuses. */
function nameOfEnd(order: OrderChecker, status: unknown): string {
  const early = `output_item.done<${textOf(status)}>`;
  return order.mayTake(early) ? early : "output_item.done";
}

/** Describes the first member that differs. */
function difference(outputItem: unknown, doneItem: Members): string {
  if (!isRecord(outputItem)) return quoteValue(outputItem);
  const members = new Set([...Object.keys(doneItem), ...Object.keys(outputItem)]);
  for (const member of members)
    if (
      !isSameJson(
        { type: outputItem["type"], [member]: outputItem[member] },
        { type: doneItem["type"], [member]: doneItem[member] },
      )
    )
      return `'${member}' is ${quoteValue(outputItem[member])}, but was ${quoteValue(doneItem[member])}`;
  return "its members differ";
}
