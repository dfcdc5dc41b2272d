import type { Response, ResponseNote, RunKind, ShownToolResult } from "@antiphon/contracts/responses-api/types.ts";
import { type FaceNotes, faceNamed } from "@antiphon/domain/faces.ts";
import type {
  ListedResponse,
  ResponseArchive,
  ResponseCountRequest,
  ResponseCounts,
  ResponsePage,
  ResponsePageRequest,
  ResponseRecord,
} from "@antiphon/domain/inspection.ts";
import type { Owner } from "@antiphon/domain/owner.ts";
import { type Kysely, type RawBuilder, type SqlBool, sql } from "kysely";
import type { Database } from "../../database/schema.ts";
import { storedJson } from "../../database/stored-json.ts";
import { isId } from "../../database/time-first.ts";
import { type ReplySummary, readReplySummary, replySummaryOf } from "../../rows/runs/summary-columns.ts";
import { Counts, countSlice, type SliceBounds } from "./response-counts.ts";
import { fits, hasMore, isInReach, KIND, type PlacedSides } from "./response-filter.ts";
import { SlicePace } from "./slice-pace.ts";
import { listToolResults } from "./tool-results.ts";

/** The maximum responses counted per statement, so that each is short, and in all. */
const COUNTED_AT_ONCE = 1_000;
const COUNTED_MAX = 200_000;

/** A place in the list. */
interface Place {
  readonly id: string;
  readonly createdAt: number;
  readonly number: number;
}

/** Reads lists by pages along an index, without a transaction. */
export class StoredArchive implements ResponseArchive {
  readonly #db: Kysely<Database>;

  constructor(db: Kysely<Database>) {
    this.#db = db;
  }

  async list(owner: Owner, request: ResponsePageRequest): Promise<ResponsePage | null> {
    const { filter, limit, after } = request;
    const start = after === null ? null : await this.#findPlace(owner, after);
    if (after !== null && start === null) return null;
    const rows: ListedRow[] = [];
    const pace = new SlicePace(filter.words.length > 0);
    for (let from = start; ; ) {
      const end = hasMore(filter) ? await this.#endOfSlice(owner, request, from, pace.size) : null;
      rows.push(...(await this.#findRows(owner, request, { from, end }, limit + 1 - rows.length)));
      if (rows.length > limit) return pageOf(rows.slice(0, limit), true, null);
      if (end === null) return pageOf(rows, false, null);
      from = end;
      if (!pace.next()) return pageOf(rows, true, end.id);
    }
  }

  async count(owner: Owner, request: ResponseCountRequest): Promise<ResponseCounts> {
    const counts = new Counts();
    let [from, lookedAt]: [Place | null, number] = [null, 0];
    for (;;) {
      const end = await this.#endOfSlice(owner, { filter: request.filter, order: "desc" }, from, COUNTED_AT_ONCE);
      counts.add(await countSlice(this.#db, owner, request, between(from, end)));
      lookedAt += COUNTED_AT_ONCE;
      if (end === null || lookedAt >= COUNTED_MAX) return counts.whole(end !== null);
      from = end;
    }
  }

  async findRecord(owner: Owner, responseId: string): Promise<ResponseRecord | null> {
    const row = await this.#db
      .selectFrom("responses")
      .select(["event_times", "notes", "face", "face_notes"])
      .where(isId("responses.id", responseId))
      .where("organization", "=", owner.organization)
      .where("project", "=", owner.project)
      .executeTakeFirst();
    if (row === undefined) return null;
    const notes = row.notes === null ? [] : storedJson<readonly ResponseNote[]>(row.notes);
    const faceNotes = row.face_notes === null ? null : storedJson<FaceNotes>(row.face_notes);
    const face = row.face === null || faceNotes === null ? null : { name: row.face, notes: faceNotes };
    return { eventTimes: row.event_times, notes, face };
  }

  async listToolResults(owner: Owner, responseId: string): Promise<readonly ShownToolResult[]> {
    return await listToolResults(this.#db, owner, responseId);
  }

  async #findPlace(owner: Owner, responseId: string): Promise<Place | null> {
    const row = await this.#db
      .selectFrom("responses")
      .select(["id", "created_at as createdAt", "number"])
      .where(isId("responses.id", responseId))
      .where("organization", "=", owner.organization)
      .where("project", "=", owner.project)
      .executeTakeFirst();
    return row ?? null;
  }

  /** The last response of the slice after a place; null if the slice includes the rest. */
  async #endOfSlice(
    owner: Owner,
    { filter, order }: Pick<ResponsePageRequest, "filter" | "order">,
    from: Place | null,
    size: number,
  ): Promise<Place | null> {
    const row = await this.#db
      .selectFrom("responses")
      .select(["id", "created_at as createdAt", "number"])
      .where(isInReach(owner, filter, sidesOf(order, from, null)))
      .where(isPast(from, order === "asc" ? ">" : "<"))
      .orderBy("created_at", order)
      .orderBy("number", order)
      .offset(size - 1)
      .limit(1)
      .executeTakeFirst();
    return row ?? null;
  }

  async #findRows(
    owner: Owner,
    { filter, order }: ResponsePageRequest,
    { from, end }: { readonly from: Place | null; readonly end: Place | null },
    limit: number,
  ): Promise<readonly ListedRow[]> {
    return await this.#db
      .selectFrom("responses")
      .select([
        "responses.id",
        "responses.status",
        "responses.model",
        "responses.created_at",
        "responses.completed_at",
        "responses.previous_response_id",
        "responses.conversation_id",
        "responses.metadata",
        "responses.input_preview",
        "responses.reply_summary",
        "responses.duration_ms",
        "responses.first_text_ms",
        "responses.key_id",
        "responses.face",
        KIND.as("kind"),
        NAME_OF_KEY.as("key_name"),
        BODY_OF_OLD.as("body"),
      ])
      .where(isInReach(owner, filter, sidesOf(order, from, end)))
      .where(fits(filter))
      .where(isPast(from, order === "asc" ? ">" : "<"))
      .where(isPast(end, order === "asc" ? "<=" : ">="))
      .orderBy("responses.created_at", order)
      .orderBy("responses.number", order)
      .limit(limit)
      .execute();
  }
}

/** The snapshot of a response from an earlier release. */
const BODY_OF_OLD = sql<string | null>`case when responses.metadata is null then responses.body end`;
const NAME_OF_KEY = sql<string | null>`(select api_keys.name from api_keys where api_keys.id = responses.key_id)`;

interface ListedRow {
  readonly id: string;
  readonly status: Response["status"];
  readonly model: string;
  readonly created_at: number;
  readonly completed_at: number | null;
  readonly previous_response_id: string | null;
  readonly conversation_id: string | null;
  readonly metadata: string | null;
  readonly input_preview: string | null;
  readonly reply_summary: string | null;
  readonly duration_ms: number | null;
  readonly first_text_ms: number | null;
  readonly key_id: string | null;
  readonly face: string | null;
  readonly kind: RunKind;
  readonly key_name: string | null;
  readonly body: string | null;
}

function between(from: Place | null, end: Place | null): SliceBounds {
  return { conditions: [isPast(from, "<"), isPast(end, ">=")], sides: sidesOf("desc", from, end) };
}

function sidesOf(order: "asc" | "desc", from: Place | null, end: Place | null): PlacedSides {
  const [after, before] = order === "asc" ? [from, end] : [end, from];
  return { isAfter: after !== null, isBefore: before !== null };
}

/** Always true if there is no place. */
function isPast(place: Place | null, comparison: "<" | "<=" | ">" | ">="): RawBuilder<SqlBool> {
  if (place === null) return sql<SqlBool>`1 = 1`;
  return sql<SqlBool>`(responses.created_at, responses.number)
    ${sql.raw(comparison)} (${place.createdAt}, ${place.number})`;
}

function pageOf(rows: readonly ListedRow[], more: boolean, lastId: string | null): ResponsePage {
  return { responses: rows.map(listedResponse), hasMore: more, lastId: lastId ?? rows.at(-1)?.id ?? null };
}

function listedResponse(row: ListedRow): ListedResponse {
  const { created_at, completed_at, status, kind, model, key_id, conversation_id, previous_response_id } = row;
  const old = row.body === null ? null : storedJson<Response>(row.body);
  const reply = replyOf(row, old);
  return {
    id: row.id,
    object: "response.summary",
    created_at,
    completed_at,
    status,
    is_live: status === "queued" || status === "in_progress",
    kind,
    face: faceNamed(row.face),
    model,
    background: kind === "background",
    conversation: conversation_id === null ? null : { id: conversation_id },
    previous_response_id,
    metadata: metadataOf(row, old),
    usage: reply.usage ?? null,
    error: reply.error,
    incomplete_details: reply.incomplete_details,
    input_preview: row.input_preview ?? "",
    output_preview: reply.output_preview,
    tools: [...reply.tools],
    timing: { queued_ms: reply.queued_ms, first_text_ms: row.first_text_ms, duration_ms: row.duration_ms },
    key: key_id === null ? null : { id: key_id, name: row.key_name },
  };
}

const NO_REPLY: ReplySummary = {
  usage: null,
  error: null,
  incomplete_details: null,
  output_preview: "",
  tools: [],
  queued_ms: null,
};

function replyOf({ reply_summary: summary }: ListedRow, old: Response | null): ReplySummary {
  if (summary !== null) return readReplySummary(summary);
  return old === null ? NO_REPLY : replySummaryOf(old, null);
}

function metadataOf({ metadata }: ListedRow, old: Response | null): ListedResponse["metadata"] {
  if (metadata !== null) return storedJson<ListedResponse["metadata"]>(metadata);
  return old?.metadata ?? {};
}
