import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { exit } from '#clients/cli/exit.ts';
import { inState, newName, newWorkspace, organization, platform } from '../support/world.ts';

/** The steps of the GitHub Action (action.yml), and of the examples for GitLab and Jenkins, as their CI runs them. */

const folder = mkdtempSync(join(tmpdir(), 'stepform-ci-'));
const bin = join(folder, 'bin');
mkdirSync(bin);
symlinkSync(resolve('functions/clients/cli/stepform.mjs'), join(bin, 'stepform'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const action = readFileSync('action.yml', 'utf8');
/** The commands of a step. */
const step = (name: string): string => {
  const [, block = ''] =
    new RegExp(`- name: ${name}\\n(?:        .*\\n|      .*\\n)*?      run: (.*)`).exec(action) ?? [];
  return block;
};

interface Ended {
  code: number;
  output: string;
}
const bash = (script: string, environment: Record<string, string>): Promise<Ended> =>
  new Promise((done) => {
    const env = { PATH: `${bin}:${dirname(process.execPath)}:${process.env.PATH}`, HOME: folder, ...environment };
    execFile('bash', ['-c', script], { cwd: folder, env }, (error, stdout, stderr) =>
      done({ code: error ? Number(error.code) : 0, output: stdout + stderr }),
    );
  });

const configuration = (name: string, text: string): string => {
  const path = join(folder, name);
  mkdirSync(path, { recursive: true });
  writeFileSync(join(path, 'main.tf'), text);
  return path;
};
const works = configuration('works', 'resource "terraform_data" "a" {\n  input = "```\\n# no heading"\n}\n');

const inWorkspace = (workspace: { attributes: { name: string } }) => ({
  TFE_ADDRESS: platform.url,
  TFE_TOKEN: platform.token,
  ORGANIZATION: organization,
  WORKSPACE: workspace.attributes.name,
  FOLDER: works,
});
const github = (event: string, ref: string) => ({
  GITHUB_ACTION_PATH: resolve('.'),
  GITHUB_EVENT_NAME: event,
  GITHUB_REF: ref,
  GITHUB_OUTPUT: join(folder, 'output'),
  RUNNER_TEMP: folder,
  DEFAULT_BRANCH: 'main',
});
const merged = 'refs/heads/main';
const proposed = 'refs/pull/7/merge';

describe('a run from CI', () => {
  it.each([
    ['a merge on GitHub', github('push', merged), true],
    ['a pull request on GitHub', github('pull_request', proposed), false],
  ])('of %s is applied only if it is on the default branch', async (_, ci, isApplied) => {
    const workspace = await newWorkspace();
    const { code, output } = await bash(`bash ${resolve('infra/ci/run.sh')}`, { ...inWorkspace(workspace), ...ci });
    expect([code, output]).toEqual([0, expect.stringMatching(isApplied ? /^### Apply/ : /^### Plan/)]);
    expect(await inState(workspace).catch(() => [])).toEqual(isApplied ? ['terraform_data.a'] : []);
  });

  it.each([
    ['a push to another branch on GitHub', github('push', 'refs/heads/topic'), 'Plan'],
    ['a comment on GitHub', github('issue_comment', merged), 'Plan'],
    ['a merge with APPLY=never', { ...github('push', merged), APPLY: 'never' }, 'Plan'],
    ['a merge on GitLab', { GITLAB_CI: 'true', CI_COMMIT_BRANCH: 'main', CI_DEFAULT_BRANCH: 'main' }, 'Apply'],
    ['a merge request on GitLab', { GITLAB_CI: 'true', CI_MERGE_REQUEST_IID: '7', CI_DEFAULT_BRANCH: 'main' }, 'Plan'],
    ['a merge on Jenkins', { BRANCH_IS_PRIMARY: 'true' }, 'Apply'],
    ['a pull request on Jenkins', { CHANGE_ID: '7' }, 'Plan'],
  ])('of %s that could not be started reports the kind that it would have been', async (_, ci, kind) => {
    const name = newName('missing');
    const environment = { ...inWorkspace({ attributes: { name } }), ...ci };
    const { code, output } = await bash(`bash ${resolve('infra/ci/run.sh')}`, environment);
    const report = `### ${kind} of ${name}\n\nThe run could not be started`;
    expect([code, output]).toEqual([exit.notFound, expect.stringContaining(report)]);
  });

  it.each([
    ['secrets with foreign code', github('pull_request_target', merged), /pull_request_target is refused/, 2],
    ['a pull request of a fork', { ...github('pull_request', proposed), TFE_TOKEN: '' }, /TFE_TOKEN is empty/, 3],
    ['a misspelled setting', { ...github('push', merged), APPLY: 'alway' }, /must be auto or never/, 2],
    ['a broken configuration', { ...github('push', merged), FOLDER: configuration('broken', 'x') }, /Errored/i, 10],
  ])('of %s fails', async (_, ci, reason, expected) => {
    const workspace = await newWorkspace();
    const { code, output } = await bash(`bash ${resolve('infra/ci/run.sh')}`, { ...inWorkspace(workspace), ...ci });
    expect([code, output]).toEqual([expected, expect.stringMatching(reason)]);
  });
});

describe('the GitHub Action', () => {
  it('comments on the pull request once, and updates the comment', async () => {
    const comments: { id: number; body: string; user: { type: string } }[] = [];
    const server = createServer(async (request, response) => {
      const body = Buffer.concat(await request.toArray()).toString();
      const sent = body ? { body: JSON.parse(body).body as string } : undefined;
      if (request.method === 'POST' && sent) comments.push({ id: comments.length + 1, user: { type: 'Bot' }, ...sent });
      if (request.method === 'PATCH') Object.assign(comments[Number(request.url?.split('/').at(-1)) - 1] ?? {}, sent);
      response.end(JSON.stringify(request.method === 'GET' ? comments : {}));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const event = join(folder, 'event.json');
    writeFileSync(event, JSON.stringify({ pull_request: { number: 7 } }));
    const workspace = await newWorkspace();
    // A user who knows the marker does not get the comment.
    const marker = `<!-- stepform ${workspace.attributes.name} -->`;
    comments.push({ id: 1, body: `${marker} mine`, user: { type: 'User' } });
    const environment = {
      ...inWorkspace(workspace),
      ...github('pull_request', proposed),
      GITHUB_API_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      GITHUB_EVENT_PATH: event,
      GITHUB_REPOSITORY: 'acme/network',
      GITHUB_TOKEN: 't',
    };
    for (let n = 0; n < 2; n++) {
      expect(await bash(step('Run'), environment)).toMatchObject({ code: 0 });
      const outputs = readFileSync(environment.GITHUB_OUTPUT, 'utf8');
      expect(outputs).toMatch(/^run-id=run-\w+\nstatus=planned_and_finished$/m);
      const [, SUMMARY = ''] = /^summary=(.*)$/m.exec(outputs) ?? [];
      expect(await bash(step('Comment'), { ...environment, SUMMARY })).toEqual({ code: 0, output: '' });
    }
    server.close();
    expect(comments).toHaveLength(2);
    expect(comments[0]?.body).toBe(`${marker} mine`);
    const { body = '' } = comments[1] ?? {};
    expect(body).toContain(
      `${marker}\n### Plan of ${workspace.attributes.name}\n\nPlanned and Finished: 1 to add, 0 to change, 0 to destroy [run-`,
    );
    // Output cannot leave its fence.
    expect(body).toMatch(/\n````\n[\s\S]*```[\s\S]*\n````\n/);
  });

  it('has a value for each input that its steps use', () => {
    const [, inputs = ''] = /^inputs:\n([\s\S]*?)^outputs:/m.exec(action) ?? [];
    const declared = [...inputs.matchAll(/^ {2}([\w-]+):/gm)].map(([, name]) => name);
    const used = [...action.matchAll(/inputs\.([\w-]+)/g)].map(([, name]) => name);
    expect([...new Set(used)].sort()).toEqual(declared.sort());
    // An expression inside a script would run what its value contains.
    expect(
      action.split('\n').filter((line) => /^ +(run:|bash|node|npm|command)/.test(line) && line.includes('${{')),
    ).toEqual([]);
  });
});
