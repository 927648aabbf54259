import * as v from 'valibot';
import type { Call, Page } from '../forges/forge.ts';
import { id, repository } from '../forges/github/schemas.ts';
import { theApp } from './app.ts';

/** Repositories that installations and their users can access (GitHub REST API: GitHub App installations). */

const listed = v.object({
  ...repository.entries,
  name: v.string(),
  private: v.nullish(v.boolean(), null),
});
const answer = v.object({ total_count: v.number(), repositories: v.array(listed) });

export type InstalledRepository = v.InferOutput<typeof listed>;

export const pageOfRepositories = async (
  call: Call,
  path: string,
  { page, size }: { page: number; size: number },
): Promise<{ total: number; items: InstalledRepository[] }> => {
  const { body } = await call({ method: 'GET', path, query: { per_page: size, page } });
  const { total_count: total, repositories: items } = v.parse(answer, body);
  return { total, items };
};

const size = 100;

/** Repositories of the installation, as in {@link Forge.repositories}. */
export const installedRepositories = async (
  call: Call,
  page: number,
): Promise<Page<{ identifier: string; defaultBranch: string | null }>> => {
  const { items } = await pageOfRepositories(call, '/installation/repositories', { page, size });
  return {
    items: items.map((one) => ({ identifier: one.full_name, defaultBranch: one.default_branch })),
    next: items.length === size ? page + 1 : null,
  };
};

/** Id of the account that writes the app's comments. */
export const botId = async (call: Call): Promise<string> => {
  const { body } = await call({ method: 'GET', path: `/users/${encodeURIComponent(`${theApp().slug}[bot]`)}` });
  return v.parse(v.object({ id }), body).id;
};
