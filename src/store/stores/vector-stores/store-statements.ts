import type { Owner } from "@antiphon/domain/owner.ts";
import type { NewStoreFile } from "@antiphon/domain/vector-stores.ts";
import { type RawBuilder, sql } from "kysely";
import { dialectal, keepKeysOf } from "../../database/dialectal.ts";

export const SECONDS_A_DAY = 86_400;

/** Records a use of the stores, which postpones their expiry. Ignores expired and unknown ones. */
export function touching(owner: Owner, storeIds: readonly string[]): RawBuilder<unknown> {
  const now = secondsNow();
  return sql`update vector_stores set last_active_at = ${now}, expires_at = ${expiryAfterUse(now)}
    where id in (${sql.join(storeIds)}) and organization = ${owner.organization} and project = ${owner.project}
      and is_expired = 0`;
}

/** When a store expires after a use at this time; null if it never does. */
export function expiryAfterUse(usedAt: number): RawBuilder<number | null> {
  return sql`${usedAt} + expires_after_days * ${SECONDS_A_DAY}`;
}

/** Replaces the row and chunks of a file that the store already has. */
export function addingFiles(
  owner: Owner,
  storeId: string,
  files: readonly NewStoreFile[],
  batchId: string | null,
): readonly RawBuilder<unknown>[] {
  if (files.length === 0) return [];
  const additions = rowsOf(files);
  return [
    sql`delete from vector_store_files
      where store_number = (select number from vector_stores where id = ${storeId})
        and file_id in (select file_id from (${additions}) as added)`,
    sql`insert into vector_store_files (store_number, file_id, organization, project, filename, created_at, status,
        attributes, chunking, batch_number)
      select stores.number, files.id, files.organization, files.project, files.filename, ${secondsNow()}, 'in_progress',
        added.attributes, added.chunking, (select number from vector_store_batches where id = ${batchId})
      from (${additions}) as added
      join files on files.id = added.file_id and files.organization = ${owner.organization}
        and files.project = ${owner.project} and files.holder is null
      join vector_stores as stores on stores.id = ${storeId}
      where true
      order by added.place ${keepKeysOf("files")} ${keepKeysOf("stores")}
      on conflict (store_number, file_id) do nothing`,
  ];
}

/** A query that returns these files in order. */
function rowsOf(files: readonly NewStoreFile[]): RawBuilder<unknown> {
  const rows = files.map(({ fileId, attributes, chunking }) => ({
    fileId,
    attributes: attributes === null ? null : JSON.stringify(attributes),
    chunking: JSON.stringify(chunking),
  }));
  return dialectal(
    sql`select value ->> 'fileId' as file_id, value ->> 'attributes' as attributes, value ->> 'chunking' as chunking,
      key as place from json_each(${JSON.stringify(rows)})`,
    () => sql`select * from unnest(${rows.map(({ fileId }) => fileId)}::text[],
      ${rows.map(({ attributes }) => attributes)}::text[], ${rows.map(({ chunking }) => chunking)}::text[])
      with ordinality as given (file_id, attributes, chunking, place)`,
  );
}

export function secondsNow(): number {
  return Math.floor(Date.now() / 1000);
}
