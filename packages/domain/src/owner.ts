/**
 * The organization and project that stored data belongs to. Every query names it; another owner's id counts as unknown.
 */
export interface Owner {
  readonly organization: string;
  readonly project: string;
}
