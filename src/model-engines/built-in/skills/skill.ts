/** What a skill may look at. */
export interface Question {
  /** The last user message. */
  readonly text: string;
  /** The user messages before it, oldest first. */
  readonly earlierTexts: readonly string[];
  /** The request's instructions and the messages of developers. */
  readonly instructions: readonly string[];
}

/** Answers what it knows, and null to everything else. Skills know English only. */
export type Skill = (question: Question) => string | null;
