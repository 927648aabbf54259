import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { apiDescriptionFile } from '#infra/docs/generate.ts';
import { notServed as documented, unnamed } from '#infra/docs/not-served-operations.ts';
import { routes } from '#public-api/all-routes.ts';
import { acceptedDifferences, refused } from './accepted-differences.ts';
import { Description } from './description.ts';
import { undescribed } from './own-description.ts';
import type { Recorded } from './record.ts';
import { report, unanswered } from './report.ts';

/**
 * Compares every JSON response in the API tests and end-to-end tests with HCP Terraform's own description of the API,
 * and lists the differences. The description is not part of this project: it is beside the checkout, or at OPENAPI.
 * Compares them with this project's description, too.
 *
 *  `npm run conformance` runs the tests first; `-- recorded` checks the responses of the last run; other arguments go
 * to vitest as filters of test files. `-- coverage` only lists the operations that no route serves.
 */

const root = fileURLToPath(new URL('../..', import.meta.url));
const file = process.env.OPENAPI || `${root}../shared/spec/hcp-terraform-openapi.json`;
const recording = `${root}.build/conformance.jsonl`;
const words = process.argv.slice(2);
const filters = words.filter((word) => word !== 'recorded');

const collect = (): number => {
  mkdirSync(`${root}.build`, { recursive: true });
  rmSync(recording, { force: true });
  const tests = filters.length ? filters : ['test/api', 'test/e2e'];
  const { status } = spawnSync(
    process.execPath,
    [`${root}node_modules/vitest/vitest.mjs`, 'run', '--config', 'test/vitest.config.ts', ...tests],
    { cwd: root, stdio: 'inherit', env: { ...process.env, STEPFORM_RECORD: recording } },
  );
  return status ?? 1;
};

const recorded = (): Recorded[] =>
  readFileSync(recording, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Recorded);

/** The documentation must match the routes and the description. */
const compareWithTable = (missing: string[]): number => {
  const listed = new Set(documented.flatMap(({ operations }) => operations));
  const found = new Set(missing.map(unnamed));
  const unlisted = [...found].filter((operation) => !listed.has(operation));
  const outdated = [...listed].filter((operation) => !found.has(operation));
  if (unlisted.length) console.log(`Missing in infra/docs/not-served-operations.ts:\n${unlisted.join('\n')}\n`);
  if (outdated.length) console.log(`Wrong in infra/docs/not-served-operations.ts:\n${outdated.join('\n')}\n`);
  return unlisted.length + outdated.length > 0 ? 1 : 0;
};

const main = (): number => {
  if (!existsSync(file)) {
    console.log(`The vendor's description is not there (${file}), so there is nothing to hold answers against.`);
    return 0;
  }
  const description = new Description(file);
  const { operations, notServed } = description.coverage(routes);
  console.log(`${operations - notServed.length} of ${operations} operations are served. Not served:`);
  console.log(`${notServed.join('\n')}\n`);
  if (words.includes('coverage')) return compareWithTable(notServed);
  const failed = words.includes('recorded') ? 0 : collect();
  const answers = recorded();
  const ours = routes.filter(
    ({ method, path }) => path.startsWith('/api/v2/') && !refused.includes(`${method} ${path}`),
  );
  const findings = {
    findings: description.check(answers),
    unanswered: unanswered(ours, answers),
    whole: filters.length === 0 && failed === 0,
  };
  const { lines, ok } = report(findings, acceptedDifferences);
  console.log(lines.join('\n'));
  const own = undescribed(JSON.parse(readFileSync(`${root}${apiDescriptionFile}`, 'utf8')), answers);
  if (own.length) console.log(`Not as ${apiDescriptionFile} describes:\n${own.join('\n')}\n`);
  return failed || (ok && own.length === 0 ? 0 : 1);
};

process.exitCode = main();
