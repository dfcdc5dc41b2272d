import { assertNever } from "../base/assert.ts";
import { Secret } from "./secret.ts";
import type { Setting } from "./setting.ts";

export type SettingValue = string | number | boolean | Secret | readonly Secret[];

/** A value, or the end of a sentence that begins with the setting's name. */
export type ReadValue = { readonly value: SettingValue } | { readonly problem: string };

const YES: ReadonlySet<string> = new Set(["true", "1", "yes", "on"]);
const NO: ReadonlySet<string> = new Set(["false", "0", "no", "off"]);

/** Reads what was written for a setting. A problem repeats the text only where the text cannot hold a secret. */
export function readValue(setting: Setting, text: string): ReadValue {
  switch (setting.kind) {
    case "string":
    case "path":
      return { value: text };
    case "integer":
      return readInteger(setting, text, "");
    case "duration":
      return readInteger(setting, text, " of milliseconds");
    case "boolean":
      return readBoolean(text);
    case "url":
      return readUrl(text);
    case "choice":
      if (setting.choices.includes(text)) return { value: text };
      return { problem: `is '${text}', which is none of ${setting.choices.join(", ")}` };
    case "secret":
      return readSecret(text);
    case "secrets":
      return readSecrets(text);
    default:
      return assertNever(setting);
  }
}

function readInteger(setting: { readonly min: number; readonly max: number }, text: string, unit: string): ReadValue {
  const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= setting.min && value <= setting.max) return { value };
  return { problem: `is '${text}', which is no whole number${unit} from ${setting.min} to ${setting.max}` };
}

function readBoolean(text: string): ReadValue {
  const word = text.toLowerCase();
  if (YES.has(word)) return { value: true };
  if (NO.has(word)) return { value: false };
  return { problem: `is '${text}', which is neither true nor false` };
}

/** The text is not repeated: a URL may carry a password. */
function readUrl(text: string): ReadValue {
  const protocol = URL.canParse(text) ? new URL(text).protocol : "";
  if (protocol === "http:" || protocol === "https:") return { value: text };
  return { problem: "is no http or https URL" };
}

function readSecret(text: string): ReadValue {
  if (/^[\x21-\x7e]+$/.test(text)) return { value: new Secret(text) };
  return { problem: "holds a space or a character that cannot be sent in a header" };
}

function readSecrets(text: string): ReadValue {
  const secrets: Secret[] = [];
  for (const part of text.split(",")) {
    const read = readSecret(part.trim());
    if ("problem" in read) return { problem: "is no list of keys separated by commas" };
    if (read.value instanceof Secret) secrets.push(read.value);
  }
  return { value: secrets };
}
