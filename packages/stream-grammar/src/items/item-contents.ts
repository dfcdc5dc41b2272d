import { isRecord } from "@antiphon/base/json/records.ts";
import type { Report, RuleName } from "../rules.ts";
import { isSameJson } from "./same-json.ts";
import { familyOf, quoteValue, type TextFamily, valueAt } from "./texts.ts";
import { indexOf, textOf } from "./values.ts";

type Members = Readonly<Record<string, unknown>>;

/** The contents of one item according to its events: parts, summary parts, commands and their texts. */
export class ItemContents {
  readonly #texts = new Map<string, Text>();
  readonly #annotations = new Map<number, unknown[]>();
  readonly #counts = { content: 0, summary: 0, command: 0, output: 0, image: 0 };

  /** Takes an event about the item's contents. */
  take(name: string, event: Members, report: Report): void {
    this.#checkPlace(name, event, report);
    const family = familyOf(name);
    if (family !== null) this.#takeText(family, name, event, report);
    else if (name === "output_text.annotation.added") this.#addAnnotation(event, report);
    else if (name === "content_part.done") this.#checkPart("content", event, report);
    else if (name === "reasoning_summary_part.done") this.#checkPart("summary", event, report);
    else if (name.endsWith("_part.added")) checkEmptyPart(event["part"], report);
    else if (name.startsWith("shell_call_output_content.")) this.#takeOutput(name, event, report);
  }

  /** Compares the finished item with the contents that its events gave. */
  checkDone(item: Members, report: Report): void {
    if (isUnfinishedCall(item)) return;
    for (const [path, { sum, whole }] of this.#texts) {
      const value = valueAt(item, path);
      if (typeof value !== "string" && path.startsWith("output.")) continue;
      if (value !== (whole ?? sum))
        report("done-item", `${path} is ${quoteValue(value)}, but its events gave ${quoteValue(whole ?? sum)}`);
    }
    for (const [path, count] of this.#countedPaths(item)) {
      const value = valueAt(item, path);
      const length = Array.isArray(value) ? value.length : 0;
      if (length !== count) report("done-item", `${path} has ${length} elements, but its events gave ${count}`);
    }
    for (const [index, annotations] of this.#annotations) {
      if (!isSameJson(valueAt(item, `content.${index}.annotations`), annotations))
        report("done-item", `content.${index}.annotations differ from those that were added`);
    }
    if (item["type"] !== "message") return;
    for (let index = 0; index < this.#counts.content; index++) this.#checkUnannotated(item, index, report);
  }

  #checkUnannotated(item: Members, index: number, report: Report): void {
    const value = valueAt(item, `content.${index}.annotations`);
    if (Array.isArray(value) && value.length > 0 && !this.#annotations.has(index))
      report("done-item", `content.${index}.annotations were never added`);
  }

  #countedPaths(item: Members): readonly (readonly [string, number])[] {
    switch (item["type"]) {
      case "message":
        return [["content", this.#counts.content]];
      case "reasoning":
        return [
          ["content", this.#counts.content],
          ["summary", this.#counts.summary],
        ];
      case "shell_call":
        return this.#counts.command === 0 ? [] : [["action.commands", this.#counts.command]];
      default:
        return [];
    }
  }

  #checkPlace(name: string, event: Members, report: Report): void {
    if (name.startsWith("shell_call_output_content.")) {
      checkIndex({ rule: "command-index", member: "command_index", due: this.#counts.output }, event, report);
      return;
    }
    for (const { member, rule, unit, opener } of PLACES) {
      if (!Object.hasOwn(event, member)) continue;
      const isOpener = name === opener;
      const due = isOpener ? this.#counts[unit]++ : this.#counts[unit] - 1;
      checkIndex({ rule, member, due }, event, report);
    }
  }

  #takeText(family: TextFamily, name: string, event: Members, report: Report): void {
    const text = this.#textAt(family, event);
    if (name.endsWith(".delta")) text.sum += textOf(event["delta"]);
    else if (name.endsWith(".done")) {
      text.whole = textOf(event[family.whole]);
      if (text.whole !== text.sum)
        report(
          "deltas-add-up",
          `'${family.whole}' is ${quoteValue(text.whole)}, and the deltas are ${quoteValue(text.sum)}`,
        );
      this.#checkLogprobs(text, event, report);
    } else if (event[family.whole] !== "")
      report("added-empty", `'${family.whole}' is ${quoteValue(event[family.whole])}`);
    if (name.endsWith(".delta") && Array.isArray(event["logprobs"])) text.logprobs.push(...event["logprobs"]);
  }

  #checkLogprobs(text: Text, event: Members, report: Report): void {
    if (Array.isArray(event["logprobs"]) && !isSameJson(event["logprobs"], text.logprobs))
      report("deltas-add-up", "'logprobs' differ from those of the deltas");
  }

  #textAt({ path }: TextFamily, event: Members): Text {
    const index = event["content_index"] ?? event["summary_index"] ?? event["command_index"];
    const key = path.replace("#", String(indexOf(index)));
    const text = this.#texts.get(key) ?? { sum: "", whole: null, logprobs: [] };
    this.#texts.set(key, text);
    return text;
  }

  #addAnnotation(event: Members, report: Report): void {
    const content = indexOf(event["content_index"]);
    const annotations = this.#annotations.get(content) ?? [];
    this.#annotations.set(content, annotations);
    checkIndex({ rule: "annotation-index", member: "annotation_index", due: annotations.length }, event, report);
    annotations.push(event["annotation"]);
  }

  #checkPart(list: "content" | "summary", event: Members, report: Report): void {
    const { part } = event;
    const index = indexOf(event[`${list}_index`]);
    for (const member of ["text", "refusal"]) {
      const text = this.#texts.get(`${list}.${index}.${member}`);
      const value = valueAt(part, member);
      if (text !== undefined && value !== (text.whole ?? text.sum))
        report(
          "done-part",
          `'part.${member}' is ${quoteValue(value)}, but its events gave ${quoteValue(text.whole ?? text.sum)}`,
        );
    }
    const annotations = valueAt(part, "annotations");
    if (Array.isArray(annotations) && !isSameJson(annotations, this.#annotations.get(index) ?? []))
      report("done-part", "'part.annotations' differ from those that were added");
  }

  /** The output of a command: each delta has two texts, and the done event has them in the first element of a list. */
  #takeOutput(name: string, event: Members, report: Report): void {
    for (const stream of ["stdout", "stderr"]) {
      const text = this.#textAt({ name: "", whole: stream, path: `output.#.${stream}` }, event);
      const delta = valueAt(event, `delta.${stream}`);
      if (name.endsWith(".delta")) text.sum += textOf(delta);
      else {
        text.whole = textOf(valueAt(event, `output.0.${stream}`));
        if (text.whole !== text.sum)
          report(
            "deltas-add-up",
            `'${stream}' is ${quoteValue(text.whole)}, and the deltas are ${quoteValue(text.sum)}`,
          );
      }
    }
    if (name.endsWith(".done")) this.#counts.output++;
  }
}

/** A client call may be empty if it is incomplete. */
function isUnfinishedCall({ type, status }: Members): boolean {
  return (
    (type === "shell_call" && status === "incomplete") || (type === "apply_patch_call" && status === "in_progress")
  );
}

interface Text {
  sum: string;
  whole: string | null;
  readonly logprobs: unknown[];
}

interface Place {
  readonly member: string;
  readonly rule: RuleName;
  readonly unit: "content" | "summary" | "command" | "image";
  /** The event that begins the next index. All others repeat the latest index. */
  readonly opener: string;
}

const PLACES: readonly Place[] = [
  { member: "content_index", rule: "content-index", unit: "content", opener: "content_part.added" },
  { member: "summary_index", rule: "summary-index", unit: "summary", opener: "reasoning_summary_part.added" },
  { member: "command_index", rule: "command-index", unit: "command", opener: "shell_call_command.added" },
  {
    member: "partial_image_index",
    rule: "partial-image-index",
    unit: "image",
    opener: "image_generation_call.partial_image",
  },
];

function checkIndex(
  { rule, member, due }: { readonly rule: RuleName; readonly member: string; readonly due: number },
  event: Members,
  report: Report,
): void {
  if (event[member] !== due)
    report(rule, `'${member}' is ${quoteValue(event[member])}, but should be ${Math.max(due, 0)}`);
}

function checkEmptyPart(part: unknown, report: Report): void {
  if (!isRecord(part)) return;
  for (const member of ["text", "refusal", "annotations"]) {
    const value = part[member];
    if ((typeof value === "string" || Array.isArray(value)) && value.length > 0)
      report("added-empty", `'part.${member}' is ${quoteValue(value)}`);
  }
}
