import { nearestWord } from "@antiphon/base/nearest-word.ts";
import { distance } from "fastest-levenshtein";
import { SETTINGS } from "../settings.ts";

/** Member of an environment: the names in `.env`, even if the environment overrides their values. */
export const FILE_NAMES = Symbol("names in .env");

/** An unused variable of the environment, and the setting that was probably meant. */
interface NearMiss {
  readonly variable: string;
  readonly setting: string;
}

const SETTING_NAMES: readonly string[] = Object.values(SETTINGS).map(({ name }) => name);
const KNOWN: ReadonlySet<string> = new Set(SETTING_NAMES);

/**
 * Variables for other programs that may be in `.env` too: for the system, Node, clients of this server, and Docker
 * Compose with the files of this project.
 */
const NAMES_OF_OTHERS: ReadonlySet<string> = new Set(
  (
    "ADDRESS ALL_PROXY CREDENTIALS_DIRECTORY FORCE_COLOR HOME HTTPS_PROXY HTTP_PROXY LANG NO_COLOR NO_PROXY PATH " +
    "S3_SECRET SERVER_FLAGS TMPDIR TZ"
  ).split(" "),
);
const PREFIXES_OF_OTHERS = /^(?:ANTIPHON|COMPOSE|DOCKER|LC|MALLOC|NODE|NPM_CONFIG|OPENAI|OTEL|POSTGRES|SSL_CERT|XDG)_/;

/** A sentence for each unknown name in `.env`. `others` are names that other files use. */
export function unknownNames(names: readonly string[], others: ReadonlySet<string>): readonly string[] {
  return names.flatMap((name) => {
    if (KNOWN.has(name) || others.has(name)) return [];
    if (nearMiss(name) === null && isOfOthers(name.toUpperCase())) return [];
    const setting = nearestWord(name, SETTING_NAMES);
    return [
      `${name} in .env is not a setting.${setting === null ? " --help lists them." : ` Did you mean ${setting}?`}`,
    ];
  });
}

/** Variables of the environment, without `.env`, whose names almost match a setting. */
export function nearMisses(
  environment: Readonly<Record<string, unknown>> & { readonly [FILE_NAMES]?: readonly string[] },
): readonly NearMiss[] {
  const inFile = new Set(environment[FILE_NAMES]);
  return Object.keys(environment).flatMap((variable) => {
    const setting = inFile.has(variable) || KNOWN.has(variable) ? null : nearMiss(variable);
    return setting === null ? [] : [{ variable, setting }];
  });
}

function isOfOthers(name: string): boolean {
  return NAMES_OF_OTHERS.has(name) || PREFIXES_OF_OTHERS.test(name);
}

/** Shorter names, such as HOME and HOST, are similar by chance. */
const COMPARED_CHARACTERS_MIN = 6;
const LONG_NAME_CHARACTERS = 10;
const COMPARED_CHARACTERS_MAX = 64;

/** The setting with the same name except for underscores, case, or one letter (two in a long name). */
function nearMiss(variable: string): string | null {
  if (variable.length < COMPARED_CHARACTERS_MIN || variable.length > COMPARED_CHARACTERS_MAX) return null;
  const letters = lettersOf(variable);
  const mistypedMax = variable.length < LONG_NAME_CHARACTERS ? 1 : 2;
  return SETTING_NAMES.find((name) => distance(letters, lettersOf(name)) <= mistypedMax) ?? null;
}

function lettersOf(name: string): string {
  return name.replaceAll("_", "").toUpperCase();
}
