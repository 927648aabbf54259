import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { eventOf } from '#test/support/api.ts';
import { startRunnerApi } from '#test/support/runner-api.ts';

/** Where a runner finds its program if its image does not contain it. */

let runner: Awaited<ReturnType<typeof startRunnerApi>>;
let handler: (event: object) => Promise<{ statusCode: number; headers: Record<string, string> }>;
beforeAll(async () => {
  runner = await startRunnerApi();
  handler = (await import('#runner/api/handler.ts')).handler as never;
});
afterEach(() => {
  delete process.env.RUNNER_PROGRAM_BUCKET;
});
afterAll(() => runner.close());

const get = (path: string) => handler(eventOf('GET', `/runner/v1/${path}`));
const name = 'a'.repeat(64);

it('the URL of a runner program redirects to the bucket of assets', async () => {
  process.env.RUNNER_PROGRAM_BUCKET = 'assets';
  const { statusCode, headers } = await get(`program/${name}`);
  expect(statusCode).toBe(302);
  expect(new URL(headers.location ?? '').pathname).toBe(`/assets/${name}.stepform-runner`);
});

it('the URL of a runner program is 404 if the images contain it', async () => {
  expect((await get(`program/${name}`)).statusCode).toBe(404);
});

it.each([
  `program/${name}.zip`,
  'program/../states/x',
  `program/${name}/..%2f`,
  'program/',
  `program/${'A'.repeat(64)}`,
])('a URL without a valid program name does not redirect: %s', async (path) => {
  process.env.RUNNER_PROGRAM_BUCKET = 'assets';
  expect((await get(path)).statusCode).toBe(405);
});
