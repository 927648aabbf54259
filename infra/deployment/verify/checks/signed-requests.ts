import { createHmac, randomBytes } from 'node:crypto';
import type { TaskPayload } from '#run/task-payload.ts';
import { type Check, expect, ok, skipped, until } from '../check.ts';
import type { Received } from '../listener.ts';
import type { Platform } from '../platform.ts';

/** @throws {Error} unless the header has the HMAC-SHA512 of the bytes received */
const checkSignature = ({ path, headers, body }: Received, name: string, key: string): void => {
  const expected = createHmac('sha512', key).update(body).digest('hex');
  expect(headers[name] === expected, `${path.split('/').at(-1)}: ${name} is missing or wrong`);
};

const pass = async ({ task_result_callback_url: url, access_token: token }: TaskPayload): Promise<void> => {
  const response = await fetch(url, {
    method: 'PATCH',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/vnd.api+json' },
    body: JSON.stringify({ data: { type: 'task-results', attributes: { status: 'passed', message: 'verified' } } }),
  });
  expect(response.ok, `the callback was answered with ${response.status}`);
};

const attach = async ({ client, organization }: Platform, url: string, workspace: string, key: string) => {
  const task = await client.create(`/organizations/${organization}/tasks`, 'tasks', {
    name: 'verify',
    url: `${url}/task`,
    category: 'task',
    'hmac-key': key,
  });
  await client.create(
    `/workspaces/${workspace}/tasks`,
    'workspace-tasks',
    { stages: ['post_plan'], 'enforcement-level': 'mandatory' },
    { task: { data: { type: 'tasks', id: task.id } } },
  );
  await client.create(`/workspaces/${workspace}/notification-configurations`, 'notification-configurations', {
    name: 'verify',
    'destination-type': 'generic',
    enabled: true,
    url: `${url}/notification`,
    token: key,
    triggers: ['run:completed'],
  });
};

export const signedRequests: Check = {
  name: 'signed requests',
  proves:
    'A run task and a notification arrive with a valid signature, and the callback of the task lets the run continue',
  documented: 'HMAC-SHA512 in `X-TFC-Task-Signature` and `X-TFE-Notification-Signature`',
  async perform(platform) {
    const { listener } = platform;
    if (!listener) return skipped('needs a public address of this machine: --listen URL --port N');
    const key = randomBytes(24).toString('hex');
    const workspace = await platform.newWorkspace('signed', { 'auto-apply': true });
    await attach(platform, listener.url, workspace.id, key);
    const { run } = await platform.start(workspace, { 'main.tf': 'resource "terraform_data" "a" {}\n' });
    const requestTo = async (path: string): Promise<Received> => {
      const find = async () => listener.received.find((one) => one.path.endsWith(path) && one.body.includes(run.id));
      return (await until(`a request to ${path}`, find, (one) => one !== undefined, 240)) as Received;
    };
    const task = await requestTo('/task');
    checkSignature(task, 'x-tfc-task-signature', key);
    await pass(JSON.parse(task.body.toString()) as TaskPayload);
    await platform.ended(run, 'applied');
    checkSignature(await requestTo('/notification'), 'x-tfe-notification-signature', key);
    return ok('run task, its callback, notification');
  },
};
