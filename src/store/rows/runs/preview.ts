import type { OutputItem, StoredItem } from "../../../../generated/responses-api/types.ts";

/** The maximum characters of a text in lists. */
const PREVIEW_CHARACTERS = 200;
/** White space is collapsed within this many characters. */
const LOOKED_AT_CHARACTERS = 400;

/** The beginning of the last text among these items; empty if there is none. */
export function inputPreview(items: readonly StoredItem[]): string {
  for (let index = items.length - 1; index >= 0; index--) {
    const item = items[index];
    const text = item === undefined ? "" : itemText(item);
    if (text !== "") return previewText(text);
  }
  return "";
}

/** The beginning of an answer: its first text, otherwise its first call. */
export function outputPreview(items: readonly OutputItem[]): string {
  const texts = items.map((item) => (item.type === "message" ? itemText(item) : ""));
  return previewText(texts.find((text) => text !== "") ?? items.map(callText).find((text) => text !== "") ?? "");
}

function itemText(item: StoredItem | OutputItem): string {
  if ("content" in item && item.type === "message")
    return typeof item.content === "string" ? item.content : (item.content?.map(partText).find(isFull) ?? "");
  if ("output" in item && typeof item.output === "string") return item.output;
  return "";
}

function partText(part: object): string {
  if ("text" in part && typeof part.text === "string") return part.text;
  return "refusal" in part && typeof part.refusal === "string" ? part.refusal : "";
}

function isFull(text: string): boolean {
  return text !== "";
}

function callText(item: OutputItem): string {
  if (!("name" in item) || typeof item.name !== "string") return "";
  return `${item.name}(${"arguments" in item && typeof item.arguments === "string" ? item.arguments : ""})`;
}

function previewText(text: string): string {
  const start = text.slice(0, LOOKED_AT_CHARACTERS).replace(/\s+/g, " ").trim().slice(0, PREVIEW_CHARACTERS);
  return start.isWellFormed() ? start : start.toWellFormed();
}
