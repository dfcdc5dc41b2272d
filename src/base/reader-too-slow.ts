/**
 * The reply was cut because its reader took nothing for too long, or too little while others needed the memory. A
 * stored run continues.
 */
export class ReaderTooSlow extends Error {
  override readonly name = "ReaderTooSlow";
}
