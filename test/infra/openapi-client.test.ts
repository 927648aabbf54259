import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { generateSource } from 'oazapfts';
import { afterAll, expect, it } from 'vitest';
import { apiDescriptionFile } from '#infra/docs/generate.ts';

/** A typed client that oazapfts generates from the API's description. */

const run = promisify(execFile);
const require = createRequire(import.meta.url);
mkdirSync('.build', { recursive: true });
// Below the checkout, where the client finds its runtime.
const folder = mkdtempSync('.build/openapi-client-');
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const compiler = join(dirname(require.resolve('typescript/package.json')), 'bin/tsc');
writeFileSync(join(folder, 'client.ts'), await generateSource(apiDescriptionFile));

/** @returns the compiler's errors */
const compile = async (program: string): Promise<string> => {
  writeFileSync(join(folder, 'program.ts'), `import * as api from './client.ts';\n${program}`);
  const options = ['--strict', '--noEmit', '--allowImportingTsExtensions', '--skipLibCheck', '--ignoreConfig'];
  const modules = ['--target', 'es2022', '--module', 'nodenext', '--types', 'node'];
  const files = [compiler, ...options, ...modules, join(folder, 'program.ts')];
  return run(process.execPath, files).then(
    () => '',
    ({ stdout }: { stdout: string }) => stdout,
  );
};

const program = `
api.defaults.baseUrl = 'http://localhost:8080';
const answer = await api.postOrganizationsOrganizationWorkspaces('acme', {
  data: { type: 'workspaces', attributes: { name: 'network', 'auto-apply': true } },
});
if (answer.status === 201) {
  const { id, attributes, relationships } = answer.data.data;
  const locked: boolean = attributes.locked;
  const project = relationships?.project?.data;
  const run = await api.postRuns({ data: { attributes: { message: 'typed' } } });
  console.log(locked, id.length, project && 'id' in project ? project.id : project, run.status);
} else if (answer.status === 422) console.log(answer.data.errors[0]?.source?.pointer);
const runs = await api.getWorkspacesWorkspaceRuns('ws-1', {}, {});
if (runs.status === 200) for (const { attributes } of runs.data.data) console.log(attributes.status);
const retention = await api.getWorkspacesWorkspaceRelationshipsDataRetentionPolicy('ws-1', {});
if (retention.status === 200 && retention.data.data.type === 'data-retention-policy-delete-olders')
  console.log(retention.data.data.attributes.deleteOlderThanNDays.toFixed());
const versions = await api.getAdminOpaVersions();
if (versions.status === 200) console.log(versions.data.data.map(({ attributes }) => attributes.version.split('.')));
`;

it('compiles, with types of bodies and of responses by status', { timeout: 240_000 }, async () => {
  expect(await compile(program)).toBe('');
});

it('does not compile with attributes and statuses that the API lacks', { timeout: 240_000 }, async () => {
  expect(await compile(program.replace('attributes.locked', 'attributes.lokced'))).toContain("'lokced' does not exist");
  expect(await compile(program.replace("'auto-apply': true", "'auto-apply': 'yes'"))).toContain('not assignable');
  expect(await compile(program.replace('answer.status === 201', 'answer.status === 299'))).toContain('no overlap');
});
