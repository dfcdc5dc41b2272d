import { flagOf } from "./command-line.ts";
import { COMMANDS } from "./commands.ts";
import { durationText } from "./read-value.ts";
import type { Section, Setting } from "./setting.ts";
import { SETTINGS } from "./settings.ts";

const COMMAND_CHARACTERS = 18;
const HELP_INDENT = " ".repeat(6);

/** The text of `--help`. */
export function helpText(): string {
  const sections = settingsBySection().map(
    ([section, settings]) => `${section}\n${settings.map((setting) => helpOf(setting)).join("\n")}`,
  );
  return `${introduction()}\n\n${sections.join("\n\n")}\n`;
}

function introduction(): string {
  const commands = Object.entries(COMMANDS).map(([name, text]) => `  ${name.padEnd(COMMAND_CHARACTERS)}${text}`);
  return [
    "Usage: antiphon [serve] [--setting value]...",
    "       antiphon COMMAND [--help]",
    "       antiphon --version",
    "",
    "Commands",
    ...commands,
    "",
    "Examples",
    "  antiphon",
    "      serves the models of a running Ollama, otherwise a built-in engine for trying the API",
    "  antiphon --model-base-url http://127.0.0.1:8000/v1",
    "      serves the models of any OpenAI-compatible server",
    "  antiphon doctor http://127.0.0.1:8000/v1",
    "      tests what that server can do",
    "",
    "Each setting below is a flag, an environment variable or a line of .env; a flag wins over the environment, and the environment over .env.",
  ].join("\n");
}

/** `.env.example`: every setting, commented out, with its default. */
export function envExample(): string {
  const sections = settingsBySection().map(([section, settings]) => {
    const entries = settings.map((setting) => `# ${factsOf(setting)}\n#${setting.name}=${writtenDefault(setting)}`);
    return `# ---- ${section}\n\n${entries.join("\n\n")}`;
  });
  return `# Copy to .env and uncomment what you change. The environment overrides this file.\n\n${sections.join("\n\n")}\n`;
}

/** The table of docs/configuration.md, in Markdown. */
export function settingsTable(): string {
  const rows = settingsBySection().flatMap(([section, settings]) => [
    `| **${section}** | | |`,
    ...settings.map(
      (setting) => `| \`${setting.name}\` | ${tableDefault(setting)} | ${setting.text}${choicesOf(setting)} |`,
    ),
  ]);
  return `| Setting | Default | |\n|---|---|---|\n${rows.join("\n")}\n`;
}

function settingsBySection(): [Section, Setting[]][] {
  return [...Map.groupBy(Object.values<Setting>(SETTINGS), ({ section }) => section)];
}

function helpOf(setting: Setting): string {
  const flag = flagOf(setting);
  const names = flag === null ? setting.name : `--${flag}, ${setting.name}`;
  return `  ${names}\n${HELP_INDENT}${factsOf(setting)}`;
}

function factsOf(setting: Setting): string {
  const defaultText = setting.defaultText ?? writtenDefault(setting);
  return `${setting.text}${choicesOf(setting)}${defaultText === "" ? "" : ` Default: ${defaultText}.`}`;
}

function choicesOf(setting: Setting): string {
  if (setting.kind === "list" && setting.choices !== undefined) return ` Values: ${setting.choices.join(", ")}.`;
  return setting.kind === "choice" ? ` One of ${setting.choices.join(", ")}.` : "";
}

function tableDefault(setting: Setting): string {
  if (setting.defaultText !== undefined) return setting.defaultText;
  const defaultText = writtenDefault(setting);
  return defaultText === "" ? "" : `\`${defaultText}\``;
}

function writtenDefault(setting: Setting): string {
  if (setting.default === null || setting.kind === "secrets") return "";
  return setting.kind === "duration" && setting.needsUnit === true
    ? durationText(setting.default)
    : String(setting.default);
}
