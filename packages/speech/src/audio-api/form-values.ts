import { jsonOrText } from "@antiphon/base/json/read-json.ts";
import { isRecord } from "@antiphon/base/json/records.ts";
import type { UploadedFile } from "@antiphon/contracts/audio/operations.ts";
import { partMissing, partNotListed, partOfOtherType, partOutOfRange, partTooLong, tooManyParts } from "./errors.ts";

/** A form, whose parts are texts, lists of texts, and files. An empty text counts as absent. */
export class FormValues {
  readonly #parts: Readonly<Record<string, unknown>>;

  constructor(form: unknown) {
    this.#parts = isRecord(form) ? form : {};
  }

  /** Throws an `ApiError` if there is not exactly one file of this name. The other methods throw one, too. */
  file(name: string): UploadedFile {
    const part = this.#parts[name];
    if (part === undefined || part === "") throw partMissing(name);
    if (isUpload(part)) return part;
    throw partOfOtherType(name, "a file", typeOf(part));
  }

  text(name: string, charactersMax: number): string | null {
    const part = this.#parts[name];
    const value = Array.isArray(part) && part.length === 1 ? part[0] : part;
    return value === undefined || value === null || value === "" ? null : checkedText(name, value, charactersMax);
  }

  /** The texts of a name that is sent once or repeated, with or without `[]`. */
  texts(name: string, limits: { readonly max: number; readonly charactersMax: number }): readonly string[] {
    const part = this.#parts[name] ?? [];
    const values: readonly unknown[] = (Array.isArray(part) ? part : [part]).filter((value) => value !== "");
    if (values.length > limits.max) throw tooManyParts(name, limits.max, values.length);
    return values.map((value) => checkedText(name, value, limits.charactersMax));
  }

  choice<Choice extends string>(name: string, choices: readonly Choice[]): Choice | null {
    const value = this.text(name, CHOICE_CHARACTERS_MAX);
    return value === null ? null : choiceAmong(name, value, choices);
  }

  /** A text or a number. */
  number(name: string, limits: { readonly min: number; readonly max: number }): number | null {
    const part = this.#parts[name];
    if (typeof part === "number") return numberWithin(name, String(part), limits);
    const value = this.text(name, CHOICE_CHARACTERS_MAX);
    return value === null ? null : numberWithin(name, value, limits);
  }

  flag(name: string): boolean {
    return this.choice(name, ["true", "false", "1", "0"])?.match(/true|1/) != null;
  }

  /** The members of `name[member]`, or of a JSON text; null if the part is another one. */
  members(name: string): FormValues | null {
    const part = this.#parts[name];
    if (isRecord(part)) return isUpload(part) ? null : new FormValues(part);
    const json = typeof part === "string" ? jsonOrText(part) : null;
    if (!isRecord(json)) return null;
    return new FormValues(Object.fromEntries(Object.entries(json).map(([member, value]) => [member, String(value)])));
  }
}

const CHOICE_CHARACTERS_MAX = 1024;
const NUMBER = /^-?\d{1,9}(?:\.\d{1,17})?$/;

function choiceAmong<Choice extends string>(name: string, value: string, choices: readonly Choice[]): Choice {
  const choice = choices.find((one) => one === value);
  if (choice === undefined) throw partNotListed(name, value, choices);
  return choice;
}

function numberWithin(
  name: string,
  text: string,
  { min, max }: { readonly min: number; readonly max: number },
): number {
  if (!NUMBER.test(text)) throw partOfOtherType(name, "a decimal", "a string");
  const value = Number(text);
  if (value < min) throw partOutOfRange(name, value, { min });
  if (value > max) throw partOutOfRange(name, value, { max });
  return value;
}

function checkedText(name: string, value: unknown, charactersMax: number): string {
  if (typeof value !== "string") throw partOfOtherType(name, "a string", typeOf(value));
  if (value.length > charactersMax) throw partTooLong(name, charactersMax, value.length);
  return value;
}

/** Transport makes an upload of every part that has a file name. */
function isUpload(part: unknown): part is UploadedFile {
  return isRecord(part) && typeof part["read"] === "function" && typeof part["size"] === "number";
}

function typeOf(value: unknown): string {
  if (Array.isArray(value)) return "an array";
  if (typeof value === "string") return "a string";
  return isUpload(value) ? "a file" : "an object";
}
