/**
 * Why a reply ended before its end: its reader took nothing for too long, or too little while others wait for memory.
 * What is stored goes on without it.
 */
export class ReaderTooSlow extends Error {
  override readonly name = "ReaderTooSlow";
}
