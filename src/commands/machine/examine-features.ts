import { existsSync, globSync } from "node:fs";
import { join, resolve } from "node:path";
import { findProgram, installCommand } from "@antiphon/programs/find-program.ts";
import { modelFileName } from "@antiphon/speech/recognition/whisper/model/known-models.ts";
import { packageModelsFolder } from "@antiphon/speech/recognition/whisper/process/build-server.ts";
import type { Config } from "../../config/load-config.ts";
import { searchByMeaning } from "../../servers/choices/choose-embedder.ts";
import { engineFolder } from "../../servers/choices/choose-speech.ts";
import { findSearchProvider } from "../../servers/choices/choose-web-search.ts";
import type { CodePlace } from "../../servers/choices/code/choose-code.ts";
import { type MachineLine, worksLine } from "./machine-line.ts";

/** The package that most of what analysts write begins with. */
const FIRST_OF_ANALYSTS = "pandas";
/** The start has a line of its own about it. */
export const FILE_SEARCH = "file search";
const COMPILERS = ["c++", "g++", "clang++"];
const MAKERS = ["make", "gmake", "ninja"];

/** What of speech, media, code and search this machine can do. Looks only at this machine, and never rejects. */
export async function examineFeatures(config: Config, code: CodePlace): Promise<readonly MachineLine[]> {
  return [
    hearing(config),
    spokenAnswers(config),
    compressedSound(config),
    codeRuns(config, code),
    ...analystPackages(config, code),
    await webSearch(config),
    fileSearch(config),
    pictures(config),
  ];
}

function hearing(config: Config): MachineLine {
  const part = "speech to text";
  if (config.speechEngine === "none")
    return { part, state: "off", text: "SPEECH_ENGINE is none", cure: "SPEECH_ENGINE=whisper" };
  const lacks = engineLacks(config);
  if (lacks.length > 0)
    return {
      part,
      state: "reduced",
      text: `nothing is heard: the speech engine has to be built once, without ${lacks.join(" and ")} here`,
      cure: installCommand({
        apt: "cmake make g++",
        dnf: "cmake make gcc-c++",
        pacman: "cmake make gcc",
        brew: "cmake",
      }),
    };
  const places = [config.whisperModelsDir, packageModelsFolder()];
  const models = places.map((folder) => join(folder, modelFileName(config.whisperModel)));
  const model = [config.whisperModelPath ?? models].flat().find((path) => existsSync(path));
  if (model !== undefined) return worksLine(part, `whisper.cpp with ${model}`);
  if (config.whisperModelPath === null && config.whisperDownload)
    return worksLine(part, `whisper.cpp; the model ${config.whisperModel} is downloaded by the server`);
  return {
    part,
    state: "reduced",
    text: `nothing is heard: there is no model at ${config.whisperModelPath ?? models[0]}`,
    cure: "WHISPER_DOWNLOAD=true",
  };
}

/** What is missing for the engine, which may be built already. */
function engineLacks(config: Config): readonly string[] {
  const { whisperServerPath: path } = config;
  if (path !== null) return findProgram(resolve(path)) === null ? [`WHISPER_SERVER_PATH (${path})`] : [];
  if (globSync("*/whisper-server", { cwd: engineFolder(config) }).length > 0) return [];
  const finds = (programs: readonly string[]): boolean => programs.some((program) => findProgram(program) !== null);
  return [
    ...(finds(["cmake"]) ? [] : ["cmake"]),
    ...(finds(COMPILERS) ? [] : ["a C++ compiler"]),
    ...(finds(MAKERS) ? [] : ["make"]),
  ];
}

function spokenAnswers({ voiceBaseUrl, espeakPath }: Config): MachineLine {
  const part = "spoken answers";
  if (voiceBaseUrl !== null) return worksLine(part, `by the speech server at ${new URL(voiceBaseUrl).origin}`);
  const program = findProgram(espeakPath ?? "espeak-ng");
  if (program !== null) return worksLine(part, `by ${program}`);
  const cure = espeakPath === null ? installCommand({ apt: "espeak-ng" }) : "ESPEAK_PATH";
  return { part, state: "reduced", text: "nothing is spoken without espeak-ng", cure };
}

function compressedSound({ ffmpegPath }: Config): MachineLine {
  const part = "mp3 and m4a";
  const program = findProgram(ffmpegPath ?? "ffmpeg");
  if (program !== null) return worksLine(part, `by ${program}`);
  const cure = ffmpegPath === null ? installCommand({ apt: "ffmpeg" }) : "FFMPEG_PATH";
  return { part, state: "reduced", text: "without ffmpeg, sound is heard and spoken only as WAV, FLAC and Opus", cure };
}

function codeRuns({ codeEngine }: Config, { place, why, abilities }: CodePlace): MachineLine {
  const part = "code";
  if (codeEngine === "off") return { part, state: "off", text: "CODE_ENGINE is off", cure: "CODE_ENGINE=auto" };
  if (abilities === null)
    return { part, state: "reduced", text: `no code runs: ${withoutStop(why ?? "")}`, cure: bubblewrap() };
  const text = `${place}, Python ${abilities.python}`;
  if (abilities.hasShell || codeEngine !== "auto") return worksLine(part, text);
  return {
    part,
    state: "reduced",
    text: `${text}; a shell and programs need bubblewrap and python3`,
    cure: bubblewrap(),
  };
}

function bubblewrap(): string {
  return installCommand({ apt: "bubblewrap python3", pacman: "bubblewrap python" });
}

function analystPackages({ codePython }: Config, { abilities }: CodePlace): readonly MachineLine[] {
  if (abilities === null || abilities.engine === "docker") return [];
  const part = "Python packages";
  if (abilities.packages.includes(FIRST_OF_ANALYSTS))
    return [worksLine(part, `${abilities.packages.length}, ${FIRST_OF_ANALYSTS} among them`)];
  const cure =
    codePython === null ? `antiphon code setup${abilities.engine === "pyodide" ? " --pyodide" : ""}` : "CODE_PYTHON";
  const text = `code has no ${FIRST_OF_ANALYSTS}, numpy or matplotlib`;
  // There is no pandas for Pyodide in the index, so a prepared one is as good as it gets.
  if (abilities.engine === "pyodide" && abilities.packages.length > 0) return [worksLine(part, text)];
  return [{ part, state: "reduced", text, cure }];
}

async function webSearch(config: Config): Promise<MachineLine> {
  const part = "web search";
  const { webSearchProvider: provider } = config;
  if (provider === "none")
    return { part, state: "off", text: "WEB_SEARCH_PROVIDER is none", cure: "WEB_SEARCH_PROVIDER=auto" };
  try {
    const search = await findSearchProvider(config);
    if (search !== null) return worksLine(part, `by ${search.name}`);
    const text = "the web is not searched: no SearXNG answers on this machine, and only Wikipedia needs no key";
    return { part, state: "reduced", text, cure: "WEB_SEARCH_PROVIDER=mediawiki" };
  } catch (error) {
    return { part, state: "fails", text: withoutStop(faultMessage(error)), cure: "WEB_SEARCH_API_KEY" };
  }
}

function fileSearch(config: Config): MachineLine {
  const part = FILE_SEARCH;
  try {
    const model = searchByMeaning(config);
    if (model !== null) return worksLine(part, `by words and by meaning (${model})`);
    if (config.embeddingFile !== null)
      return { part, state: "off", text: "by words: EMBEDDING_FILE is none", cure: null };
    return { part, state: "reduced", text: "by words only, not by meaning", cure: "antiphon search setup" };
  } catch (error) {
    return { part, state: "fails", text: withoutStop(faultMessage(error)), cure: "EMBEDDING_FILE=none" };
  }
}

function pictures({ imageBaseUrl }: Config): MachineLine {
  const part = "drawn pictures";
  if (imageBaseUrl !== null) return worksLine(part, `by ${new URL(imageBaseUrl).origin}`);
  return { part, state: "off", text: "no picture server is set", cure: "IMAGE_BASE_URL" };
}

function withoutStop(sentence: string): string {
  return sentence.replace(/[.]$/, "").replaceAll("\n", " ");
}

function faultMessage(error: unknown): string {
  return error instanceof Error ? error.message : "it cannot be used";
}
