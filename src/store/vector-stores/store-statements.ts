import { type RawBuilder, sql } from "kysely";
import type { NewStoreFile } from "../../responses-api/vector-stores.ts";
import type { Owner } from "../../runs/ports.ts";

export const SECONDS_A_DAY = 86_400;

/** A use of the stores, which puts off their expiry. Changes none that has expired or is unknown. */
export function touching(owner: Owner, storeIds: readonly string[]): RawBuilder<unknown> {
  const now = secondsNow();
  return sql`update vector_stores set last_active_at = ${now}, expires_at = ${expiryAfterUse(now)}
    where id in (${sql.join(storeIds)}) and organization = ${owner.organization} and project = ${owner.project}
      and is_expired = 0`;
}

/** When a store expires that is used at this time; null if it never does. */
export function expiryAfterUse(usedAt: number): RawBuilder<number | null> {
  return sql`${usedAt} + expires_after_days * ${SECONDS_A_DAY}`;
}

/** A file that the store has already loses its row and its chunks. */
export function addingFiles(
  owner: Owner,
  storeId: string,
  files: readonly NewStoreFile[],
  batchId: string | null,
): readonly RawBuilder<unknown>[] {
  if (files.length === 0) return [];
  const list = JSON.stringify(
    files.map(({ fileId, attributes, chunking }) => ({
      fileId,
      attributes: attributes === null ? null : JSON.stringify(attributes),
      chunking: JSON.stringify(chunking),
    })),
  );
  return [
    sql`delete from vector_store_files
      where store_number = (select number from vector_stores where id = ${storeId})
        and file_id in (select value ->> 'fileId' from json_each(${list}))`,
    sql`insert into vector_store_files (store_number, file_id, organization, project, filename, created_at, status,
        attributes, chunking, batch_number)
      select stores.number, files.id, files.organization, files.project, files.filename, ${secondsNow()}, 'in_progress',
        added.value ->> 'attributes', added.value ->> 'chunking',
        (select number from vector_store_batches where id = ${batchId})
      from json_each(${list}) as added
      join files on files.id = added.value ->> 'fileId' and files.organization = ${owner.organization}
        and files.project = ${owner.project} and files.holder is null
      join vector_stores as stores on stores.id = ${storeId}
      where true
      order by added.key
      on conflict (store_number, file_id) do nothing`,
  ];
}

export function secondsNow(): number {
  return Math.floor(Date.now() / 1000);
}
