/** The last 32 characters of an id, then the others, so that new ids go to the end of an index. */
function timeFirst(column: string): string {
  return `(right(${column}, 32) || left(${column}, -32))`;
}

const IS_LIVE = `status in ('queued', 'in_progress')`;

export const FIRST_INDEXES = [
  `create unique index responses_by_id on responses (${timeFirst("id")})`,
  `create index responses_by_age on responses (created_at, number)`,
  `create index responses_by_previous on responses (${timeFirst("previous_response_id")})
    where previous_response_id is not null`,
  `create index live_responses on responses (worker) where ${IS_LIVE}`,
  `create index responses_of_conversation on responses (conversation_id) where conversation_id is not null`,
  `create unique index ancestors_by_id on ancestors (${timeFirst("id")})`,
  `create index ancestors_by_previous on ancestors (${timeFirst("previous_response_id")})
    where previous_response_id is not null`,
  `create index ancestors_of_conversation on ancestors (conversation_id) where conversation_id is not null`,
  `create index ancestors_unused on ancestors (number) where is_unused = 1`,
  `create index items_by_id on items (${timeFirst("id")})`,
  `create index conversation_items_in_order on conversation_items (conversation_id, sequence)`,
  `create index conversation_items_by_id on conversation_items (${timeFirst("id")})`,
  `create unique index tool_exchanges_by_approval on tool_exchanges (organization, project, approval_request_id)
    where approval_request_id is not null`,
  `create index tool_exchanges_by_response on tool_exchanges (response_id)`,
  `create index tool_exchanges_by_age on tool_exchanges (created_at)`,
  `create index files_of_owner on files (organization, project, sequence)`,
  `create index files_that_expire on files (expires_at) where expires_at is not null`,
  `create index held_files on files (holder) where holder is not null`,
  `create index containers_by_owner on containers (organization, project, number)`,
  `create index containers_running on containers (organization, project, expires_at) where state = 'running'`,
  `create index containers_by_expiry on containers (expires_at) where state = 'running'`,
  `create index containers_to_empty on containers (number) where state <> 'running' and is_emptied = 0`,
  `create index containers_to_forget on containers (expires_at) where is_emptied = 1`,
  `create index container_files_by_container on container_files (container_id, path)`,
  `create index container_files_by_owner on container_files (organization, project, bytes)`,
  `create index held_container_files on container_files (holder) where holder is not null`,
  `create index owner_usage_changes_by_owner on owner_usage_changes (organization, project, number)`,
  `create index vector_stores_by_owner on vector_stores (organization, project, number)`,
  `create index vector_stores_by_expiry on vector_stores (expires_at) where is_expired = 0 and expires_at is not null`,
  `create index vector_store_batches_by_store on vector_store_batches (store_number)`,
  `create index vector_store_files_by_file on vector_store_files (file_id)`,
  `create index vector_store_files_by_status on vector_store_files (store_number, status)`,
  `create index vector_store_files_by_batch on vector_store_files (batch_number) where batch_number is not null`,
  `create index vector_store_files_waiting on vector_store_files (number) where status = 'in_progress'`,
  // Searches scan entries added since the last merge, so their size is limited, in KiB.
  `create index vector_store_words_by_word on vector_store_words using gin (words) with (gin_pending_list_limit = 256)`,
  `create index vector_store_files_by_owner on vector_store_files (organization, project, usage_bytes)`,
];

const HAS_ITS_ID = `${timeFirst("id")} = ${timeFirst("old.id")} and id = old.id`;

/** Triggers remove dependent rows, because rows are removed in several places. */
export const FIRST_TRIGGERS = [
  `create function remove_exchange() returns trigger language plpgsql as $$
    begin
      if exists (select 1 from tool_exchanges where item_id = old.id)
        and not exists (select 1 from items where ${HAS_ITS_ID})
        and not exists (select 1 from conversation_items where ${HAS_ITS_ID})
      then delete from tool_exchanges where item_id = old.id; end if;
      return null;
    end $$`,
  `create trigger items_exchange_removed after delete on items for each row execute function remove_exchange()`,
  `create trigger conversation_items_exchange_removed after delete on conversation_items
    for each row execute function remove_exchange()`,
  `create function remove_turns() returns trigger language plpgsql as $$
    begin delete from tool_turns where response_id = old.id; return null; end $$`,
  `create trigger responses_turns_removed after delete on responses for each row execute function remove_turns()`,
  `create function note_removed_store_file() returns trigger language plpgsql as $$
    begin
      insert into vector_store_removals (file_number) values (old.number) on conflict do nothing;
      return null;
    end $$`,
  `create trigger vector_store_files_removed after delete on vector_store_files
    for each row execute function note_removed_store_file()`,
  `create function remove_from_vector_stores() returns trigger language plpgsql as $$
    begin delete from vector_store_files where file_id = old.id; return null; end $$`,
  `create trigger files_leave_vector_stores after delete on files
    for each row execute function remove_from_vector_stores()`,
];
