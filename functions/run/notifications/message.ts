/** What every kind of notification is made into, and every kind of destination is made from. Pure. */

export type Fact = [name: string, value: string];

export interface Message {
  /** As sent to destinations of type `generic` (HCP API: notification configurations). */
  payload: object;
  /** For people, on one line. */
  headline: string;
  /** Fields besides the headline, by name; none in a verification. */
  facts: Fact[];
  link: { url: string; text: string } | null;
  tone: 'attention' | 'good' | 'bad' | 'neutral';
}

/** The words of a trigger on the page. */
export interface TriggerWords {
  label: string;
  hint: string;
}

/** Leaves out the facts that have no value. */
export const present = (facts: [name: string, value: string | null | undefined][]): Fact[] =>
  facts.filter((fact): fact is Fact => typeof fact[1] === 'string');

export const destinationTypes = ['generic', 'slack', 'microsoft-teams'] as const;
/** With a URL; `email` has recipients. */
export type UrlDestinationType = (typeof destinationTypes)[number];
export type DestinationType = UrlDestinationType | 'email';
