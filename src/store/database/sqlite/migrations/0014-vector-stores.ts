import { type Kysely, sql } from "kysely";
import type { Migration } from "kysely/migration";

/**
 * Vector stores, their files, and their search index. A chunk's key is the number of its file times 2^20 plus its place
 * in the file. Each word in the index is prefixed by the number of its store, so that a search reads only its own
 * stores. The chunks of a removed file are erased later, in small steps; searches ignore them, because a search begins
 * with the files.
 */
export const vectorStores: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
  },
};

const STATEMENTS = [
  `create table vector_models (
    number integer primary key,
    name text not null,
    dimensions integer not null,
    unique (name, dimensions))`,
  `create table vector_stores (
    number integer primary key autoincrement,
    id text not null unique,
    organization text not null,
    project text not null,
    name text not null,
    description text,
    metadata text not null,
    created_at integer not null,
    last_active_at integer not null,
    expires_after_days integer,
    expires_at integer,
    is_expired integer not null default 0,
    model_number integer)`,
  `create index vector_stores_by_owner on vector_stores (organization, project, number)`,
  `create index vector_stores_by_expiry on vector_stores (expires_at) where is_expired = 0 and expires_at is not null`,
  `create table vector_store_batches (
    number integer primary key autoincrement,
    id text not null unique,
    store_number integer not null,
    created_at integer not null,
    is_cancelled integer not null default 0)`,
  `create index vector_store_batches_by_store on vector_store_batches (store_number)`,
  `create table vector_store_files (
    number integer primary key autoincrement,
    store_number integer not null,
    file_id text not null,
    organization text not null,
    project text not null,
    filename text not null,
    created_at integer not null,
    status text not null,
    error text,
    attributes text,
    chunking text not null,
    usage_bytes integer not null default 0,
    batch_number integer,
    worker integer,
    attempts integer not null default 0,
    chunk_count integer not null default 0,
    word_count integer not null default 0,
    model_number integer,
    unique (store_number, file_id))`,
  `create index vector_store_files_by_file on vector_store_files (file_id)`,
  `create index vector_store_files_by_status on vector_store_files (store_number, status)`,
  `create index vector_store_files_by_batch on vector_store_files (batch_number) where batch_number is not null`,
  `create index vector_store_files_waiting on vector_store_files (number) where status = 'in_progress'`,
  `create index vector_store_files_by_owner on vector_store_files (organization, project, usage_bytes)`,
  `create table vector_store_chunks (
    key integer primary key,
    text text not null,
    first integer not null,
    last integer not null,
    headings text not null,
    word_count integer not null)`,
  `create virtual table vector_store_words using fts5 (
    words, content = '', contentless_delete = 1, tokenize = "unicode61 remove_diacritics 0 categories 'L* N* M* Co'")`,
  // A large merge would block all other writes, so `mergeWords` merges in small steps.
  `insert into vector_store_words (vector_store_words, rank) values ('automerge', 0), ('crisismerge', 256)`,
  `create virtual table vector_store_word_places using fts5vocab (vector_store_words, instance)`,
  `create table vector_store_vectors (
    model_number integer not null,
    key integer not null,
    vector blob not null)`,
  `create unique index vector_store_vectors_by_key on vector_store_vectors (model_number, key)`,
  `create table vector_store_leftovers (file_number integer primary key)`,
  `create table vector_store_removals (file_number integer primary key)`,
  `create trigger vector_store_files_removed after delete on vector_store_files
    begin insert or ignore into vector_store_removals (file_number) values (old.number); end`,
  `create trigger files_leave_vector_stores after delete on files
    begin delete from vector_store_files where file_id = old.id; end`,
];
