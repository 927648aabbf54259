/** Common form of all notifications, which is converted to the format of each destination. Pure. */

export type Fact = [name: string, value: string];

export interface Message {
  /** Body for destinations of type `generic` (HCP API: notification configurations). */
  payload: object;
  /** Summary for users, on one line. */
  headline: string;
  /** Fields besides the headline, by name; none in a verification. */
  facts: Fact[];
  link: { url: string; text: string } | null;
  tone: 'attention' | 'good' | 'bad' | 'neutral';
  /** A run that waits for one of these decisions. */
  decision?: { runId: string; choices: Choice[] };
}

/** Actions on a run that a message can offer. */
export type Choice = 'apply' | 'override' | 'discard';

/** Label of a trigger on the page. */
export interface TriggerWords {
  label: string;
  hint: string;
}

/** Leaves out the facts that have no value. */
export const present = (facts: [name: string, value: string | null | undefined][]): Fact[] =>
  facts.filter((fact): fact is Fact => typeof fact[1] === 'string');

export const destinationTypes = ['generic', 'slack', 'microsoft-teams'] as const;
/** Types with a URL; `email` has recipients instead. */
export type UrlDestinationType = (typeof destinationTypes)[number];
export type DestinationType = UrlDestinationType | 'email';
