import type { Answer } from '#api/answer.ts';
import { escaped, page } from '#api/page.ts';

/** Page for a failed sign-in. */
export const failurePage = (statusCode: number, why: string): Answer =>
  page(statusCode, 'Not signed in', `<p role="alert">${escaped(why)}</p><p><a href="../app">Home page</a></p>`);
