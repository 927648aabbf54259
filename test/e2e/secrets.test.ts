import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { afterEach, beforeEach, expect, it, onTestFinished } from 'vitest';
import { packFiles } from '#clients/cli/archive.ts';
import { startTaskServer, type TaskServer } from '#test/support/task-server.ts';
import { PlatformProcess } from './support/platform.ts';
import { descendants } from './support/processes.ts';
import { runners } from './support/runners.ts';
import {
  attachPolicy,
  canaries,
  failing,
  organizationHas,
  printing,
  readAll,
  refusals,
  workspaceHas,
} from './support/secrets.ts';
import { Client, isFinalRun, type Resource, until } from './support/waiting.ts';

/**
 * Plants a secret in every input, runs everything, and searches for the secrets in all stored data and output of the
 * platform.
 */

let elsewhere: string;
let answers: string;
let platform: PlatformProcess;
let tasks: TaskServer;
let owner: Client;
// A second try has a platform of its own: the first leaves names that are taken.
beforeEach(async () => {
  elsewhere = mkdtempSync(join(tmpdir(), 'secrets-test-'));
  // Runs have their folders here, and Terraform may run as another user.
  chmodSync(elsewhere, 0o711);
  answers = join(elsewhere, 'answers.jsonl');
  [platform, tasks] = await Promise.all([
    PlatformProcess.start({ STEPFORM_RECORD: answers, TMPDIR: elsewhere }),
    startTaskServer(),
  ]);
  const { url, token } = platform.local;
  owner = new Client(url, token);
});
afterEach(async () => {
  await Promise.all([platform.remove(), tasks.close()]);
  rmSync(elsewhere, { recursive: true, force: true });
});

const commands = new Set<string>();
const watchProcesses = (platformPid: number) => {
  const timer = setInterval(() => {
    for (const { command } of descendants(platformPid)) commands.add(command);
  }, 200);
  const stop = () => clearInterval(timer);
  onTestFinished(stop);
  return stop;
};

it('secrets are stored only where Terraform needs them, and tokens nowhere', async () => {
  const { url, organization, pid } = platform.local;
  const stopWatching = watchProcesses(pid);
  const { data: me } = await owner.call('GET', '/account/details');
  const issued = await owner.create(`/users/${me.id}/authentication-tokens`, 'authentication-tokens', {
    description: 'x',
  });
  const token = String(issued.attributes.token);
  canaries.know('API token', token.slice('sfu_'.length));
  const client = new Client(url, token);

  const [{ task }, ...workspaces] = await Promise.all([
    organizationHas(client, organization, tasks),
    ...['applied', 'failed', 'canceled'].map((name) =>
      client.createWorkspace(organization, name, { 'auto-apply': true }),
    ),
  ]);
  const [applied, failed, canceled] = workspaces as [Resource, Resource, Resource];
  const attached = { stages: ['post_plan'], 'enforcement-level': 'mandatory' };
  const [set] = await Promise.all([
    attachPolicy(client, organization, applied),
    client.setVariable(applied.id, { key: 'TFC_WORKLOAD_IDENTITY_AUDIENCE', value: 'x', category: 'env' }),
    client.create(`/workspaces/${applied.id}/tasks`, 'workspace-tasks', attached, {
      task: { data: { type: 'tasks', id: task.id } },
    }),
    ...workspaces.map((workspace) => workspaceHas(client, workspace)),
  ]);
  const start = async (workspace: Resource, main: string) => {
    const version = await client.upload(workspace.id, await packFiles({ 'main.tf': main }));
    return client.createRun(workspace.id, {}, version.id);
  };
  const runs = await Promise.all([
    start(applied, printing('true')),
    start(failed, failing),
    start(canceled, printing('sleep 600')),
    refusals(client, applied, platform.local),
  ]);
  const [one, two, three] = runs as unknown as Resource[] as [Resource, Resource, Resource];
  await client.waitForRun(three.id, ({ attributes }) => attributes.status === 'applying');
  const running = await client.phase(three, 'apply');
  await until(
    async () => (await fetch(`${running.attributes['log-read-url']}?limit=65536&offset=0`)).text(),
    (log) => log.split('(sensitive value)').length > 7,
  );
  await client.act(three.id, 'cancel');
  const ended = await Promise.all([one, two, three].map(({ id }) => client.waitForRun(id, isFinalRun)));
  expect(ended.map(({ attributes }) => attributes.status)).toEqual(['applied', 'errored', 'canceled']);
  // A runner stores more after the run has ended, and removes its folder when it exits.
  await until(
    async () => runners(platform.dataDir),
    (left) => left.length === 0,
  );
  await readAll(client, organization, ended, set);
  stopWatching();

  const leaks = [...foundIn('a command line', [...commands].join('\n'))];
  expect([...commands].some((command) => command.includes('terraform apply'))).toBe(true);
  for (const { path, bytes } of tasks.requests) leaks.push(...foundIn(`a request to the task (${path})`, bytes));
  expect(tasks.requests.length).toBeGreaterThan(1);
  leaks.push(...foundInAnswers());
  const table = await canaries.inTable(platform.local);
  leaks.push(...table.found.map(({ secret, place }) => `${secret}: the table, ${place}`));
  expect(table.items).toBeGreaterThan(100);
  const finds = [
    ...canaries.inDataFolder(platform.dataDir),
    ...canaries.inFolder(elsewhere).map(({ secret, place }) => ({ secret, place: relative(elsewhere, place) })),
  ];
  const lineOf = ({ secret, place }: (typeof finds)[number]) => `${secret}: ${place}`;
  const isAllowed = (line: string) => mayBe.some((places) => places.test(line));
  const atRest = finds.map(lineOf);
  // The database's file has the objects that may contain a secret, also in pages that are free again.
  const inObjects = new Set(finds.filter((find) => isAllowed(lineOf(find))).map(({ secret }) => secret));
  const isObject = ({ secret, place }: (typeof finds)[number]) =>
    /^data\.sqlite(-wal)?$/.test(place) && inObjects.has(secret);
  leaks.push(...finds.filter((find) => !isObject(find) && !isAllowed(lineOf(find))).map(lineOf));
  expect(leaks).toEqual([]);
  // The search finds the expected secrets.
  for (const places of mayBe) expect(atRest.filter((line) => places.test(line)).length).toBeGreaterThan(0);
});

/** Places that contain secrets by design. */
const mayBe = [
  // Terraform's own files contain its inputs. On AWS these objects are encrypted with the stack's key.
  /^((HCL )?variable( of a set)?|phrase|lines|sensitive value of the configuration): s3\/.*\/runs\/[^/]+\/plan\/plan(-json)?(?![\w-])/,
  /^((HCL )?variable( of a set)?|phrase|lines|sensitive value of the configuration): s3\/.*\/states\//,
  /^sensitive value of the configuration: s3\/.*\/configurations\//,
  // Uploads before they are copied; on AWS they expire after a week.
  /^((HCL )?variable( of a set)?|phrase|lines|sensitive value of the configuration): s3\/.*\/uploads\/sv-\w+\.json$/,
  /^sensitive value of the configuration: s3\/.*\/uploads\/cv-\w+\.tar\.gz$/,
  // Output of `npm start` for its owner.
  /^a token of the platform: (local\.json|terraform\.rc|output\.txt)$/,
];

const foundIn = (place: string, content: string | Buffer): string[] =>
  canaries.in(Buffer.from(content)).map((secret) => `${secret}: ${place}`);

/** Secrets in API responses, except in the one response that shows a token. */
const foundInAnswers = (): string[] => {
  const lines = readFileSync(answers, 'utf8').trim().split('\n');
  rmSync(answers);
  expect(lines.length).toBeGreaterThan(50);
  return lines.flatMap((line) => {
    const { method, url } = JSON.parse(line) as { method: string; url: string };
    return method === 'POST' && url.endsWith('/authentication-tokens') ? [] : foundIn(`${method} ${url}`, line);
  });
};
