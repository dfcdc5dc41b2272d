import type { Kysely } from "kysely";
import type { Migration } from "kysely/migration";

/** Metadata of uploaded files. Their contents are outside the database. */
export const files: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema
      .createTable("files")
      .addColumn("sequence", "integer", (column) => column.primaryKey().autoIncrement().notNull())
      .addColumn("id", "text", (column) => column.notNull().unique())
      .addColumn("organization", "text", (column) => column.notNull())
      .addColumn("project", "text", (column) => column.notNull())
      .addColumn("purpose", "text", (column) => column.notNull())
      .addColumn("filename", "text", (column) => column.notNull())
      .addColumn("mime_type", "text", (column) => column.notNull())
      .addColumn("bytes", "integer", (column) => column.notNull())
      .addColumn("created_at", "integer", (column) => column.notNull())
      .addColumn("expires_at", "integer")
      .addColumn("holder", "integer")
      .execute();
    await db.schema
      .createIndex("files_of_owner")
      .on("files")
      .columns(["organization", "project", "sequence"])
      .execute();
    await db.schema
      .createIndex("files_that_expire")
      .on("files")
      .column("expires_at")
      .where("expires_at", "is not", null)
      .execute();
    await db.schema.createIndex("held_files").on("files").column("holder").where("holder", "is not", null).execute();
  },
};
