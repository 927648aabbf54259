import * as v from 'valibot';
import type { PullForge } from '../forge.ts';
import { allPages, repo } from '../github/forge.ts';
import { githubPulls } from '../github/pulls.ts';
import { isApproved } from '../reviews.ts';

/** Pull requests of Gitea and Forgejo. */

const pageSize = 50;
const maxPages = 20;

export const giteaPulls: PullForge = {
  ...githubPulls,
  isApproved: (call, identifier, one) => isApproved(call, identifier, one, pageSize),
  pullFiles: async (call, identifier, number) => {
    const path = `${repo(identifier)}/pulls/${number}/files`;
    const schema = v.array(v.object({ filename: v.string(), previous_filename: v.nullish(v.string()) }));
    const files = await allPages(
      async (page) => v.parse(schema, (await call({ method: 'GET', path, query: { limit: pageSize, page } })).body),
      pageSize,
      maxPages,
    );
    return files?.flatMap((one) => (one.previous_filename ? [one.filename, one.previous_filename] : [one.filename]));
  },
};
