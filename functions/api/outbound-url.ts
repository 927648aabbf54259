import * as v from 'valibot';
import { OutboundError } from '#platform/net/outbound/errors.ts';
import { readUrl } from '#platform/net/outbound/send.ts';
import { text } from './validation.ts';

const problemOf = (url: string): string | undefined => {
  try {
    readUrl(url);
    return undefined;
  } catch (error) {
    if (error instanceof OutboundError) return error.message;
    throw error;
  }
};

/** A URL to which the platform sends requests. */
export const outboundUrl = v.pipe(
  text(1000),
  v.rawCheck(({ dataset, addIssue }) => {
    const problem = dataset.typed ? problemOf(dataset.value) : undefined;
    if (problem) addIssue({ message: `cannot be used: ${problem}` });
  }),
);
