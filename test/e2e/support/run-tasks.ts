import { afterAll } from 'vitest';
import type { TaskPayload } from '#run/task-payload.ts';
import { startTaskServer, status, type TaskServer } from '#test/support/task-server.ts';
import { client, newName, organization, type Resource } from './world.ts';

/** Run tasks as external services: a server that receives requests and calls back. */

const servers: TaskServer[] = [];
export const closeServers = async (): Promise<void> => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
};
afterAll(closeServers);

/** Sends a callback; its response body is not read. */
export const callBack = async (
  { task_result_callback_url: url, access_token }: TaskPayload,
  attributes: { status: string; message?: string; url?: string },
  outcomes?: object[],
): Promise<number> => {
  const response = await fetch(url, {
    method: 'PATCH',
    headers: { authorization: `Bearer ${access_token}`, 'content-type': 'application/vnd.api+json' },
    body: JSON.stringify({
      data: { type: 'task-results', attributes, relationships: { outcomes: { data: outcomes ?? [] } } },
    }),
  });
  await response.arrayBuffer();
  return response.status;
};

/** Reaction of a task to a request, after the response 200. */
type Work = (payload: TaskPayload) => unknown;

export const passes: Work = (payload) => callBack(payload, { status: 'passed', message: 'nothing found' });
export const fails: Work = (payload) => callBack(payload, { status: 'failed', message: '2 of 6 failed' });
/** Sends no callback; the test may send one. */
export const isSilent: Work = () => {};

/** A server that is closed after the tests. */
export const startServer = async (): Promise<TaskServer> => {
  const server = await startTaskServer();
  servers.push(server);
  return server;
};

/** A server, and its run task in the organization. */
export const newTask = async (
  work: Work,
  attributes: Record<string, unknown> = {},
): Promise<{ server: TaskServer; task: Resource }> => {
  const server = await startServer();
  server.answer = async (request, response) => {
    status(200)(request, response);
    if (request.payload.access_token !== 'test-token') await work(request.payload);
  };
  const task = await client.create(`/organizations/${organization}/tasks`, 'tasks', {
    name: newName('task'),
    url: server.url,
    category: 'task',
    ...attributes,
  });
  return { server, task };
};

export const attach = (
  workspace: Resource,
  task: Resource,
  stages: string[],
  enforcementLevel: 'advisory' | 'mandatory' = 'mandatory',
): Promise<Resource> =>
  client.create(
    `/workspaces/${workspace.id}/tasks`,
    'workspace-tasks',
    { stages, 'enforcement-level': enforcementLevel },
    { task: { data: { type: 'tasks', id: task.id } } },
  );

/** Stages of the run with their results, as `stage: status (result statuses)`. */
export const stagesOf = async (run: Resource): Promise<string[]> => {
  const { data, included = [] } = await client.call<Resource[]>(
    'GET',
    `/runs/${run.id}/task-stages?include=task_results`,
  );
  return data.map(({ attributes, relationships }) => {
    const ids = ((relationships?.['task-results']?.data ?? []) as { id: string }[]).map(({ id }) => id);
    const results = ids.map((id) => included.find((one) => one.id === id)?.attributes.status);
    return `${attributes.stage}: ${attributes.status} (${results.join(', ')})`;
  });
};
