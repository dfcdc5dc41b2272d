/** The faces of the API beside the Responses API. */
export const FACE_NAMES = ["chat", "completions", "messages"] as const;
export type FaceName = (typeof FACE_NAMES)[number];

/** The face with this name; null if there is none. */
export function faceNamed(name: string | null): FaceName | null {
  return FACE_NAMES.find((face) => face === name) ?? null;
}

/** By which face a request came. */
export interface FaceOrigin {
  readonly name: FaceName;
  readonly notes: FaceNotes;
}

/** What a face needs to show a response in its own form, beside the response. Kept as JSON. */
export interface FaceNotes {
  /** Whether the client asked for the response to be stored. Otherwise the lists of its face leave it out. */
  readonly isAskedFor: boolean;
  /** What only the face knows. */
  readonly [name: string]: unknown;
}
