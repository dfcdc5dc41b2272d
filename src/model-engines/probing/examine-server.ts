import { type EngineKind, ledgerNote } from "@antiphon/base/ledger/ledger-note.ts";
import { fieldLedger } from "@antiphon/contracts/responses-api/field-ledger.ts";
import type { ModelAbilities, ModelEngine } from "@antiphon/domain/models/model-engine.ts";
import { PLAIN_REQUEST } from "@antiphon/domain/models/model-request.ts";
import { examineRetrieval } from "./examine-retrieval.ts";
import { type Finding, failure, msSince, type Verdict } from "./finding.ts";
import { hearAnswer } from "./heard-answer.ts";
import { PROBES, type Probe } from "./probes.ts";

export interface FieldVerdict {
  readonly field: string;
  readonly verdict: Verdict;
  readonly why: string | null;
  /** The probe that tested it; null if only the field ledger describes it. */
  readonly probe: string | null;
}

export interface Examination {
  /** The tested model. */
  readonly model: string;
  /** Names of models, as far as listed by the server. */
  readonly models: readonly string[];
  readonly findings: readonly Finding[];
  /** Every field that a model engine must handle, from the field ledger. */
  readonly fields: readonly FieldVerdict[];
}

/** Called for each result, because all tests together take minutes on a slow model. */
export interface ExaminationListener {
  readonly began: (choice: Pick<Examination, "model" | "models">) => void;
  readonly onFinding: (finding: Finding) => void;
}

const LIST_MS_MAX = 15_000;
const PROBE_MS_MAX = 120_000;

/** What is examined. */
interface ExaminedModel {
  /** Null for the first one that the server lists. */
  readonly model: string | null;
  /** The engine's column in the field ledger. Default: chat completions. */
  readonly kind?: EngineKind;
  readonly signal: AbortSignal;
}

const NOBODY: ExaminationListener = { began: () => {}, onFinding: () => {} };

/** Tests the abilities of a model server, one probe after the other. Rejects only if `signal` aborts. */
export async function examineServer(
  engine: ModelEngine,
  { model: requestedModel, kind = "chat-completions", signal }: ExaminedModel,
  listener: ExaminationListener = NOBODY,
): Promise<Examination> {
  const { finding: listing, models } = await listModels(engine, signal);
  const model = requestedModel ?? models[0] ?? "";
  const findings: Finding[] = [];
  const add = (finding: Finding): void => {
    findings.push(finding);
    listener.onFinding(finding);
  };
  listener.began({ model, models });
  add(listing);
  const findingsByField = new Map<string, Finding>();
  for (const probe of model === "" ? [] : PROBES) {
    const finding = await tryProbe(engine, probe, { model, signal });
    add(finding);
    for (const field of probe.fields) findingsByField.set(field, finding);
    if (probe !== PROBES[0] || finding.verdict === "honoured") continue;
    for (const what of ["embeddings", "ranks"] as const) {
      const other = await examineRetrieval(engine, { model, what, signal });
      if (other.verdict === "honoured") add(other);
    }
    break;
  }
  if (findingsByField.size > 0) add(await findWindow(engine, model, signal));
  return {
    model,
    models,
    findings,
    fields: judgeFields({ abilities: engine.abilitiesOf(model), kind }, findingsByField),
  };
}

async function listModels(
  engine: ModelEngine,
  signal: AbortSignal,
): Promise<{ readonly finding: Finding; readonly models: readonly string[] }> {
  const startedAt = performance.now();
  const limit = AbortSignal.timeout(LIST_MS_MAX);
  try {
    const deadline = AbortSignal.any([signal, limit]);
    const models = (await engine.listModels(deadline)).map(({ id }) => id);
    const why = models.length === 0 ? "it lists none" : null;
    return { finding: { name: "list of models", verdict: "honoured", why, ms: msSince(startedAt) }, models };
  } catch (error) {
    signal.throwIfAborted();
    const fault = limit.aborted ? new Error(`no answer within ${LIST_MS_MAX / 1000} s`) : error;
    return { finding: { name: "list of models", ...failure(fault), ms: msSince(startedAt) }, models: [] };
  }
}

async function tryProbe(
  engine: ModelEngine,
  { name, asks, judge }: Probe,
  { model, signal }: { readonly model: string; readonly signal: AbortSignal },
): Promise<Finding> {
  const startedAt = performance.now();
  try {
    const deadline = AbortSignal.any([signal, AbortSignal.timeout(PROBE_MS_MAX)]);
    const why = judge(await hearAnswer(await engine.sample({ ...PLAIN_REQUEST, items: [], model, ...asks }, deadline)));
    if (deadline.aborted) throw new Error(`no whole answer within ${PROBE_MS_MAX / 1000} s`);
    return { name, verdict: why === null ? "honoured" : "ignored", why, ms: msSince(startedAt) };
  } catch (error) {
    signal.throwIfAborted();
    return { name, ...failure(error), ms: msSince(startedAt) };
  }
}

async function findWindow(engine: ModelEngine, model: string, signal: AbortSignal): Promise<Finding> {
  const startedAt = performance.now();
  const tokens = await engine.contextWindow(model, signal);
  const why = tokens === null ? "it does not tell; set MODEL_CONTEXT_WINDOW for truncation" : `${tokens} tokens`;
  return { name: "context window", verdict: tokens === null ? "unknown" : "honoured", why, ms: msSince(startedAt) };
}

/** Each field of the ledger: as tested on the server, otherwise as the adapter treats it. */
function judgeFields(
  { abilities, kind }: { readonly abilities: ModelAbilities; readonly kind: EngineKind },
  findingsByField: ReadonlyMap<string, Finding>,
): readonly FieldVerdict[] {
  return Object.entries(fieldLedger).flatMap(([field, entry]): readonly FieldVerdict[] => {
    const treatment = entry[kind];
    if (treatment === undefined) return [];
    const finding = findingsByField.get(field);
    const ofAdapter = adapterLimit(abilities, field) ?? ledgerNote(entry.note, kind);
    if (finding === undefined) return [{ field, verdict: treatment, why: ofAdapter, probe: null }];
    const verdict = finding.verdict === "honoured" ? treatment : finding.verdict;
    return [{ field, verdict, why: finding.why ?? ofAdapter, probe: finding.name }];
  });
}

/** The adapter's statement about kinds of input. */
function adapterLimit(abilities: ModelAbilities, field: string): string | null {
  if (field === "content.input_image" && !abilities.images) return "MODEL_INPUT has no image";
  if (field === "content.input_file" && !abilities.files)
    return "the text of files is sent, because MODEL_INPUT has no file";
  if (field === "content.input_audio" && abilities.audioFormats.length === 0)
    return "recordings are transcribed, because MODEL_INPUT has no audio";
  return null;
}
