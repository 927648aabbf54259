/** What happened to a run, in order. */

export interface TimelineEntry {
  at: string;
  text: string;
  /** Id of the user who did it. */
  actor?: string;
  comment?: string;
  /** The platform's own end of the run. */
  end?: boolean;
}

/** Order within a millisecond: a user's decision, the run's reaction, its end. */
const rank = ({ actor, end }: TimelineEntry): number => (actor ? 0 : end ? 2 : 1);

export const inOrder = (moments: TimelineEntry[]): TimelineEntry[] =>
  [...moments].sort((a, b) => (a.at === b.at ? rank(a) - rank(b) : a.at < b.at ? -1 : 1));
