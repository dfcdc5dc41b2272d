/** The tables are older than this program needs, or too new for it. Nothing was changed. */
export class UnfitTables extends Error {
  override readonly name = "UnfitTables";
}
