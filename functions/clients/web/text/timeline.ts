/** Events of a run, in order. */

export interface TimelineEntry {
  at: string;
  text: string;
  /** Id of the user. */
  actor?: string;
  comment?: string;
  /** The platform ended the run. */
  end?: boolean;
}

/** Order within a millisecond: a user's decision, the run's status, its end. */
const rank = ({ actor, end }: TimelineEntry): number => (actor ? 0 : end ? 2 : 1);

export const inOrder = (moments: TimelineEntry[]): TimelineEntry[] =>
  [...moments].sort((a, b) => (a.at === b.at ? rank(a) - rank(b) : a.at < b.at ? -1 : 1));
