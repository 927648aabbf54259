import { gunzipSync } from 'node:zlib';
import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { packFiles } from '#clients/cli/archive.ts';
import { operate } from './operator.ts';
import { until } from './waiting.ts';
import { organization, platform } from './world.ts';

/** Templates and environments through their API, for tests that are not about the command line. */

// biome-ignore lint/suspicious/noExplicitAny: documents are looked into at any depth
type Open = any;

/** @throws {Error} for an error response */
export const environmentsApi = async (method: string, path: string, body?: unknown): Promise<Open> => {
  const isArchive = body instanceof Uint8Array;
  const answer = await fetch(`${platform.environmentsUrl}/api/v2${path}`, {
    method,
    headers: {
      'coder-session-token': platform.token,
      'content-type': isArchive ? 'application/x-tar' : 'application/json',
    },
    body: isArchive ? (body as RequestInit['body']) : body === undefined ? undefined : JSON.stringify(body),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
  return text ? JSON.parse(text) : undefined;
};

const maxWaitMs = 60_000;

/** Imports a version of the template, or a version without a template. */
export const pushVersion = async (files: Record<string, string>, name: string, templateId?: string): Promise<Open> => {
  const { hash } = await environmentsApi('POST', '/files', gunzipSync(await packFiles(files)));
  const { id } = await environmentsApi('POST', `/organizations/${organization}/templateversions`, {
    name,
    storage_method: 'file',
    file_id: hash,
    provisioner: 'terraform',
    ...(templateId ? { template_id: templateId } : {}),
  });
  const version = await until(
    () => environmentsApi('GET', `/templateversions/${id}`),
    ({ job }) => job.completed_at !== null,
    maxWaitMs,
  );
  if (version.job.status !== 'succeeded') throw new Error(`${name}: ${version.job.error}`);
  return version;
};

export const pushTemplate = async (name: string, files: Record<string, string>): Promise<Open> => {
  const version = await pushVersion(files, 'v1');
  return environmentsApi('POST', `/organizations/${organization}/templates`, { name, template_version_id: version.id });
};

/** Waits for the latest build to end. */
export const untilBuilt = (id: string): Promise<Open> =>
  until(
    async () => (await environmentsApi('GET', `/workspaces/${id}?include_deleted=true`)).latest_build,
    ({ job }) => job.completed_at !== null,
    maxWaitMs,
  );

export const createEnvironment = async (templateId: string, name: string, more: object = {}): Promise<Open> => {
  const made = await environmentsApi('POST', '/users/me/workspaces', { template_id: templateId, name, ...more });
  await untilBuilt(made.id);
  return made;
};

/**
 * Runs the platform's one-minute sweep now, which operators can invoke at any time. Does nothing if the tests only have
 * the API; they then wait for the next one.
 */
export const sweep = async (): Promise<void> => {
  const { awsEndpointUrl: endpoint } = platform;
  if (!endpoint) return;
  operate(platform);
  await new LambdaClient({ endpoint }).send(new InvokeCommand({ FunctionName: 'SweepFunction' }));
};
