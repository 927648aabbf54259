import * as v from 'valibot';
import { text } from './validation.ts';

const isWebAddress = (address: string): boolean => /^https?:$/.test(URL.parse(address)?.protocol ?? '');

/** What people are led to: becomes a link on pages, where anything but these could be a script. */
export const webAddress = (max: number) => v.pipe(text(max), v.check(isWebAddress, 'must be an http or https URL'));

/** An empty string is none: clients send one. */
export const optionalWebAddress = (max: number) =>
  v.nullish(
    v.union([v.literal(''), webAddress(max)], (issue) => issue.issues?.at(-1)?.message ?? 'is not a valid URL'),
  );
