import type { PolicyOutcome } from '#run/policies.ts';
import type { PolicyAnswer } from './engine.ts';

/**
 * Interprets the result of a query. An empty list of messages passes (HCP docs: OPA query). The meaning of a boolean
 * depends on the rule's name: for a rule named deny, true fails; for all others, false fails. Anything else is an
 * error.
 */

/** Maximum number of stored messages per policy; further ones are only counted. */
export const maxMessages = 100;
export const maxMessage = 2000;

/** The last name of a query that is a plain reference: `data.a.deny`, `data["a"].deny_public`. */
const lastName = /^data(?:\.\w+|\["[^"]+"\])*(?:\.(\w+)|\["([^"]+)"\])$/;
const denying = /^(deny|denied|violation|reject|fail|error)/;

const denies = (query: string): boolean => {
  const [, plain, quoted] = lastName.exec(query.trim()) ?? [];
  return denying.test(plain ?? quoted ?? '');
};

const cut = (text: string): string => (text.length > maxMessage ? `${text.slice(0, maxMessage - 1)}…` : text);

/** The message of a string, or of an object with one; otherwise undefined. */
const message = (item: unknown): unknown => {
  if (typeof item === 'string') return cut(item);
  if (typeof item !== 'object' || item === null || Array.isArray(item)) return undefined;
  const text = JSON.stringify(item);
  if (text.length <= maxMessage) return item;
  return { msg: cut('msg' in item && typeof item.msg === 'string' ? item.msg : text) };
};

const messages = (items: unknown[]): unknown[] | undefined => {
  const messages = items.slice(0, maxMessages).map(message);
  if (messages.includes(undefined)) return undefined;
  const more = items.length - messages.length;
  return more > 0 ? [...messages, `… and ${more} more`] : messages;
};

const shapeOf = (value: unknown): string => {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list with other items';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
};

type Judged = Pick<PolicyOutcome, 'status' | 'output' | 'error'>;

export const judge = (answer: PolicyAnswer, query: string): Judged => {
  if ('error' in answer) return { status: 'errored', output: [], error: answer.error };
  const { value } = answer;
  if (typeof value === 'boolean') {
    return { status: value === denies(query) ? 'failed' : 'passed', output: [] };
  }
  const output = Array.isArray(value) ? messages(value) : undefined;
  if (output) return { status: output.length ? 'failed' : 'passed', output };
  return {
    status: 'errored',
    output: [],
    error: `${query} returned ${shapeOf(value)}; return a set or a list of messages (strings, or objects with "msg"), empty when nothing is wrong, or true or false`,
  };
};
