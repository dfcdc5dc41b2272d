import { assertNever } from "@antiphon/base/assert.ts";
import { Secret } from "./secret.ts";
import type { Setting } from "./setting.ts";

export type SettingValue = string | number | boolean | Secret | readonly Secret[] | readonly string[];

/** A value, or the rest of a sentence that begins with the setting's name. */
export type ReadValue = { readonly value: SettingValue } | { readonly problem: string };

const YES: ReadonlySet<string> = new Set(["true", "1", "yes", "on"]);
const NO: ReadonlySet<string> = new Set(["false", "0", "no", "off"]);

/** Parses the text of a setting. A problem repeats the text only if it cannot hold a secret. */
export function readValue(setting: Setting, text: string): ReadValue {
  switch (setting.kind) {
    case "string":
    case "path":
      return { value: text };
    case "integer":
      return readInteger(setting, text);
    case "duration":
      return readDuration(setting, text);
    case "boolean":
      return readBoolean(text);
    case "url":
      return readUrl(text);
    case "choice":
      if (setting.choices.includes(text)) return { value: text };
      return { problem: `is '${text}', which is none of ${setting.choices.join(", ")}` };
    case "list":
      return readList(setting, text);
    case "secret":
      return readSecret(text);
    case "secrets":
      return readSecrets(text);
    default:
      return assertNever(setting);
  }
}

function readInteger(setting: Extract<Setting, { kind: "integer" }>, text: string): ReadValue {
  if (setting.auto !== undefined && text === "auto") return { value: setting.auto() };
  const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= setting.min && value <= setting.max) return { value };
  const phrase = setting.auto === undefined ? "not a" : "neither auto nor a";
  return { problem: `is '${text}', which is ${phrase} whole number from ${setting.min} to ${setting.max}` };
}

/** Parses `90s`, `12h`, or a bare number of milliseconds. */
function readDuration(setting: Extract<Setting, { kind: "duration" }>, text: string): ReadValue {
  const [, count = "", unit = ""] = /^(\d{1,15})(ms|s|m|h|d)?$/.exec(text) ?? [];
  const value = count === "" ? Number.NaN : Number(count) * (UNITS_MS.get(unit) ?? 1);
  if (setting.needsUnit === true && unit === "" && value !== 0)
    return { problem: `is '${text}', which is neither 0 nor a whole number with its unit: ms, s, m, h or d` };
  if (value >= setting.min && value <= setting.max) return { value };
  return { problem: `is '${text}', which is not a whole number of milliseconds from ${setting.min} to ${setting.max}` };
}

/** Writes a duration in its largest whole unit, so that `readDuration` can parse it. */
export function durationText(ms: number): string {
  const unit = [...UNITS_MS].findLast(([, unitMs]) => ms >= unitMs && ms % unitMs === 0);
  return unit === undefined ? String(ms) : `${ms / unit[1]}${unit[0]}`;
}

const UNITS_MS: ReadonlyMap<string, number> = new Map([
  ["ms", 1],
  ["s", 1000],
  ["m", 60_000],
  ["h", 3_600_000],
  ["d", 86_400_000],
]);

function readBoolean(text: string): ReadValue {
  const word = text.toLowerCase();
  if (YES.has(word)) return { value: true };
  if (NO.has(word)) return { value: false };
  return { problem: `is '${text}', which is neither true nor false` };
}

function readList({ choices }: { readonly choices?: readonly string[] }, text: string): ReadValue {
  const values = text.split(",").map((value) => value.trim());
  if (values.includes("")) return { problem: `is '${text}', which has an empty element` };
  const strange = choices === undefined ? undefined : values.find((value) => !choices.includes(value));
  if (strange === undefined) return { value: values };
  return { problem: `has '${strange}', which is none of ${choices?.join(", ")}` };
}

/** The problem does not repeat the text, because a URL may contain a password. */
function readUrl(text: string): ReadValue {
  const protocol = URL.canParse(text) ? new URL(text).protocol : "";
  if (protocol === "http:" || protocol === "https:") return { value: text };
  return { problem: "is not an http or https URL" };
}

function readSecret(text: string): ReadValue {
  if (/^[\x21-\x7e]+$/.test(text)) return { value: new Secret(text) };
  return { problem: "contains a space or a character that cannot be sent in a header" };
}

function readSecrets(text: string): ReadValue {
  const secrets: Secret[] = [];
  for (const part of text.split(",")) {
    const read = readSecret(part.trim());
    if ("problem" in read) return { problem: "is not a list of keys separated by commas" };
    if (read.value instanceof Secret) secrets.push(read.value);
  }
  return { value: secrets };
}
