import * as v from 'valibot';
import { text } from './validation.ts';

const isWebAddress = (address: string): boolean => /^https?:$/.test(URL.parse(address)?.protocol ?? '');

/** A URL that becomes a link on pages. Other schemes are rejected, because they could run a script. */
export const webAddress = (max: number) => v.pipe(text(max), v.check(isWebAddress, 'must be an http or https URL'));

/** Clients send an empty string for "no URL". */
export const optionalWebAddress = (max: number) =>
  v.nullish(
    v.union([v.literal(''), webAddress(max)], (issue) => issue.issues?.at(-1)?.message ?? 'is not a valid URL'),
  );
