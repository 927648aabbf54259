import type { Answer } from '#api/answer.ts';
import { escaped, page } from '#api/page.ts';
import type { SignInError } from '../errors.ts';

/** Page for a failed sign-in. @param home relative URL of the web page */
export const failurePage = ({ status, message, received }: SignInError, home: string): Answer =>
  page(
    status,
    'Not signed in',
    `<p role="alert">${escaped(message)}</p>${received === undefined ? '' : `<pre>${escaped(received)}</pre>`}<p><a href="${home}">Home page</a></p>`,
  );
