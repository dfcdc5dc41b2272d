/** The parts of a conversation that skills can read. */
export interface SkillInput {
  /** The last user message. */
  readonly text: string;
  /** The user messages before it, oldest first. */
  readonly earlierTexts: readonly string[];
  /** The request's instructions and the developer messages. */
  readonly instructions: readonly string[];
}

/** Returns an answer, or null if the question is not its kind. Skills understand English only. */
export type Skill = (question: SkillInput) => string | null;
